"""Options that select the PMU and the events."""

from __future__ import annotations

from pfmon.cli.command_config import CommandConfig
from pfmon.cli.option_parsing import Option, ParsedOption
from pfmon.errors import PfmonError
from pfmon.library.machine_selection import take_pmu
from pfmon.library.option_values import MAX_PRELOAD, whole_number
from pfmon.pmu import IA64, names
from pfmon.pmu.targets import having, of_architecture

X86, PPC = of_architecture("x86"), of_architecture("ppc")
ALL_THREADS = having(lambda target: "all_threads" in target.event_options)
TOPIC = "events"
TITLE = "Events"
OPTIONS = [
    Option("events", "count these events, or none; given again: event sets that take turns", "EVENT,...", "e"),
    Option("pmu", f"the processor's PMU: {', '.join(names())} (that of the program)", "NAME"),
    Option(
        "event-thresholds", "count the cycles with more than this many, for each event of -e", "NUMBER,...", of_set=True
    ),
    Option("no-qual-check", "accept events that ranges and opcode matchers do not constrain", pmus=IA64),
    Option("all-threads", "Montecito: count the events of both threads (.all)", pmus=ALL_THREADS),
    Option(
        "invert",
        "Intel: count cycles with fewer than the threshold, y or n for each event of -e",
        "y|n,...",
        pmus=X86,
        of_set=True,
    ),
    Option(
        "edge",
        "Intel: count beginnings instead of cycles, y or n for each event of -e",
        "y|n,...",
        pmus=X86,
        of_set=True,
    ),
    Option("controls", "Intel, PowerPC: set fields of the control registers", "FIELD=VALUE,...", pmus=X86 + PPC),
    Option("preload", "PowerPC: initial values of counters", "COUNTER=VALUE,...", pmus=PPC),
]
NONE = "none"
LISTS = {"event-thresholds": "event_thresholds", "invert": "invert", "edge": "edge"}


def apply(config: CommandConfig, given: ParsedOption) -> None:
    """Take one option's value."""
    text = given.value or ""
    match given.name:
        case "pmu":
            take_pmu(config, text)
        case "events":
            _take_events(config, text)
        case "no-qual-check":
            config.check_qualifiers = False
        case "all-threads":
            config.all_threads = True
        case "controls":
            config.controls.update(_numbers(given.name, text, "FIELD"))
        case "preload":
            config.preload.update(_numbers(given.name, text, "COUNTER", MAX_PRELOAD))
        case _:
            config.take_of_set(given, LISTS[given.name], "one value an event, separated by commas")


def _take_events(config: CommandConfig, text: str) -> None:
    if text.lower() == NONE:
        config.use_default_events = False
        return
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise PfmonError(f"-e {text}: an event's name is empty")
    config.take_events(names)


def _numbers(option: str, text: str, what: str, high: int = (1 << 64) - 1) -> dict[str, int]:
    """Parse names and values such as `pmctrigger=1,threshold=20`."""
    values = {}
    for item in text.split(","):
        name, equals, value = item.strip().partition("=")
        if not name or not equals:
            raise PfmonError(f"--{option}={text}: {what}=VALUE,... is wanted")
        values[name.lower()] = whole_number(f"{option}={name}", value, 0, high)
    return values
