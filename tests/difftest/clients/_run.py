"""What the scripts in this folder have in common. They run in an environment of their own.

A script reads its work from standard input: `url` of a server that records requests and replays
answers, `scenarios` to send and names of `answers` to read. It prints the answers as JSON.
"""

import json
import os
import sys

KEY = "sk-test"
SESSION = "session-1"
COMMON = {"name", "turns", "system", "tools", "max_tokens", "effort", "model", "output"}


def run(send, read, options, aborted):
    """Do the work.

    `send(scenario, url)` posts one scenario and `read(url)` gives one answer in our form; `options`
    names what `send` understands, and `aborted` is what the client raises when the server says no.
    """
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        del os.environ[name]
    work = json.load(sys.stdin)
    for scenario in work["scenarios"]:
        if unknown := scenario.keys() - options:
            raise SystemExit(f"{scenario['name']}: this script does not know {sorted(unknown)}")
        try:
            send(scenario, f"{work['url']}/{scenario['name']}")
        except aborted:
            continue  # the server has the request and refuses to answer
        raise SystemExit(f"{scenario['name']}: the server has answered")
    answers = {}
    for name in work["answers"]:
        try:
            answers[name] = read(f"{work['url']}/{name}")
        except Exception as error:  # whatever a client raises is its answer
            answers[name] = None
            print(f"{name}: {type(error).__name__}: {error}"[:300], file=sys.stderr)
    json.dump(answers, sys.stdout)


def parts(turn, kind):
    """The parts of one kind."""
    return [part for part in turn["parts"] if part["kind"] == kind]


def data_url(picture):
    """A picture as a URL."""
    return f"data:{picture['type']};base64,{picture['data']}"


def form(schema):
    """The form of an answer for OpenAI's servers, with the client's own way to a strict schema."""
    from openai.lib._pydantic import _ensure_strict_json_schema  # what `parse` does with a type

    return {
        "name": schema.get("title", "answer"),
        "schema": _ensure_strict_json_schema(schema, path=(), root=schema),
        "strict": True,
    }


def known(text):
    """Arguments as JSON, or as they are if they are no JSON."""
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text


def answer(text="", thinking="", calls=(), stop=None, model=None, usage=None):
    """An answer in our form; `calls` are names with arguments, `usage` is input and output."""
    called = [{"name": name, "arguments": arguments} for name, arguments in calls]
    figures = {"input": usage[0], "output": usage[1]} if usage else None
    return {
        "text": text,
        "thinking": thinking,
        "calls": called,
        "stop": stop or "",
        "model": model or "",
        "usage": figures,
    }
