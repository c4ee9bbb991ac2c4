"""A local worker process of a sweep: reads an order (JSON) per line, and writes an answer per line."""

from __future__ import annotations

import json
import os
import signal
import sys


def main() -> None:
    """Execute orders until there are no more. Output of programs and libraries is kept out of the answers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C, and its exit ends this process
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    from pfmon.library.sweep.sweep_cell import execute_order

    try:
        for line in sys.stdin:
            answers.write(json.dumps(execute_order(json.loads(line))) + "\n")
            answers.flush()
    except BrokenPipeError:
        os._exit(0)  # the parent has exited


if __name__ == "__main__":
    main()
