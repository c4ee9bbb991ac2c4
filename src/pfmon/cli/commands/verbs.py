"""perf's verbs: `pfmon stat`, `record`, `report` and `annotate` are pfmon's own options in other words.

Each verb takes all options of pfmon, some by the letters that perf(1) has for them, and options of perf that change
nothing here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from pfmon.cli.commands.subcommand import Option, help_text
from pfmon.cli.option_parsing import ParsedOption, Syntax, parse
from pfmon.cli.output.printing import print_notice, show
from pfmon.errors import PfmonError
from pfmon.library.options.table import OPTIONS

FILE = "pfmon.data"
"""The recording of record, report and annotate without the name of one."""
BEFORE = ".old"
"""The suffix of the recording that had the name before."""
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


def run_verb(words: Sequence[str], do: Do) -> int:
    """Do what a verb and the words behind it say; the exit status. PfmonError: a mistake among its own options."""
    verb = VERBS[words[0]]
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


def _stat(given: Given, options: list[str], command: list[str], do: Do) -> int:
    separator = given.get("field-separator", ",")
    if separator != ",":
        raise PfmonError(f"-x {separator}: the table of counts is separated by commas: -x , or --csv")
    if "field-separator" in given:
        options = [*options, "--csv"]
    if "big-num" in given:
        options = [*options, "--us-counter-format"]
    return do([*options, "--", *command])


def _record(given: Given, options: list[str], command: list[str], do: Do) -> int:
    name = given.get("output", FILE)
    if not command:
        raise PfmonError(f"no program given; {VERBS['record'].usage}")
    path, before = Path(name), Path(f"{name}{BEFORE}.{os.getpid()}")
    with suppress(OSError):  # there is none, or links are not to be had
        before.hardlink_to(path.resolve())
    known = _identity(path)
    try:
        status = do([f"--record={name}", *options, "--", *command])
        recorded = _identity(path) not in (None, known)
        if recorded:
            with suppress(OSError):
                before.replace(f"{name}{BEFORE}")
            print_notice(f"{name}: the run, {path.stat().st_size} bytes; pfmon report{_of(name)} shows it")
        return status
    finally:
        before.unlink(missing_ok=True)


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from another one of its name; None: there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def _of(path: str) -> str:
    return "" if path == FILE else f" -i {path}"


def _report(given: Given, options: list[str], command: list[str], do: Do) -> int:
    what = []
    if "html" in given:
        what = [f"--report=html:{given['html']}"]
    elif not any(option.startswith("--report") for option in options):
        what = ["--per-function"] if _events(options) else ["--report=cpi"]
    if command:
        return do([*what, *options, "--", *command])
    return do([f"--replay={_recording(given)}", *what, *options])


def _annotate(given: Given, options: list[str], command: list[str], do: Do) -> int:
    named = [*command, *([given["symbol"]] if "symbol" in given else [])]
    if len(named) > 1:
        raise PfmonError(f"one function is wanted, and {len(named)} given; {VERBS['annotate'].usage}")
    path = _recording(given)
    function = named[0] if named else _largest_function(path)
    events = [] if _events(options) else ["--events=cycles"]
    return do([f"--replay={path}", *events, f"--annotate={function}", *options])


def _events(options: Sequence[str]) -> bool:
    return any(map(_names_events, options))


def _recording(given: Given) -> str:
    path = given.get("input", FILE)
    if not Path(path).exists():
        raise PfmonError(f"{path}: no such file; pfmon record{' -o ' + path if path != FILE else ''} PROGRAM makes it")
    return path


def _largest_function(path: str) -> str:
    """Return the function with most cycles, as --annotate takes it."""
    from pfmon.library.run_api import replay

    report = replay(path, report="cpi").cpi
    named = [row for row in report.functions if row.address] if report else []
    if not named:
        raise PfmonError(f"{path}: no function is known; pfmon annotate FUNCTION")
    row = named[0]
    return f"{Path(row.object).name}:{row.name}" if row.object else row.name


VERBS = {
    "stat": Verb(
        "usage: pfmon stat [OPTION]... [--] PROGRAM [ARGUMENT]...",
        """Counts a program's events, as pfmon without a verb does: cycles, instructions, branches and misses, or those
of -e.""",
        {"events": "e", "repeat": "r", "outfile": "o", "json": "j", "print-interval": "I", "verbose": "v"},
        [
            Option("field-separator", "print comma-separated values: -x ,", "SEPARATOR", "x"),
            Option("big-num", "print counts as 1,024", short="B"),
            Option("detailed", WITHOUT_EFFECT, short="d"),
            HELP,
        ],
        _stat,
    ),
    "record": Verb(
        "usage: pfmon record [OPTION]... [--] PROGRAM [ARGUMENT]...",
        f"""Records a run, instruction by instruction, in {FILE}; a recording that was there becomes {FILE}{BEFORE}.
report, annotate and diff read it, and --replay counts any event of it, on any machine. For perf's own tools:
pfmon --export perf-data:perf.data PROGRAM.""",
        {"events": "e"},
        [
            Option("output", f"the recording ({FILE})", "FILE", "o"),
            Option("call-graph", WITHOUT_EFFECT, "MODE"),
            Option("calls", WITHOUT_EFFECT, short="g"),
            Option("freq", WITHOUT_EFFECT, "FREQUENCY", "F"),
            Option("count", WITHOUT_EFFECT, "PERIOD", "c"),
            HELP,
        ],
        _record,
    ),
    "report": Verb(
        "usage: pfmon report [OPTION]... [PROGRAM [ARGUMENT]...]",
        """Says where the cycles of a recording went, or of a program that it runs: by cause and by function; with -e,
which functions the events happened in.""",
        {"events": "e"},
        [
            INPUT,
            Option("html", "write a page instead", "FILE"),
            STDIO,
            Option("calls", WITHOUT_EFFECT, short="g"),
            Option("no-children", WITHOUT_EFFECT),
            Option("sort", WITHOUT_EFFECT, "KEY,...", "s"),
            HELP,
        ],
        _report,
    ),
    "annotate": Verb(
        "usage: pfmon annotate [OPTION]... [FUNCTION]",
        """Lists the instructions of a function of a recording with their cycles, or the events of -e; without FUNCTION,
of the function with most cycles.""",
        {"events": "e"},
        [INPUT, Option("symbol", "the function, as FUNCTION", "FUNCTION", "s"), STDIO, HELP],
        _annotate,
        runs_program=False,
    ),
}
"""By the first word of a command line."""
