"""Options that count the children, threads and executed programs of a program."""

from __future__ import annotations

from pfmon.cli.command_config import CommandConfig
from pfmon.cli.option_parsing import Option, ParsedOption
from pfmon.library.option_values import whole_number
from pfmon.library.run_options import MAX_PROCESSES

TOPIC = "children"
TITLE = "Children, threads, and programs that the program executes"
OPTIONS = [
    Option("follow-fork", "count the program's children and theirs"),
    Option("follow-vfork", "the same as --follow-fork"),
    Option("follow-exec", "count programs that are executed; REGEX: if their path matches", "REGEX", optional=True),
    Option("follow-exec-exclude", "do not count those whose path matches", "REGEX"),
    Option("follow-exclude", "the same as --follow-exec-exclude", "REGEX"),
    Option("follow-pthread", "no effect: threads are always counted, together by process (see --per-thread)"),
    Option("per-thread", "count each thread of an IA-64 program by itself, too"),
    Option("follow-all", "count all of these"),
    Option("follow-limit", "end the run when there are more processes at a time than this (250)", "NUMBER"),
    Option("detach-children", "let what a program under qemu has started, and is not counted, go on behind its end"),
    Option("aggregate-results", "print what all come to, and not what each does"),
]


def apply(config: CommandConfig, given: ParsedOption) -> None:
    """Take one option's value."""
    from pfmon.library.follow_request import pattern

    match given.name:
        case "follow-fork" | "follow-vfork":
            config.follow_fork = True
        case "follow-pthread":
            config.follow_pthread = True
        case "per-thread":
            config.per_thread = True
        case "follow-all":
            config.follow_fork = config.follow_exec = config.follow_pthread = True
        case "follow-exec":
            config.follow_exec = True
            config.follow_exec_only = pattern(given.name, given.value or "")
        case "follow-exec-exclude" | "follow-exclude":
            config.follow_exec_exclude = pattern(given.name, given.value or "")
        case "follow-limit":
            config.follow_limit = whole_number(given.name, given.value or "", 1, MAX_PROCESSES)
        case "detach-children":
            config.detach_children = True
        case _:
            config.aggregate_results = True
