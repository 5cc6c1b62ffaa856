"""Ollama's client."""

import json

import ollama
from _run import COMMON, KEY, answer, parts, run

WINDOW = 32768


def client(url):
    return ollama.Client(host=url, headers={"Authorization": f"Bearer {KEY}"})


def send(scenario, url):
    messages = []
    if "system" in scenario:
        messages.append({"role": "system", "content": scenario["system"]})
    for turn in scenario["turns"]:
        messages += MESSAGES[turn["role"]](turn)
    options = {"num_ctx": WINDOW}
    if "max_tokens" in scenario:
        options["num_predict"] = scenario["max_tokens"]
    if "temperature" in scenario:
        options["temperature"] = scenario["temperature"]
    if "stop" in scenario:
        options["stop"] = scenario["stop"]
    more = {}
    if "output" in scenario:
        more["format"] = scenario["output"]
    if "effort" in scenario:
        more["think"] = scenario["effort"]
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
    for _ in client(url).chat(
        model=scenario.get("model", "qwen3"),
        messages=messages,
        options=options,
        stream=True,
        **more,
    ):
        pass


def user(turn):
    message = {"role": "user", "content": "\n\n".join(p["text"] for p in parts(turn, "text"))}
    if pictures := parts(turn, "picture"):
        message["images"] = [part["data"] for part in pictures]
    return [message]


def assistant(turn):
    message = {"role": "assistant", "content": "".join(p["text"] for p in parts(turn, "text"))}
    if thoughts := parts(turn, "thought"):
        message["thinking"] = "".join(part["text"] for part in thoughts)
    if calls := parts(turn, "call"):
        message["tool_calls"] = [
            {"function": {"name": part["name"], "arguments": json.loads(part["arguments"])}}
            for part in calls
        ]
    return [message]


def results(turn):
    messages = [
        {"role": "tool", "content": result["text"], "tool_name": result["name"]}
        for result in turn["results"]
    ]
    seen = [result["picture"] for result in turn["results"] if "picture" in result]
    return [*messages, *(user({"parts": seen}) if seen else [])]


MESSAGES = {"user": user, "assistant": assistant, "results": results}


def read(url):
    texts, thoughts, calls, last = [], [], [], None
    for last in client(url).chat(model="m", messages=[], stream=True):
        texts.append(last.message.content or "")
        thoughts.append(last.message.thinking or "")
        made = [call.function for call in last.message.tool_calls or ()]
        calls += [(function.name, dict(function.arguments)) for function in made]
    usage = (last.prompt_eval_count or 0, last.eval_count or 0)
    return answer("".join(texts), "".join(thoughts), calls, last.done_reason, last.model, usage)


run(send, read, COMMON | {"temperature", "stop"}, ollama.ResponseError)
