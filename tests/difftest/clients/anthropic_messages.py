"""Anthropic's client."""

import json

from _run import COMMON, KEY, answer, run
from anthropic import Anthropic, APIStatusError, transform_schema

MARKS = {"short": {"type": "ephemeral"}, "long": {"type": "ephemeral", "ttl": "1h"}}


def client(url):
    return Anthropic(api_key=KEY, base_url=url, max_retries=0)


def send(scenario, url):
    messages = [MESSAGES[turn["role"]](turn) for turn in scenario["turns"]]
    more = {"messages": messages}
    if "system" in scenario:
        more["system"] = [{"type": "text", "text": scenario["system"]}]
    if "tools" in scenario:
        more["tools"] = [
            {
                "name": tool["name"],
                "description": tool["description"],
                "input_schema": tool["schema"],
            }
            for tool in scenario["tools"]
        ]
    if "cache" in scenario:
        for last in (more["tools"][-1], more["system"][-1], messages[-1]["content"][-1]):
            last["cache_control"] = MARKS[scenario["cache"]]
    if "budget" in scenario:
        more["thinking"] = {"type": "enabled", "budget_tokens": scenario["budget"]}
    elif "effort" in scenario:
        more["thinking"] = {"type": "adaptive"}
        more["output_config"] = {"effort": scenario["effort"]}
    if "tier" in scenario:
        more["service_tier"] = scenario["tier"]
    if "output" in scenario:
        form = {"type": "json_schema", "schema": transform_schema(scenario["output"])}
        more["output_config"] = {**more.get("output_config", {}), "format": form}
    if "must_call" in scenario:
        more["tool_choice"] = {"type": "any"}
    if "stop" in scenario:
        more["stop_sequences"] = scenario["stop"]
    with client(url).messages.stream(
        model=scenario.get("model", "claude-opus-5"),
        max_tokens=scenario.get("max_tokens", 32000),
        **more,
    ):
        pass


def user(turn):
    return {"role": "user", "content": [block(part) for part in turn["parts"]]}


def assistant(turn):
    return {"role": "assistant", "content": [block(part) for part in turn["parts"]]}


def block(part):
    if part["kind"] == "text":
        return {"type": "text", "text": part["text"]}
    if part["kind"] == "thought":
        return {"type": "thinking", "thinking": part["text"], "signature": part["proof"]}
    if part["kind"] == "picture":
        source = {"type": "base64", "media_type": part["type"], "data": part["data"]}
        return {"type": "image", "source": source}
    arguments = json.loads(part["arguments"])
    return {"type": "tool_use", "id": part["id"], "name": part["name"], "input": arguments}


def results(turn):
    return {"role": "user", "content": [result_block(result) for result in turn["results"]]}


def result_block(result):
    content = result["text"]
    if "picture" in result:
        content = [{"type": "text", "text": content}, block(result["picture"])]
    made = {"type": "tool_result", "tool_use_id": result["id"], "content": content}
    return {**made, "is_error": True} if "error" in result else made


MESSAGES = {"user": user, "assistant": assistant, "results": results}


def read(url):
    with client(url).messages.stream(
        model="m", max_tokens=1, messages=[{"role": "user", "content": "hi"}]
    ) as stream:
        whole = stream.get_final_message()
    usage = whole.usage
    cached = (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
    return answer(
        text="".join(part.text for part in whole.content if part.type == "text"),
        thinking="".join(part.thinking for part in whole.content if part.type == "thinking"),
        calls=[(part.name, part.input) for part in whole.content if part.type == "tool_use"],
        stop=whole.stop_reason,
        model=whole.model,
        usage=(usage.input_tokens + cached, usage.output_tokens),
    )


run(send, read, COMMON | {"cache", "budget", "stop", "must_call", "tier"}, APIStatusError)
