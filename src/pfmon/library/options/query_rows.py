"""Options of actions that need no program: list events, explain them, check that they can be counted together."""

from __future__ import annotations

from typing import Any

from pfmon.library.options.kinds import as_given, of_command
from pfmon.library.options.option import Kind, Option, Topic, of_output


def action(name: str) -> Kind:
    """An option that asks for an action, about its value."""

    def keep(_: Option, __: Any, output: Any, subject: str) -> None:
        output.action, output.subject = name, subject

    return of_command(as_given, keep)


ACTIONS = [
    Option(
        "show-events",
        "list the events whose names match REGEX; of a program's PMU: -l PROGRAM",
        action("list"),
        "REGEX",
        "l",
        optional=True,
    ),
    Option(
        "long-show-events",
        "list them with codes and counters",
        action("list-long"),
        "REGEX",
        "L",
        optional=True,
    ),
    Option(
        "event-info",
        "explain an event, given by name, code or regular expression; of a program's PMU: -i EVENT PROGRAM",
        action("info"),
        "EVENT",
        "i",
    ),
    Option(
        "pmu-info", "describe the PMU and the machine; those of a program: -I PROGRAM", action("pmu-info"), short="I"
    ),
    Option("check-events-only", "check that the events of -e can be counted together, and stop", action("check")),
    Option(
        "decode",
        "explain register values: --decode 'pmc8=0x... pmd4=...'",
        action("decode"),
        "REGISTER=VALUE ...",
    ),
    Option(
        "help",
        "print the usage; TOPIC: the options of a topic; a program instead: examples for it",
        action("help"),
        "TOPIC",
        "h",
        optional=True,
    ),
    Option("help-all", "print all options; those of other processors with --pmu", action("help-all")),
    Option(
        "completion",
        "print code with which bash, zsh or fish completes pfmon's command lines",
        action("completion"),
        "SHELL",
    ),
    Option("man-page", "print the manual page: pfmon --man-page | man -l -", action("man-page")),
    Option("cflags", "print the compiler's option that finds pfmon.h: cc $(pfmon --cflags) FILE.c", action("cflags")),
    Option("include-dir", "print the folder with the marks of regions for C, C++, Rust and Go", action("include-dir")),
    Option("version", "print the version", action("version"), short="V"),
]
TOPIC = Topic("information", "Information", of_output(*(option._replace(field="action") for option in ACTIONS)))
TOPICS = (TOPIC,)
