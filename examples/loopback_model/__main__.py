"""Serve the model: `python -m examples.loopback_model --port 0` prints its base URL first."""

import argparse
import contextlib
import os
import threading

from examples.loopback_model.server import ModelServer


def main() -> None:
    """Serve until interrupted, or until standard input closes if that is asked for."""
    parser = argparse.ArgumentParser(prog="python -m examples.loopback_model", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes any free port")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds between two events")
    parser.add_argument("--until-stdin-closes", action="store_true", help="end with the starter")
    options = parser.parse_args()
    with ModelServer(options.port, delay_seconds=options.delay) as server:
        print(server.base_url, flush=True)
        if options.until_stdin_closes:
            threading.Thread(target=_end_with_stdin, args=(server,), daemon=True).start()
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever(poll_interval=0.05)


def _end_with_stdin(server: ModelServer) -> None:
    while os.read(0, 1024):  # sys.stdin would hold a lock that the interpreter's end waits for
        pass
    server.shutdown()


if __name__ == "__main__":
    main()
