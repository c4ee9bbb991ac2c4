"""The value of --timeline: code of whose block the pipeline is shown, and iterations."""

from __future__ import annotations

import re
from typing import NamedTuple

from pfmon.errors import BadValueError
from pfmon.library.options import python_values
from pfmon.library.options.option_values import whole_number

MAX_ITERATIONS = 64
"""The most iterations that are shown."""
USUAL_ITERATIONS = 4
NUMBER = re.compile(r"[-+]?\d\w*")
"""Matches what is meant to be a number behind the last comma; names of templates end otherwise."""
MAX_ADDRESS = (1 << 64) - 1


class TimelinePlace(NamedTuple):
    """``text``: the place as given, "": all code; ``name``: of a function, a source line or a symbol with an offset, or
    ""; ``address``: of an instruction, None: a name is given."""

    text: str
    name: str
    address: int | None
    iterations: int


def timeline_place(name: str, text: str | None) -> TimelinePlace:
    """Parse PLACE, PLACE,N or ,N; None and "": the block with most cycles of all."""
    given = text or ""
    place, comma, number = given.rpartition(",")
    if not comma or not NUMBER.fullmatch(number.strip()):
        place, number = given, str(USUAL_ITERATIONS)
    iterations = whole_number(name, number.strip(), 1, MAX_ITERATIONS, given)
    place = place.strip()
    try:
        address = int(place, 0)
    except ValueError:
        return TimelinePlace(place, place, None, iterations)
    if not 0 <= address <= MAX_ADDRESS:
        raise BadValueError(f"--{name}={given}: an address such as 0x401136 is wanted, or a name").about(f"--{name}")
    return TimelinePlace(place, "", address, iterations)


def python_timeline(name: str, value: object) -> TimelinePlace | None:
    """Return the place given as in the command line, as an address, or as True: all code; False: none."""
    if value is True or value is False:
        return timeline_place(name, None) if value else None
    if isinstance(value, int):
        return timeline_place(name, hex(value)) if 0 <= value <= MAX_ADDRESS else _refused(name, value)
    return timeline_place(name, python_values.text(name, value))


def _refused(name: str, value: object) -> TimelinePlace:
    raise python_values.bad(name, value, "a name, an address, or True")
