"""OpenAI's client, Responses API."""

from _run import COMMON, KEY, SESSION, answer, data_url, form, known, run
from openai import APIStatusError, OpenAI


def client(url):
    return OpenAI(api_key=KEY, base_url=f"{url}/v1", max_retries=0)


def send(scenario, url):
    items = []
    for turn in scenario["turns"]:
        items += ITEMS[turn["role"]](turn)
    more = {}
    if "system" in scenario:
        more["instructions"] = scenario["system"]
    if "max_tokens" in scenario:
        more["max_output_tokens"] = scenario["max_tokens"]
    if "effort" in scenario:
        more["reasoning"] = {"effort": scenario["effort"]}
    if "cache" in scenario:
        more["prompt_cache_key"] = SESSION
    if scenario.get("cache") == "long":
        more["prompt_cache_retention"] = "24h"
    if "tier" in scenario:
        more["service_tier"] = scenario["tier"]
    if "output" in scenario:
        more["text"] = {"format": {"type": "json_schema", **form(scenario["output"])}}
    if "must_call" in scenario:
        more["tool_choice"] = "required"
    if "tools" in scenario:
        more["tools"] = [
            {
                "type": "function",
                "name": tool["name"],
                "description": tool["description"],
                "parameters": tool["schema"],
                "strict": False,
            }
            for tool in scenario["tools"]
        ]
    client(url).responses.create(
        model=scenario.get("model", "gpt-5"),
        input=items,
        stream=True,
        store=False,
        include=["reasoning.encrypted_content"],
        **more,
    )


def user(turn):
    return [{"role": "user", "content": [content(part) for part in turn["parts"]]}]


def content(part):
    if part["kind"] == "picture":
        return {"type": "input_image", "image_url": data_url(part), "detail": "auto"}
    return {"type": "input_text", "text": part["text"]}


def assistant(turn):
    return [item(part) for part in turn["parts"]]


def item(part):
    if part["kind"] == "text":
        said = {"type": "output_text", "text": part["text"]}
        return {"role": "assistant", "content": [said]}
    if part["kind"] == "thought":
        return {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": part["text"]}],
            "encrypted_content": part["proof"],
        }
    return {
        "type": "function_call",
        "call_id": part["id"],
        "name": part["name"],
        "arguments": part["arguments"],
    }


def results(turn):
    return [
        {"type": "function_call_output", "call_id": result["id"], "output": output(result)}
        for result in turn["results"]
    ]


def output(result):
    if "picture" not in result:
        return result["text"]
    return [{"type": "input_text", "text": result["text"]}, content(result["picture"])]


ITEMS = {"user": user, "assistant": assistant, "results": results}


def read(url):
    with client(url).responses.stream(model="m", input="hi") as stream:
        whole = stream.get_final_response()
    texts, thoughts, calls = [], [], []
    for made in whole.output:
        if made.type == "message":
            texts += [getattr(part, "text", None) or part.refusal for part in made.content]
        elif made.type == "reasoning":
            shown = made.content or made.summary
            thoughts.append(("" if made.content else "\n\n").join(part.text for part in shown))
        elif made.type == "function_call":
            calls.append((made.name, known(made.arguments)))
    reason = whole.incomplete_details and whole.incomplete_details.reason
    return answer(
        text="".join(texts),
        thinking="".join(thoughts),
        calls=calls,
        stop=reason or whole.status,
        model=whole.model,
        usage=whole.usage and (whole.usage.input_tokens, whole.usage.output_tokens),
    )


run(send, read, COMMON | {"cache", "must_call", "tier"}, APIStatusError)
