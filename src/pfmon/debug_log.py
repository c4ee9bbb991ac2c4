"""The log of PFMON_DEBUG: how pfmon runs a program. PFMON_DEBUG=1 writes it to standard error, PFMON_DEBUG=FILE appends
it to a file."""

from __future__ import annotations

import os
import time

VARIABLE = "PFMON_DEBUG"
"""The environment variable; empty or 0: no log."""
ENABLED = os.environ.get(VARIABLE, "") not in ("", "0")

if ENABLED:
    import logging

    _handler: logging.Handler
    try:
        _handler = logging.StreamHandler() if os.environ[VARIABLE] == "1" else logging.FileHandler(os.environ[VARIABLE])
    except OSError as error:  # the log is left out, and the run goes on
        _handler = logging.StreamHandler()
        _handler.handle(
            logging.makeLogRecord({"msg": f"{VARIABLE}={os.environ[VARIABLE]}: {error.strerror}", "name": "pfmon"})
        )
    # lines that the log's file does not take are left out, and the run goes on
    _handler.handleError = lambda record: None  # type: ignore[method-assign]
    _handler.setFormatter(logging.Formatter("%(name)s: %(relativeCreated).0f ms: %(message)s"))
    _logger = logging.getLogger("pfmon")
    _logger.addHandler(_handler)
    _logger.setLevel(logging.DEBUG)
    _logger.propagate = False


def log(part: str, text: str, *values: object) -> None:
    """Log a line of a part of pfmon (logger pfmon.PART): ``text`` is a format of logging, for ``values``. Callers ask
    ENABLED first where the values cost something."""
    if ENABLED:
        _logger.getChild(part).debug(text, *values)


class _Clock:
    """Processor time of this process at the end of the last phase, in seconds."""

    spent = 0.0


def log_phase(name: str) -> None:
    """Log the processor time of a phase that ends now: since the end of the one before, or the start of the process."""
    if ENABLED:
        now = time.process_time()
        log("time", "%s: %.3f s of processor time", name, now - _Clock.spent)
        _Clock.spent = now
