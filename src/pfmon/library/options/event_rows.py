"""Options that say what is counted: events, the PMU and the machine, privilege levels, instruction sets (pfmon on
Itanium 2, sections 7 and 8.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pfmon.errors import PfmonError, UnknownNameError
from pfmon.library.options import python_values
from pfmon.library.options.kinds import FLAG, as_given, flag, named, one_an_event
from pfmon.library.options.option import Kind, Option, Read, Topic, extend, once, put, update
from pfmon.library.options.option_values import MAX_PRELOAD, whole_number
from pfmon.pmu import IA64, names
from pfmon.pmu.targets import having, of_architecture

X86, PPC = of_architecture("x86"), of_architecture("ppc")
ALL_THREADS = having(lambda target: "all_threads" in target.event_options)
NONE = "none"


def _pmu(_: str, text: str) -> str:
    name = text.lower()
    if name not in names():
        raise UnknownNameError("PMU", text, names())
    return name


def _events(_: str, text: str) -> list[list[str]]:
    """Return the events of a further event set; nothing for no events."""
    if text.lower() == NONE:
        return []
    found = [name.strip() for name in text.split(",")]
    if not all(found):
        raise PfmonError(f"-e {text}: an event's name is empty")
    return [found]


def _event_sets(name: str, value: object) -> list[list[str]]:
    """Return event names, or several sequences of names: multiplexed event sets; none of them for "none"."""
    if isinstance(value, str) and value.lower() == NONE:
        return []
    several = not isinstance(value, str) and isinstance(value, Iterable)
    given = list(value) if several and isinstance(value, Iterable) else [value]
    groups = given if given and all(isinstance(one, list | tuple) for one in given) else [value]
    return [python_values.items(name, one) for one in groups if not isinstance(one, Sequence) or one]


def _keep_events(_: Option, options: Any, __: Any, groups: list[list[str]]) -> None:
    if not groups:
        options.use_default_events = False
    for group in groups:
        options.take_events(group)


def _numbers(what: str, high: int = python_values.ANY_NUMBER) -> Read:
    """Return a reader of names and values such as `pmctrigger=1,threshold=20`."""

    def read(option: str, text: str) -> dict[str, int]:
        values = {}
        for item in text.split(","):
            name, equals, value = item.strip().partition("=")
            if not name or not equals:
                raise PfmonError(f"--{option}={text}: {what}=VALUE,... is wanted")
            values[name.lower()] = whole_number(f"{option}={name}", value, 0, high)
        return values

    return read


def _settings(name: str, value: object) -> list[str]:
    """Return changes of figures: FIGURE=VALUE, a sequence of these, or a mapping."""
    if isinstance(value, Mapping):
        return [f"{figure}={_figure(number)}" for figure, number in value.items()]
    if isinstance(value, str):
        return [value]
    return [python_values.text(name, text) for text in python_values.several(value)]


def _figure(value: object) -> str:
    """Return a figure's value in the syntax of --set."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _letters(name: str, value: object) -> str:
    letters = python_values.text(name, value)
    if set(letters) - set("uk0123"):
        raise python_values.bad(name, value, "letters of u k 0 1 2 3")
    return letters


def _add_letter(_: Option, options: Any, __: Any, letter: str) -> None:
    options.levels += letter


EVENTS = Topic(
    "events",
    "Events",
    [
        Option(
            "events",
            "count these events, or none; given again: event sets that take turns",
            Kind(_events, _event_sets, _keep_events),
            "EVENT,...",
            "e",
            keyword=True,
        ),
        Option(
            "pmu",
            f"the processor's PMU: {', '.join(names())} (that of the program)",
            Kind(_pmu, lambda name, value: _pmu(name, python_values.text(name, value)), put),
            "NAME",
            keyword=True,
        ),
        Option(
            "event-thresholds",
            "count the cycles with more than this many, for each event of -e",
            one_an_event(),
            "NUMBER,...",
            of_set=True,
            keyword=True,
            hp=("counter-mask",),
            qualifies=True,
        ),
        Option(
            "no-qual-check",
            "accept events that ranges and opcode matchers do not constrain",
            flag(False),
            pmus=IA64,
            field="check_qualifiers",
            keyword=True,
            qualifies=True,
            alone=False,
        ),
        Option(
            "all-threads",
            "Montecito: count the events of both threads (.all)",
            FLAG,
            pmus=ALL_THREADS,
            keyword=True,
            qualifies=True,
        ),
        Option(
            "invert",
            "Intel, AMD: count cycles with fewer than the threshold, y or n for each event of -e",
            one_an_event(),
            "y|n,...",
            pmus=X86,
            of_set=True,
            keyword=True,
            hp=("inv-mask",),
            qualifies=True,
        ),
        Option(
            "edge",
            "Intel, AMD: count beginnings instead of cycles, y or n for each event of -e",
            one_an_event(),
            "y|n,...",
            pmus=X86,
            of_set=True,
            keyword=True,
            hp=("edge-mask",),
            qualifies=True,
        ),
        Option(
            "controls",
            "Intel, AMD, PowerPC: set fields of the control registers",
            Kind(_numbers("FIELD"), python_values.numbers('{"freeze_perfmon_on_pmi": 1}'), update, default={}),
            "FIELD=VALUE,...",
            pmus=X86 + PPC,
            keyword=True,
            qualifies=True,
        ),
        Option(
            "preload",
            "PowerPC: initial values of counters",
            Kind(
                _numbers("COUNTER", MAX_PRELOAD),
                python_values.numbers('{"pmc1": 0x7ffffc18}', MAX_PRELOAD),
                update,
                default={},
            ),
            "COUNTER=VALUE,...",
            pmus=PPC,
            keyword=True,
            qualifies=True,
        ),
    ],
)
MACHINE = Topic(
    "machine",
    "Machine",
    [
        Option(
            "machine",
            "the machine: itanium2, nehalem, ... (pfmon -I), host, or a TOML FILE (that of --pmu)",
            Kind(as_given, python_values.text, once("a program runs on one machine")),
            "NAME",
            keyword=True,
        ),
        Option(
            "set",
            "change a figure of the machine, such as l3.size=9M; may be repeated",
            Kind(lambda name, text: [text], _settings, extend, default=[]),
            "FIGURE=VALUE",
            field="machine_settings",
            keyword=True,
        ),
    ],
)
LEVELS = Topic(
    "levels",
    "Privilege levels",
    [
        Option(
            "user-level",
            "count at the user level, 3 (the default when no level is given; with --system all levels are)",
            flag("u", _add_letter),
            short="u",
            field="levels",
            qualifies=True,
        ),
        Option(
            "kernel-level",
            "count at the kernel level, 0",
            flag("k", _add_letter),
            short="k",
            field="levels",
            qualifies=True,
        ),
        Option(
            "level-0", "count at privilege level 0", flag("0", _add_letter), short="0", field="levels", qualifies=True
        ),
        Option(
            "level-1",
            "count at privilege level 1",
            flag("1", _add_letter),
            short="1",
            field="levels",
            pmus=IA64,
            qualifies=True,
        ),
        Option(
            "level-2",
            "count at privilege level 2",
            flag("2", _add_letter),
            short="2",
            field="levels",
            pmus=IA64,
            qualifies=True,
        ),
        Option(
            "level-3", "count at privilege level 3", flag("3", _add_letter), short="3", field="levels", qualifies=True
        ),
        Option(
            "priv-levels",
            "levels of each event, letters of u k 0 1 2 3, in the order of -e",
            one_an_event("it takes one value an event: --priv-levels=u,k,uk"),
            "LEVELS,...",
            of_set=True,
            keyword=True,
            qualifies=True,
        ),
        Option(
            "system-wide",
            "program privileged monitors (PMC.pm), which psr.pp starts",
            FLAG,
            pmus=IA64,
            keyword=True,
            alone=True,
        ),
    ],
    keywords=[
        Option("levels", "letters of the privilege levels to count at", Kind(_letters, _letters, put), keyword=True)
    ],
)
INSTRUCTION_SETS = Topic(
    "instruction-sets",
    "Instruction sets",
    [
        *(
            Option(
                name,
                f"count {shown} execution only; with --{other} both, as without either",
                named(lambda name: {name}, update, set()),
                pmus=IA64,
                field="instruction_sets",
                keyword=True,
                qualifies=True,
            )
            for name, shown, other in (("ia32", "IA-32", "ia64"), ("ia64", "IA-64", "ia32"))
        ),
        Option(
            "insn-sets",
            "the set of each event, ia32, ia64 or both, in the order of -e",
            one_an_event("it takes one value an event: --insn-sets=ia32,ia64"),
            "SET,...",
            pmus=IA64,
            of_set=True,
            keyword=True,
            qualifies=True,
        ),
    ],
)
TOPICS = (EVENTS, MACHINE, LEVELS, INSTRUCTION_SETS)
