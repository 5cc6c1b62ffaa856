"""Google's client."""

import base64
import json

from _run import COMMON, KEY, answer, run
from google import genai
from google.genai import errors, types


def client(url):
    return genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=url))


def send(scenario, url):
    more = {}
    if "system" in scenario:
        more["system_instruction"] = scenario["system"]
    if "max_tokens" in scenario:
        more["max_output_tokens"] = scenario["max_tokens"]
    if "effort" in scenario:
        more["thinking_config"] = types.ThinkingConfig(thinking_level=scenario["effort"])
    if "stop" in scenario:
        more["stop_sequences"] = scenario["stop"]
    if "tier" in scenario:
        more["service_tier"] = scenario["tier"]
    if "output" in scenario:
        more["response_mime_type"] = "application/json"
        more["response_json_schema"] = scenario["output"]
    if "must_call" in scenario:
        mode = types.FunctionCallingConfig(mode="ANY")
        more["tool_config"] = types.ToolConfig(function_calling_config=mode)
    if "tools" in scenario:
        declarations = [
            types.FunctionDeclaration(
                name=tool["name"],
                description=tool["description"],
                parameters_json_schema=tool["schema"],
            )
            for tool in scenario["tools"]
        ]
        more["tools"] = [types.Tool(function_declarations=declarations)]
    google = client(url)  # it closes when nobody holds it
    for _ in google.models.generate_content_stream(
        model=scenario.get("model", "gemini-3-pro"),
        contents=[
            content for turn in scenario["turns"] for content in CONTENTS[turn["role"]](turn)
        ],
        config=types.GenerateContentConfig(
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True), **more
        ),
    ):
        pass


def user(turn):
    return [types.Content(role="user", parts=[part_of(part) for part in turn["parts"]])]


def part_of(part):
    if part["kind"] in ("picture", "sound"):
        data = base64.b64decode(part["data"])
        return types.Part.from_bytes(data=data, mime_type=part["type"])
    return types.Part.from_text(text=part["text"])


def assistant(turn):
    """The proof of a thought stands at the part that it led to."""
    parts, proof = [], None
    for part in turn["parts"]:
        if part["kind"] == "thought":
            parts.append(types.Part(text=part["text"], thought=True))
            proof = part["proof"].encode()
            continue
        if part["kind"] == "text":
            made = types.Part(text=part["text"])
        else:
            arguments = json.loads(part["arguments"])
            function = types.FunctionCall(id=part["id"], name=part["name"], args=arguments)
            made = types.Part(function_call=function)
        made.thought_signature, proof = proof, None
        parts.append(made)
    return [types.Content(role="model", parts=parts)]


def results(turn):
    parts = [
        types.Part(
            function_response=types.FunctionResponse(
                id=result["id"],
                name=result["name"],
                response={"error" if "error" in result else "output": result["text"]},
            )
        )
        for result in turn["results"]
    ]
    seen = [part_of(result["picture"]) for result in turn["results"] if "picture" in result]
    more = [types.Content(role="user", parts=seen)] if seen else []
    return [types.Content(role="user", parts=parts), *more]


CONTENTS = {"user": user, "assistant": assistant, "results": results}


def read(url):
    texts, thoughts, calls, stop, model, usage = [], [], [], None, None, None
    google = client(url)
    for chunk in google.models.generate_content_stream(model="m", contents="hi"):
        model = chunk.model_version or model
        usage = chunk.usage_metadata or usage
        for candidate in (chunk.candidates or [])[:1]:
            stop = candidate.finish_reason or stop
            for part in (candidate.content and candidate.content.parts) or []:
                if part.text:
                    (thoughts if part.thought else texts).append(part.text)
                if part.function_call:
                    calls.append((part.function_call.name, part.function_call.args or {}))
    figures = usage and (
        usage.prompt_token_count or 0,
        (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0),
    )
    return answer("".join(texts), "".join(thoughts), calls, stop and stop.value, model, figures)


run(send, read, COMMON | {"stop", "must_call", "tier"}, errors.ClientError)
