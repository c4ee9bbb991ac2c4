"""A worker of a sweep on this machine, a process of its own: a line is an order (JSON), and so is each answer."""

from __future__ import annotations

import json
import os
import signal
import sys


def main() -> None:
    """Until there are no more orders. What programs and libraries print does not come between answers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who gives the orders, and ends this by its end
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    from pfmon.library.sweep.cell import obey

    try:
        for line in sys.stdin:
            answers.write(json.dumps(obey(json.loads(line))) + "\n")
            answers.flush()
    except BrokenPipeError:
        os._exit(0)  # nobody listens any more


if __name__ == "__main__":
    main()
