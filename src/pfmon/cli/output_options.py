"""Options for the destination and format of counts."""

from __future__ import annotations

from pfmon.cli.command_config import CommandConfig
from pfmon.cli.option_parsing import Option, ParsedOption

TOPIC = "output"
TITLE = "Output"
OPTIONS = [
    Option("us-counter-format", "print counts as 1,024"),
    Option("eu-counter-format", "print counts as 1.024"),
    Option("hex-counter-format", "print counts in hexadecimal"),
    Option("outfile", "write the results to FILE instead of standard output (-); %p, %n: see --help output", "FILE"),
    Option("append", "add to --outfile's file instead of replacing it"),
    Option("with-header", "print the command, the machine and each counter's event before the counts"),
    Option("show-time", "print the host's time that the run took"),
    Option("no-cmd-output", "discard the program's standard output and error"),
    Option("json", "print the results as one JSON object"),
    Option("verbose", "print the programming of the PMU", short="v"),
]
STYLES = {"us-counter-format": "us", "eu-counter-format": "eu", "hex-counter-format": "hex"}
FLAGS = {
    "append": "append",
    "with-header": "with_header",
    "show-time": "show_time",
    "no-cmd-output": "no_cmd_output",
    "json": "json",
    "verbose": "verbose",
}


def apply(config: CommandConfig, given: ParsedOption) -> None:
    """Take one option's value."""
    if given.name in STYLES:
        config.number_style = STYLES[given.name]
    elif given.name == "outfile":
        config.outfile = given.value or ""
    else:
        setattr(config, FLAGS[given.name], True)
