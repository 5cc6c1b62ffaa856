"""Serving a model from the command line."""

import contextlib
import os
import threading
from argparse import ArgumentParser, Namespace

from examples.loopback_model.server import Job, ModelServer


def make_parser(module: str, description: str | None) -> ArgumentParser:
    """The options that every model has."""
    parser = ArgumentParser(prog=f"python -m {module}", description=description)
    parser.add_argument("--port", type=int, default=0, help="0 takes any free port")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds between two events")
    parser.add_argument("--until-stdin-closes", action="store_true", help="end with the starter")
    return parser


def serve(options: Namespace, job: Job | None = None) -> None:
    """Print the base URL; serve until interrupted, or until standard input closes if asked."""
    with ModelServer(options.port, job=job, delay_seconds=options.delay) as server:
        print(server.base_url, flush=True)
        if options.until_stdin_closes:
            threading.Thread(target=_end_with_stdin, args=(server,), daemon=True).start()
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever(poll_interval=0.05)


def _end_with_stdin(server: ModelServer) -> None:
    while os.read(0, 1024):  # sys.stdin would hold a lock that the interpreter's end waits for
        pass
    server.shutdown()
