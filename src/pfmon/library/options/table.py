"""All options, by topic in the order of the help."""

from __future__ import annotations

from pfmon.library.options import event_rows, output_rows, place_rows, program_rows, query_rows, sample_rows
from pfmon.library.options.option import Option

ROWS = (event_rows, place_rows, sample_rows, output_rows, program_rows, query_rows)
TOPICS = tuple(topic for rows in ROWS for topic in rows.TOPICS)
OPTIONS = {option.long: option for topic in TOPICS for option in topic.options}
"""By name on the command line."""


def keywords() -> dict[str, Option]:
    """Return the options of the library by keyword."""
    rows = [option for topic in TOPICS for option in (*topic.options, *topic.keywords)]
    return {option.keyword_name: option for option in rows if option.keyword}
