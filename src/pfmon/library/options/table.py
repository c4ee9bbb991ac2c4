"""All options, by topic in the order of the help."""

from __future__ import annotations

from copy import copy
from functools import cache

from pfmon.library.options import (
    event_rows,
    output_rows,
    place_rows,
    program_rows,
    query_rows,
    sampling_rows,
    session_rows,
    system_rows,
)
from pfmon.library.options.option import CONTAINERS, Option

ROWS = (event_rows, place_rows, session_rows, sampling_rows, output_rows, program_rows, system_rows, query_rows)
TOPICS = tuple(topic for rows in ROWS for topic in rows.TOPICS)
OPTIONS = {option.long: option for topic in TOPICS for option in topic.options}
"""By name on the command line."""


@cache
def rows(part: str) -> tuple[Option, ...]:
    """Return the rows of options that have their fields in one part: of the run, of an event set, or of the output."""
    return tuple(one for topic in TOPICS for one in (*topic.options, *topic.keywords) if one.part == part)


def defaults(part: str) -> dict[str, object]:
    """Return the values of all fields of a part without any option."""
    return {name: copy(value) if isinstance(value, CONTAINERS) else value for name, value in _usual(part).items()}


@cache
def _usual(part: str) -> dict[str, object]:
    return {one.attribute: one.usual for one in rows(part)}


def keywords() -> dict[str, Option]:
    """Return the options of the library by keyword."""
    everything = [option for topic in TOPICS for option in (*topic.options, *topic.keywords)]
    return {option.keyword_name: option for option in everything if option.keyword}
