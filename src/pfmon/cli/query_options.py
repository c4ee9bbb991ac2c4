"""Options of actions that need no program: list events, explain them, check that they can be counted together."""

from __future__ import annotations

from pfmon.cli.command_config import CommandConfig
from pfmon.cli.option_parsing import Option, ParsedOption

TOPIC = "information"
TITLE = "Information"
OPTIONS = [
    Option("show-events", "list the events whose names match REGEX", "REGEX", "l", optional=True),
    Option("long-show-events", "list them with codes and counters", "REGEX", "L", optional=True),
    Option("event-info", "explain an event, given by name, code or regular expression", "EVENT", "i"),
    Option("pmu-info", "describe the PMU", short="I"),
    Option("check-events-only", "check that the events of -e can be counted together, and stop"),
    Option("decode", "explain register values: --decode 'pmc8=0x... pmd4=...'", "REGISTER=VALUE ..."),
    Option("help", "print the usage; TOPIC: the options of a topic", "TOPIC", "h", optional=True),
    Option("help-all", "print all options; those of other processors with --pmu"),
    Option("completion", "print code with which bash, zsh or fish completes pfmon's command lines", "SHELL"),
    Option("man-page", "print the manual page: pfmon --man-page | man -l -"),
    Option("version", "print the version", short="V"),
]
ACTIONS = {
    "show-events": "list",
    "long-show-events": "list-long",
    "event-info": "info",
    "pmu-info": "pmu-info",
    "check-events-only": "check",
    "decode": "decode",
    "help": "help",
    "help-all": "help-all",
    "completion": "completion",
    "man-page": "man-page",
    "version": "version",
}


def apply(config: CommandConfig, given: ParsedOption) -> None:
    """Take one option's value."""
    config.action = ACTIONS[given.name]
    config.subject = given.value or ""
