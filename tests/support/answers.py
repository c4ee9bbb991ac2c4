"""What the command answers without a process of its own: for the many questions that run no program."""

import io
import re
from contextlib import redirect_stderr, redirect_stdout

from pfmon.__main__ import main

LISTED = re.compile(r"(pfmon: \d+ of \d+ events of \w+ are counted \(.*\); -i EVENT says why another one is not\n)?")
"""What a list of all events says beside it."""


def answer(*words: str) -> str:
    """The standard output of a command that succeeds and says nothing else, but for LISTED."""
    status, out, err = said(*words)
    assert status == 0 and LISTED.fullmatch(err), (status, err)
    return out


def declined(*words: str) -> str:
    """The one line that a mistake gets: exit status 2, nothing on standard output."""
    status, out, err = said(*words)
    assert (status, out) == (2, ""), (status, out, err)
    assert err.startswith("pfmon: ") and err.count("\n") == 1 and err.endswith("\n"), err
    return err


def said(*words: str) -> tuple[int, str, str]:
    """Exit status, standard output, standard error."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main(list(words))
    return status, out.getvalue(), err.getvalue()
