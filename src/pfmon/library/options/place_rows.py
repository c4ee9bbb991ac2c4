"""Options that say where and when is counted, and where counts belong: address ranges, opcode matchers, branch buffers,
triggers, sessions, profiles, reports (pfmon on Itanium 2, sections 4, 6 and 8 to 10; Montecito manual, 3.3.10 and
3.3.11)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pfmon.errors import BadValueError, PfmonError, UnknownNameError
from pfmon.library.options import python_values
from pfmon.library.options.kinds import DIRECTORIES, FLAG, MILLISECONDS, WORD, as_given, flag, named, number
from pfmon.library.options.matcher_options import BRANCH_PMUS, MATCHERS
from pfmon.library.options.option import Kind, Option, Topic, extend, once, once_by_name, one_of, same, update
from pfmon.library.options.option_values import names
from pfmon.pmu import IA64
from pfmon.pmu.targets import having

MAX_IP_EAR_DELAY = 255
"""Cycles from the freeze of the monitors to that of the IP-EAR (Montecito manual table 3-30)."""
IP_EAR = having(lambda target: "ip_ear" in target.features)
DEMANGLE = {True: "demangle-cpp", False: "no-demangle"}
REPORTS = ("cpi", "derived", "html")
BRANCHES_OF = {
    "tm-tk": "capture taken branches only",
    "tm-ntk": "capture branches that are not taken only",
    "ptm-correct": "capture branches whose target was predicted correctly only",
    "ptm-incorrect": "capture branches whose target was mispredicted only",
    "ppm-correct": "capture branches whose path was predicted correctly only",
    "ppm-incorrect": "capture branches whose path was mispredicted only",
    "brt-iprel": "capture IP-relative branches only",
    "brt-ret": "capture returns only",
    "brt-ind": "capture indirect branches that are no returns only",
}
"""Filters of the BTB and of the ETB."""
BTB_ALONE = {
    "ds": ("itanium2", "Itanium 2: capture how the branch was predicted instead of its target"),
    "no-tar": ("itanium", "Itanium: leave out predictions of the target address registers"),
    "no-tac": ("itanium", "Itanium: leave out predictions of the target address cache"),
    "no-bac": ("itanium", "Itanium: leave out predictions of the branch address calculator"),
}
"""Filters of the BTB of one PMU."""


def _filtering(name: str) -> tuple[str, ...]:
    """Return the PMUs whose code ranges can be restricted so."""
    return having(lambda target: name in target.range_filters)


def _range(name: str, text: str) -> str:
    if not text:
        raise BadValueError(f"--{name} wants a range: START-END or a symbol")
    return text


def _filters(name: str, value: object) -> list[str]:
    """Return filters of the branch buffer, given as the command's options without their beginning: "tm-tk"."""
    return [f"{name}-{one}" for one in python_values.items(name, value)]


def _addresses(name: str, text: str) -> list[str]:
    found = names(text)
    if not all(found):
        raise BadValueError(f"--{name}={text}: an address is empty")
    return found


def _python_addresses(name: str, value: object) -> list[str]:
    given = [value] if isinstance(value, int) else value
    if isinstance(given, str):
        found = names(given)
    else:
        found = [python_values.address(name, one) for one in python_values.several(given)]
    if not found or not all(found):
        raise python_values.bad(name, value, "a name, a number, or a sequence of them")
    return found


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


RANGE = Kind(
    _range,
    python_values.address_range,
    once("it takes one range: there is one of a kind in an event set"),
    python_values.is_list_of_ranges,
)
MATCHER = Kind(as_given, python_values.text, once_by_name("a matcher has one pattern"), python_values.is_list, {})
FILTERS = Kind(_filters, _filters, extend, python_values.is_nested, [])
NAME = named(lambda name: [name], extend, [])
ADDRESSES = Kind(
    _addresses, _python_addresses, once_by_name("it takes several addresses, separated by commas"), default={}
)
TRIGGER_FLAG = named(lambda name: {name}, update, set())
EVENT = Kind(as_given, python_values.text, once("it takes one event"))

RANGES = Topic(
    "ranges",
    "Address ranges (numbers in hexadecimal or decimal, or symbols of the program)",
    [
        Option(
            "irange",
            "count what instructions in this range do; its end is exclusive",
            RANGE,
            "START-END|CODE-SYMBOL",
            pmus=IA64,
            of_set=True,
            keyword=True,
            qualifies=True,
        ),
        Option(
            "inverse-irange",
            "count what instructions outside of --irange do",
            FLAG,
            pmus=_filtering("inverse"),
            of_set=True,
            keyword=True,
            needs=("a code range",),
            qualifies=True,
        ),
        Option(
            "drange",
            "count accesses to data in this range; its end is exclusive",
            RANGE,
            "START-END|DATA-SYMBOL",
            pmus=IA64,
            of_set=True,
            keyword=True,
            qualifies=True,
        ),
        Option(
            "checkpoint-func",
            "count the executions of one bundle",
            RANGE._replace(accept=python_values.address, splits=python_values.is_list),
            "ADDRESS|CODE-SYMBOL",
            pmus=IA64,
            of_set=True,
            keyword=True,
            qualifies=True,
        ),
        Option(
            "irange-demand-fetch",
            "Montecito: --irange holds for demand fetches",
            FLAG,
            pmus=_filtering("demand_fetch"),
            of_set=True,
            keyword=True,
            needs=("a code range",),
            qualifies=True,
        ),
        Option(
            "irange-prefetch-match",
            "Montecito: --irange holds for prefetches",
            FLAG,
            pmus=_filtering("prefetch_match"),
            of_set=True,
            keyword=True,
            needs=("a code range",),
            qualifies=True,
        ),
    ],
)
OPCODES = Topic(
    "opcodes",
    "Opcode matchers",
    [
        Option(
            name,
            f"count instructions of a mnemonic, or by {matcher.bits} bits ({', '.join(matcher.pmus)})",
            MATCHER,
            "[mifb:]MNEMONIC|[mifb]:MATCH:MASK",
            pmus=matcher.pmus,
            of_set=True,
            field="opcode_matches",
            keyword=True,
            qualifies=True,
        )
        for name, matcher in MATCHERS.items()
    ],
)


def _filter(name: str, meaning: str, pmus: Sequence[str]) -> Option:
    return Option(name, meaning, NAME, pmus=tuple(pmus), of_set=True, field="branch_filters", qualifies=True)


BRANCHES = Topic(
    "branches",
    "Branch buffers (btb: Itanium, Itanium 2; etb: Montecito); filters are combined by and",
    [
        *(_filter(f"btb-{name}", meaning, BRANCH_PMUS["btb"]) for name, meaning in BRANCHES_OF.items()),
        *(_filter(f"btb-{name}", meaning, (pmu,)) for name, (pmu, meaning) in BTB_ALONE.items()),
        *(_filter(f"etb-{name}", meaning, BRANCH_PMUS["etb"]) for name, meaning in BRANCHES_OF.items()),
        Option(
            "ip-ear",
            "Montecito: record instruction addresses, frozen after so many cycles",
            number(0, MAX_IP_EAR_DELAY, once("there is one IP-EAR"), None),
            "DELAY",
            pmus=IP_EAR,
            of_set=True,
            keyword=True,
            qualifies=True,
        ),
    ],
    keywords=[
        Option(
            name,
            "filters, as the options have them behind their first dash",
            FILTERS,
            "FILTER,...",
            pmus=pmus,
            of_set=True,
            field="branch_filters",
            keyword=True,
            qualifies=True,
        )
        for name, pmus in BRANCH_PMUS.items()
    ],
)
TRIGGERS = Topic(
    "triggers",
    "Triggers (addresses in hexadecimal or decimal, or symbols of the program)",
    [
        Option(
            "trigger-code-start-addresses",
            "start counting when one of these bundles is executed",
            ADDRESSES,
            "ADDRESS,...",
            field="triggers",
            keyword=True,
            hp=("trigger-address", "trigger-start-address"),
            qualifies=True,
        ),
        Option(
            "trigger-code-stop-addresses",
            "stop counting before one of these bundles is executed; one that starts, too: when its call returns",
            ADDRESSES,
            "ADDRESS,...",
            field="triggers",
            keyword=True,
            qualifies=True,
        ),
        Option(
            "trigger-code-repeat",
            "start and stop every time, not only once",
            TRIGGER_FLAG,
            field="trigger_flags",
            keyword=True,
            qualifies=True,
        ),
        Option(
            "trigger-code-follow",
            "in all tasks that are followed, as in any case",
            TRIGGER_FLAG,
            field="trigger_flags",
            qualifies=True,
        ),
        Option(
            "trigger-data-start-addresses",
            "start counting when one of these bytes is accessed",
            ADDRESSES,
            "ADDRESS,...",
            field="triggers",
            keyword=True,
            qualifies=True,
        ),
        Option(
            "trigger-data-stop-addresses",
            "stop counting before one of these bytes is accessed",
            ADDRESSES,
            "ADDRESS,...",
            field="triggers",
            keyword=True,
            qualifies=True,
        ),
        Option(
            "trigger-data-repeat",
            "start and stop every time, not only once",
            TRIGGER_FLAG,
            field="trigger_flags",
            keyword=True,
            qualifies=True,
        ),
        Option("trigger-data-follow", "the same of data triggers", TRIGGER_FLAG, field="trigger_flags", qualifies=True),
        Option(
            "trigger-data-ro",
            "data triggers are for reads",
            TRIGGER_FLAG,
            field="trigger_flags",
            keyword=True,
            qualifies=True,
        ),
        Option(
            "trigger-data-wo",
            "data triggers are for writes",
            TRIGGER_FLAG,
            field="trigger_flags",
            keyword=True,
            qualifies=True,
        ),
        Option(
            "trigger-event",
            "start counting when EVENT has happened N times",
            EVENT,
            "EVENT:N",
            keyword=True,
            qualifies=True,
        ),
        Option(
            "stop-event",
            "stop counting when EVENT has happened N times since",
            EVENT,
            "EVENT:N",
            keyword=True,
            qualifies=True,
        ),
    ],
)
INTR_ONLY = Option(
    "intr-only",
    "kernel level: count what interrupts cause only; programs run without interrupts",
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
            "leave out what interrupts cause; programs run without interrupts",
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
            "leave out the idle task; a program's run has none",
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
        Option("annotate", "list a function's instructions with their counts", WORD, "FUNCTION", keyword=True),
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
            "PMU's manual, by its tables, with what each needs); besides: html:FILE (everything in a page)",
            Kind(_report, lambda name, value: (report(python_values.text(name, value)), ""), _keep_report),
            "NAME",
            of_output=True,
            field="html_report",
            keyword=True,
        )
    ],
)
TOPICS = (RANGES, OPCODES, BRANCHES, TRIGGERS, SESSIONS, PROFILES, REPORT)
