"""All options, by topic in the order of the help."""

from __future__ import annotations

from pfmon.library.options import ask, count, guest, output, sample, where
from pfmon.library.options.option import Option

TOPICS = (*count.TOPICS, *where.TOPICS, *sample.TOPICS, *output.TOPICS, *guest.TOPICS, *ask.TOPICS)
OPTIONS = {option.long: option for topic in TOPICS for option in topic.options}
"""By name on the command line."""


def keywords() -> dict[str, Option]:
    """Return the options of the library by keyword."""
    rows = [option for topic in TOPICS for option in (*topic.options, *topic.keywords)]
    return {option.keyword_name: option for option in rows if option.keyword}
