"""Options that say when is counted, and what is to be known of the run: sessions, profiles, reports (pfmon on
Itanium 2, sections 9 and 10)."""

from __future__ import annotations

from typing import Any

from pfmon.errors import PfmonError, UnknownNameError
from pfmon.library.options import python_values
from pfmon.library.options.kinds import DIRECTORIES, FLAG, MILLISECONDS, NAME, WORD, flag
from pfmon.library.options.option import Kind, Option, Topic, once, one_of, same
from pfmon.library.options.timeline_place import python_timeline, timeline_place
from pfmon.pmu import IA64

DEMANGLE = {True: "demangle-cpp", False: "no-demangle"}
REPORTS = ("cpi", "derived", "c2c", "html")


def report(name: str) -> str:
    """Return the name of a report, checked."""
    if name not in REPORTS:
        raise UnknownNameError("report", name, REPORTS)
    return name


def _report(_: str, text: str) -> tuple[str, str]:
    """Return a report and its file."""
    name, _, path = text.partition(":")
    if report(name) == "html":
        if not path:
            raise PfmonError("--report=html wants a file: --report=html:FILE")
    elif path:
        raise PfmonError(f"--report={name} is printed with the counts and takes no file: --outfile={path}")
    return name, path


def _keep_report(_: Option, options: Any, output: Any, value: tuple[str, str]) -> None:
    """Keep a report, and its file, which the command line has alone."""
    name, path = value
    if name != "html":
        options.report = name
        return
    options.collect_report = True
    if path:
        output.html_report = path


INTR_ONLY = Option(
    "intr-only",
    "kernel level of a system: count the handlers of interruptions only (a program alone has none)",
    NAME,
    pmus=IA64,
    of_set=True,
    field="interrupts",
    idle="it selects interrupt handling at the kernel level, and programs run at the user level",
)
SESSIONS = Topic(
    "sessions",
    "Sessions (milliseconds are of the program's processor time, one nanosecond an instruction)",
    [
        Option(
            "switch-timeout",
            "with several -e: switch to the next event set after this time",
            MILLISECONDS,
            "MILLISECONDS",
            keyword=True,
            needs=("event sets",),
        ),
        Option(
            "true-values",
            "with several -e: print the counts of uninterrupted counting, and the error, beside estimates",
            FLAG,
            keyword=True,
            needs=("event sets",),
        ),
        Option(
            "print-interval",
            "print the counts of every interval of this length",
            MILLISECONDS,
            "MILLISECONDS",
            keyword=True,
            needs=("events",),
        ),
        Option(
            "insecure",
            "let the program start and stop counting (sum, rum) and read counters (mov =pmd)",
            FLAG,
            pmus=IA64,
            keyword=True,
            needs=("events", "a program"),
            qualifies=True,
        ),
        Option(
            "dont-start",
            "do not start counting; with --insecure the program does it",
            FLAG,
            pmus=IA64,
            keyword=True,
            qualifies=True,
        ),
        Option(
            "excl-intr",
            "kernel level of a system: leave out the handlers of interruptions (a program alone has none)",
            NAME,
            pmus=IA64,
            of_set=True,
            field="interrupts",
            idle="interrupts are handled at the kernel level, and programs run at the user level",
        ),
        INTR_ONLY,
        same("incl-intr", INTR_ONLY),
        Option(
            "exclude-idle",
            "leave out the idle tasks of a Linux kernel (a program alone has none)",
            NAME,
            pmus=IA64,
            of_set=True,
            field="interrupts",
            idle="there is no idle task beside one program",
        ),
    ],
)
PROFILES = Topic(
    "profiles",
    "Everything at once, and where it happens",
    [
        Option(
            "unlimited",
            "count any number of events in one run, on as many PMUs as they need; -e all, -e REGEX",
            FLAG,
            keyword=True,
        ),
        Option("per-function", "split the counts by function", FLAG, keyword=True),
        Option("per-block", "split the counts by basic block", FLAG, keyword=True),
        Option("per-line", "split the counts by line of the source files, of which DWARF tells", FLAG, keyword=True),
        Option(
            "annotate",
            "list a function's instructions, or a source file's lines, with their counts",
            WORD,
            "FUNCTION|FILE",
            keyword=True,
        ),
        Option(
            "timeline",
            "show a block's pipeline by cycle: N iterations (4) of the block with most cycles, of all or in this code",
            Kind(timeline_place, python_timeline, once("there is one timeline"), default=None),
            "PLACE[,N]",
            optional=True,
            keyword=True,
        ),
        Option(
            "symbol-file",
            "take the program's symbols and lines from FILE, when the program is stripped",
            WORD,
            "FILE",
            keyword=True,
        ),
        Option(
            "debug-dir",
            "look for separate debug files in DIR, before usr/lib/debug below --sysroot and the host's",
            DIRECTORIES,
            "DIR",
            field="debug_dirs",
            keyword=True,
        ),
        Option(
            DEMANGLE[True],
            "print C++ names as programmers write them (the default)",
            flag(True, one_of(DEMANGLE), default=None),
            field="demangled",
        ),
        Option(
            DEMANGLE[False],
            "print C++ names as the linker has them",
            flag(False, one_of(DEMANGLE), default=None),
            field="demangled",
            keyword=True,
        ),
        Option(
            "print-syms",
            "print the symbols of the program before it runs: address, size, T (code) or D (data), name",
            FLAG,
            of_output=True,
        ),
    ],
)
REPORT = Topic(
    "reports",
    "Reports",
    [
        Option(
            "report",
            "instead of counts: cpi (where the cycles went, for the run and by function), derived (the formulas of the "
            "PMU's manual, by its tables, with what each needs), c2c (lines of memory that threads share); besides: "
            "html:FILE (everything in a page)",
            Kind(_report, lambda name, value: (report(python_values.text(name, value)), ""), _keep_report),
            "NAME",
            of_output=True,
            field="html_report",
            keyword=True,
        ),
        Option(
            "open",
            "show the page of --report html:FILE in the browser",
            FLAG,
            of_output=True,
            field="opens_page",
            needs=("a page",),
        ),
    ],
)
TOPICS = (SESSIONS, PROFILES, REPORT)
