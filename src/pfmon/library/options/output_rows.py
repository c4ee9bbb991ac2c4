"""Options that say where results go and how they look: output, progress, baselines, recordings."""

from __future__ import annotations

from typing import Any

from pfmon.errors import BadValueError
from pfmon.library.options.kinds import FILE, FLAG, TEXT, flag, number, of_command
from pfmon.library.options.option import Option, Topic, of_output, one_of

MAX_REPEATS = 1000
PROGRESS = {True: "progress", False: "no-progress"}


def _percentages(name: str, text: str) -> str:
    if not text:
        raise BadValueError(f"--{name}: a percentage is wanted").about(f"--{name}")
    return text


def _further(option: Option, _: Any, owner: Any, text: str) -> None:
    before = getattr(owner, option.attribute)
    setattr(owner, option.attribute, f"{before},{text}" if before else text)


OUTPUT = Topic(
    "output",
    "Output",
    of_output(
        Option("us-counter-format", "print counts as 1,024", flag("us"), default="plain", field="number_style"),
        Option("eu-counter-format", "print counts as 1.024", flag("eu"), default="plain", field="number_style"),
        Option("hex-counter-format", "print counts in hexadecimal", flag("hex"), default="plain", field="number_style"),
        Option(
            "outfile",
            "write the results to FILE instead of standard output (-); %p, %n: see --help output",
            TEXT,
            "FILE",
            writes=True,
        ),
        Option("append", "add to --outfile's file instead of replacing it", FLAG),
        Option("with-header", "print the command, the machine and each counter's event before the counts", FLAG),
        Option("show-time", "print the host's time that the run took", FLAG),
        Option("no-cmd-output", "discard the program's standard output and error", FLAG),
        Option("json", "print the results as one JSON object; the program's output goes to standard error then", FLAG),
        Option(
            "csv",
            "print the counts as comma-separated values; the program's output goes to standard error then",
            FLAG,
        ),
        Option(
            "repeat",
            "run the program N times: means of the counts, and how far the runs differ",
            number(1, MAX_REPEATS, default=1),
            "N",
            short="r",
        ),
        Option("verbose", "print the programming of the PMU", FLAG, short="v", hp=("debug",)),
    ),
)
WHILE_IT_RUNS = Topic(
    "progress",
    "While it runs",
    of_output(
        Option(
            PROGRESS[True],
            "show instructions, speed, counts and memory while it runs (on a terminal, after a second)",
            flag(True, one_of(PROGRESS), default=None),
            field="progress",
        ),
        Option(PROGRESS[False], "do not", flag(False, one_of(PROGRESS), default=None), field="progress"),
        Option("live", "show counts, and counts by function, while it runs", FLAG),
    ),
)
BASELINES = Topic(
    "baselines",
    "Comparing with an earlier run",
    of_output(
        Option("save-baseline", "keep the counts in a file, if the program succeeds", FILE, "FILE", writes=True),
        Option("baseline", "compare the counts with those in a file; exit status 3 if one grew", FILE, "FILE"),
        Option(
            "tolerance",
            "increase that is accepted: 1% (the default), LLC_MISSES=5%",
            of_command(_percentages, _further),
            "[EVENT=]PERCENT,...",
            needs=("a baseline",),
        ),
    ),
)
RECORDINGS = Topic(
    "recordings",
    "Recordings",
    [
        Option("record", "record the run in a file", FILE, "FILE", needs=("a program",), alone=True, writes=True),
        Option("replay", "count a recorded run: any event, on any machine, under any qualification", FILE, "FILE"),
        Option(
            "partial",
            "with --replay: count a damaged recording as far as it is whole",
            FLAG,
            keyword=True,
            needs=("a recording",),
        ),
    ],
)
TOPICS = (OUTPUT, WHILE_IT_RUNS, BASELINES, RECORDINGS)
