"""OpenAI's client, chat completions."""

from _run import COMMON, KEY, SESSION, answer, data_url, form, known, parts, run
from openai import APIStatusError, OpenAI


def client(url):
    return OpenAI(api_key=KEY, base_url=f"{url}/v1", max_retries=0)


def send(scenario, url):
    messages = []
    if "system" in scenario:
        messages.append({"role": "developer", "content": scenario["system"]})
    for turn in scenario["turns"]:
        messages += MESSAGES[turn["role"]](turn)
    more = {}
    if "max_tokens" in scenario:
        more["max_completion_tokens"] = scenario["max_tokens"]
    if "temperature" in scenario:
        more["temperature"] = scenario["temperature"]
    if "effort" in scenario:
        more["reasoning_effort"] = scenario["effort"]
    if "stop" in scenario:
        more["stop"] = scenario["stop"]
    if "tier" in scenario:
        more["service_tier"] = scenario["tier"]
    if "output" in scenario:
        more["response_format"] = {"type": "json_schema", "json_schema": form(scenario["output"])}
    if "must_call" in scenario:
        more["tool_choice"] = "required"
    if "tools" in scenario:
        more["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool["name"],
                    "description": tool["description"],
                    "parameters": tool["schema"],
                },
            }
            for tool in scenario["tools"]
        ]
    client(url).chat.completions.create(
        model=scenario.get("model", "gpt-5"),
        messages=messages,
        stream=True,
        stream_options={"include_usage": True},
        store=False,
        prompt_cache_key=SESSION,
        **more,
    )


def user(turn):
    content = [block(part) for part in turn["parts"]]
    if len(content) == 1 and content[0]["type"] == "text":
        content = content[0]["text"]
    return [{"role": "user", "content": content}]


def block(part):
    if part["kind"] == "picture":
        return {"type": "image_url", "image_url": {"url": data_url(part)}}
    if part["kind"] == "sound":
        heard = {"data": part["data"], "format": part["type"].removeprefix("audio/")}
        return {"type": "input_audio", "input_audio": heard}
    return {"type": "text", "text": part["text"]}


def assistant(turn):
    message = {"role": "assistant"}
    if texts := parts(turn, "text"):
        message["content"] = "".join(part["text"] for part in texts)
    if thoughts := parts(turn, "thought"):  # a member that only compatible servers know
        message["reasoning_content"] = "".join(part["text"] for part in thoughts)
    if calls := parts(turn, "call"):
        message["tool_calls"] = [
            {
                "id": part["id"],
                "type": "function",
                "function": {"name": part["name"], "arguments": part["arguments"]},
            }
            for part in calls
        ]
    return [message]


def results(turn):
    messages = [
        {"role": "tool", "tool_call_id": result["id"], "content": result["text"]}
        for result in turn["results"]
    ]
    seen = [result["picture"] for result in turn["results"] if "picture" in result]
    return [*messages, *(user({"parts": seen}) if seen else [])]


MESSAGES = {"user": user, "assistant": assistant, "results": results}


def read(url):
    with client(url).chat.completions.stream(
        model="m", messages=[{"role": "user", "content": "hi"}]
    ) as stream:
        whole = stream.get_final_completion()
    message = whole.choices[0].message
    return answer(
        text=(message.content or "") + (message.refusal or ""),
        thinking=getattr(message, "reasoning_content", None)
        or getattr(message, "reasoning", None)
        or "",
        calls=[(c.function.name, known(c.function.arguments)) for c in message.tool_calls or ()],
        stop=whole.choices[0].finish_reason,
        model=whole.model,
        usage=whole.usage and (whole.usage.prompt_tokens, whole.usage.completion_tokens),
    )


run(send, read, COMMON | {"temperature", "stop", "must_call", "tier"}, APIStatusError)
