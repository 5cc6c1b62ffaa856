"""The loopback model is a process of its own that never outlives its starter."""

import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from examples.loopback_model import loopback_model

ROOT = Path(__file__).parents[2]


def test_the_first_line_of_its_output_is_the_base_url() -> None:
    command = [sys.executable, "-m", "examples.loopback_model", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        base_url = process.stdout.readline().strip()
        process.terminate()

    assert base_url.startswith("http://127.0.0.1:")
    assert base_url.endswith("/v1")


def test_it_is_gone_after_its_context() -> None:
    with loopback_model() as base_url:
        pass

    with pytest.raises(urllib.error.URLError, match="refused"):
        urllib.request.urlopen(f"{base_url}/models")


def test_it_ends_when_its_starter_is_killed() -> None:
    script = (
        "from examples.loopback_model import loopback_model\n"
        "with loopback_model() as base_url:\n"
        "    print(base_url, flush=True)\n"
        "    input()\n"
    )
    starter = [sys.executable, "-c", script]
    pipe = subprocess.PIPE
    with subprocess.Popen(starter, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b"http://127.0.0.1:")
        process.kill()
        # The model shares its starter's standard error, so this ends only when both have ended.
        assert process.stderr.read() == b""
