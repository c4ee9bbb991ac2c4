"""What perf's verbs have in common: `pfmon stat`, `record`, `report` and `annotate` are pfmon's own options in other
words.

Each verb takes all options of pfmon, some by the letters that perf(1) has for them, and options of perf that change
nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from pfmon.cli.commands.subcommand import Option, help_text
from pfmon.cli.first_words import VERBS
from pfmon.cli.option_parsing import ParsedOption, Syntax, parse
from pfmon.cli.output.printing import show
from pfmon.errors import PfmonError
from pfmon.library.options.table import OPTIONS

FILE = "pfmon.data"
"""The recording of record, report and annotate without the name of one."""
Do = Callable[[Sequence[str]], int]
"""Does what pfmon's own words say; the exit status."""
Given = Mapping[str, str]
"""The values of a verb's own options that are given, by name."""

WITHOUT_EFFECT = "accepted as perf has it; it changes nothing here"
INPUT = Option("input", f"the recording ({FILE})", "FILE", "i")
STDIO = Option("stdio", WITHOUT_EFFECT)
HELP = Option("help", "show this help", short="h")
ONE_PROCESSOR = "programs run on one modelled processor here: leave it out"
NOT_HERE = {
    "all-cpus": ("a", "", ONE_PROCESSOR),
    "cpu": ("C", "CPU", ONE_PROCESSOR),
    "pid": ("p", "PID", "a process that runs already is on the host's processor: run its program, pfmon PROGRAM"),
    "tid": ("t", "TID", "a thread that runs already is on the host's processor: run its program, pfmon PROGRAM"),
}
"""Options of perf that are refused: letter, value, reason."""


class Verb(NamedTuple):
    """``letters``: pfmon's options that have a letter of perf's here; ``own``: the verb's further options; ``run``:
    does it, given these, the words of pfmon's options, and the program with its arguments; ``runs_program``: there may
    be one, whose options are its own."""

    usage: str
    introduction: str
    letters: Mapping[str, str]
    own: Sequence[Option]
    run: Callable[[Given, list[str], list[str], Do], int]
    runs_program: bool = True

    @property
    def options(self) -> list[Syntax]:
        """All options: the verb's own ones, then pfmon's."""
        own = {option.long for option in self.own}
        refused = [Option(name, "", value, letter) for name, (letter, value, _) in NOT_HERE.items()]
        taken = {option.short for option in (*self.own, *refused)} | set(self.letters.values())
        others = [option for option in OPTIONS.values() if option.long not in (*own, *NOT_HERE)]
        return [
            *self.own,
            *refused,
            *(
                option._replace(short=self.letters.get(option.long, "" if option.short in taken else option.short))
                for option in others
            ),
        ]


def verb_of(word: str) -> Verb:
    """Return the verb that is called so."""
    found: Verb = import_module(VERBS[word]).VERB
    return found


def run_verb(words: Sequence[str], do: Do) -> int:
    """Do what a verb and the words behind it say; the exit status. PfmonError: a mistake among its own options."""
    verb = verb_of(words[0])
    parsed, command = _parsed(verb, words[1:])
    own = {option.long for option in verb.own}
    given = {one.name: one.value or "" for one in parsed if one.name in own}
    for one in parsed:
        if one.name in NOT_HERE:
            raise PfmonError(f"{one.typed}: {NOT_HERE[one.name][2]}")
    if "help" in given:
        show(_help(verb))
        return 0
    options = _together([_word(one) for one in parsed if one.name not in own])
    return verb.run(given, options, command, do)


def _parsed(verb: Verb, words: Sequence[str]) -> tuple[list[ParsedOption], list[str]]:
    """Return the options and the other words, which options may follow where they are no program's."""
    found, others = parse(verb.options, words)
    if verb.runs_program:
        return found, others
    names = others[:1]
    while len(others) > 1:
        more, others = parse(verb.options, others[1:])
        found += more
        names += others[:1]
    return found, names


NOT_TOGETHER = ("--switch-timeout", "--long-smpl-periods", "--short-smpl-periods", "--unlimited")
"""Options with which the events of several -e, or more than there are counters, are as without a verb."""


def _together(options: list[str]) -> list[str]:
    """Return the options with all events in one -e, which may be more than there are counters, as with perf; its
    groups, {EVENT,...}, need no braces."""
    events = [option.partition("=")[2] for option in options if _names_events(option)]
    if not events or any(option.partition("=")[0] in NOT_TOGETHER for option in options):
        return options
    others = [option for option in options if not _names_events(option)]
    names = ",".join(events).translate(str.maketrans("", "", "{}"))
    return [f"--events={names}", "--unlimited", *others]


def _names_events(option: str) -> bool:
    return option.startswith("--events=")


def _word(one: ParsedOption) -> str:
    return f"--{one.name}" if one.value is None else f"--{one.name}={one.value}"


def _help(verb: Verb) -> str:
    own = [
        Option(name, OPTIONS[name].help, OPTIONS[name].value, letter, OPTIONS[name].optional)
        for name, letter in verb.letters.items()
    ]
    return f"{help_text(verb.usage, verb.introduction, [*own, *verb.own])}\npfmon --help-all lists all other options.\n"


def with_events(options: Sequence[str]) -> bool:
    """Return whether some of the options name events."""
    return any(map(_names_events, options))


def recording(given: Given) -> str:
    """Return the recording of -i. PfmonError: there is none."""
    path = given.get("input", FILE)
    if not Path(path).exists():
        raise PfmonError(f"{path}: no such file; pfmon record{' -o ' + path if path != FILE else ''} PROGRAM makes it")
    return path
