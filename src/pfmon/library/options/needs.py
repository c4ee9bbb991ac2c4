"""The needs of options: other options, or a property of the run. Rows of the table name them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from pfmon.errors import PfmonError
from pfmon.library.options.option import Option
from pfmon.library.options.table import OPTIONS


class Need(NamedTuple):
    """``message``: what is wrong with an option, {}, where it is not met; ``others``: options that would meet it."""

    message: str
    others: Sequence[str] = ()


NEEDS = {
    "samples": Need(
        "{} applies to samples: give --long-smpl-periods=PERIOD,... too",
        ["--long-smpl-periods"],
    ),
    "samples of the set": Need(
        "{} applies to samples: give --long-smpl-periods=PERIOD,... too, for the same event set (-e)",
        ["--long-smpl-periods", "--events"],
    ),
    "a code range": Need("{} applies to a code range: give --irange too", ["--irange"]),
    "events": Need("{}: there is nothing to count: give -e EVENT,... too", ["--events"]),
    "event sets": Need("{} applies to several event sets: give -e more than once", ["--events"]),
    "a program": Need("{} says how a program runs, and with --replay it has run already", ["--replay"]),
    "a recording": Need("{} applies to recordings: give --replay=FILE too", ["--replay"]),
    "a system": Need("{} is about a whole system: give --system=IMAGE too", ["--system"]),
    "a baseline": Need("{} applies to a comparison: give --baseline=FILE too", ["--baseline"]),
    "a page": Need("{} shows a page: give --report=html:FILE too", ["--report"]),
    "children": Need(
        "{} applies to children and executed programs: give --follow-all, or --follow-fork or -exec",
        ["--follow-all", "--follow-fork"],
    ),
    "two programs": Need(
        '{} applies to two programs on one core: give --smt "PROGRAM ARGUMENT..." too',
        ["--smt"],
    ),
}


def given(need: str, options: Any) -> list[str]:
    """Return the given options that have a need; ``options``: those of the run, of an event set, or of the output."""
    return [f"--{one.long}" for one in _in_need(need, options.part) if one.is_given(options)]


@cache
def _in_need(need: str, part: str) -> tuple[Option, ...]:
    return tuple(one for one in OPTIONS.values() if need in one.needs and one.part == part)


def refuse_unmet(need: str, options: Any) -> None:
    """Raise PfmonError for a given option whose need is not met."""
    for option in given(need, options):
        raise PfmonError(NEEDS[need].message.replace("{}", option)).about(option, *NEEDS[need].others)
