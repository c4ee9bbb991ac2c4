"""The options as an argparse parser, for tools that need one. option_parsing.py parses command lines, as getopt
does."""

from __future__ import annotations

from argparse import REMAINDER, Action, ArgumentParser
from collections.abc import Callable

from pfmon.library.options.table import TOPICS


def argument_parser(tell: Callable[[str, Action], None] = lambda name, action: None) -> ArgumentParser:
    """Return a parser with every option, by topic; ``tell`` is called with the name and action of each option, of
    "program" and of "argument"."""
    parser = ArgumentParser("pfmon", add_help=False)
    for topic in TOPICS:
        group = parser.add_argument_group(topic.title)
        for option in topic.options:
            names = [f"-{option.short}"] * bool(option.short) + [f"--{option.long}"]
            text = option.help.replace("%", "%%")
            if option.value:
                values = "?" if option.optional else None
                action = group.add_argument(*names, help=text, metavar=option.value, nargs=values, action="append")
            else:
                action = group.add_argument(*names, help=text, action="store_true")
            tell(option.long, action)
    tell("program", parser.add_argument("program", nargs="?"))
    tell("argument", parser.add_argument("argument", nargs=REMAINDER))
    return parser
