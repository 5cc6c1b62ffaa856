"""Stands in for `python` in the agent's shell: knocks at the gate, then becomes Python.

Usage: knock.py PORT [PYTHON ARGUMENTS]
"""

import contextlib
import os
import socket
import sys


def main() -> None:
    """Say which shell session this run belongs to, wait to be let in, run Python."""
    port, *arguments = sys.argv[1:]
    with contextlib.suppress(ConnectionError):  # no gate any more: nobody wants to know
        gate = socket.create_connection(("127.0.0.1", int(port)))
        gate.sendall(b"%d\n" % os.getsid(0))
        gate.recv(1)
        # Left open across exec: it closes, and the gate knows, when the run itself has ended.
        gate.set_inheritable(True)
        gate.detach()
    os.execv(sys.executable, [sys.executable, *arguments])


if __name__ == "__main__":
    main()
