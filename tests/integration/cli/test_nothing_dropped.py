"""Every option that says how events count, with every class of events on every PMU: the option shows in how the event
is programmed, or the command is refused by a named rule, or a line on standard error names the event."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import pytest
from answers import declined, said
from grids import few

from pfmon import pmu
from pfmon.cli.command_line import read
from pfmon.errors import PfmonError, UnknownNameError
from pfmon.library.options import event_rows, place_rows
from pfmon.library.options.run_options import Options
from pfmon.library.resolving.request_builder import request
from pfmon.library.resolving.resolve import qualification_of
from pfmon.pmu.model.derived import load_derived, plan
from pfmon.pmu.model.event_table import Event
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.model.programming import Monitor, Programming
from pfmon.pmu.qualify.effects import effects
from pfmon.pmu.qualify.qualifier import Qualifier

CHECK = "--check-events-only"
TOPICS = (
    event_rows.EVENTS,
    event_rows.LEVELS,
    event_rows.INSTRUCTION_SETS,
    place_rows.RANGES,
    place_rows.OPCODES,
    place_rows.BRANCHES,
)
RANGE = "--irange=0x4000-0x4400"
NARROW, WIDE = ":0x2000140:0x7ffe3f", ":0x8000000140:0x1fffffffe3f"
ALL = "whole"
"""The option sets something beside the counters: any register that changes will do."""


class Tried(NamedTuple):
    """How an option is tried: its words, words that it is compared with, and what a monitor that obeys it shows,
    where that may be the default; `ALL`: it is no matter of the event's own counter."""

    words: tuple[str, ...]
    without: tuple[str, ...] = ()
    shows: Callable[[Monitor], bool] | str | None = None


def levels(mask: int) -> Callable[[Monitor], bool]:
    return lambda monitor: monitor.plm == mask


OPTIONS = {
    "event-thresholds": Tried(("--event-thresholds=1",)),
    "all-threads": Tried(("--all-threads",)),
    "invert": Tried(("--event-thresholds=1", "--invert=y"), ("--event-thresholds=1",)),
    "edge": Tried(("--edge=y",)),
    "controls": Tried(("--controls=enint=1",), shows=ALL),
    "preload": Tried(("--preload=pmc1=0x7fffffff",), shows=ALL),
    "user-level": Tried(("-u",), shows=levels(8)),
    "kernel-level": Tried(("-k",), shows=levels(1)),
    "level-0": Tried(("-0",), shows=levels(1)),
    "level-1": Tried(("-1",), shows=levels(2)),
    "level-2": Tried(("-2",), shows=levels(4)),
    "level-3": Tried(("-3",), shows=levels(8)),
    "priv-levels": Tried(("--priv-levels=uk",), shows=levels(9)),
    "system-wide": Tried(("--system-wide",)),
    "ia32": Tried(("--ia32",), shows=lambda monitor: monitor.ism == 1),
    "ia64": Tried(("--ia64",), shows=lambda monitor: monitor.ism == 2),
    "insn-sets": Tried(("--insn-sets=both",), ("--ia64",), shows=lambda monitor: monitor.ism == 0),
    "irange": Tried((RANGE,)),
    "inverse-irange": Tried((RANGE, "--inverse-irange"), (RANGE,)),
    "drange": Tried(("--drange=0x6000-0x6800",)),
    "checkpoint-func": Tried(("--checkpoint-func=0x4000",)),
    "irange-demand-fetch": Tried((RANGE, "--irange-demand-fetch"), (RANGE,)),
    "irange-prefetch-match": Tried((RANGE, "--irange-prefetch-match"), (RANGE,)),
    "opc-match8": Tried((f"--opc-match8={NARROW}",)),
    "opc-match9": Tried((f"--opc-match9={NARROW}",)),
    "opc-match32": Tried((f"--opc-match32={WIDE}",)),
    "opc-match34": Tried((f"--opc-match34={WIDE}",)),
    **{option.long: Tried((f"--{option.long}",), shows=ALL) for option in place_rows.BRANCHES.options},
    "ip-ear": Tried(("--ip-ear=5",), shows=ALL),
}
QUALIFYING = ("irange", "inverse-irange", "drange", "checkpoint-func", "irange-demand-fetch", "irange-prefetch-match")
QUALIFYING += ("opc-match8", "opc-match9", "opc-match32", "opc-match34")
PARTNERS = {
    "itanium": ("NOPS_RETIRED", "IA64_TAGGED_INST_RETIRED_PMC9"),
    "itanium2": (
        "NOPS_RETIRED",
        "L1I_PREFETCHES",
        *(f"IA64_TAGGED_INST_RETIRED_IBRP{n}_PMC{8 + n % 2}" for n in range(4)),
    ),
    "montecito": (
        "NOPS_RETIRED",
        "L1I_PREFETCHES",
        "L1I_FILLS",
        *(f"IA64_TAGGED_INST_RETIRED_IBRP{n}_PMC{32 + n % 2 * 2}_{33 + n % 2 * 2}" for n in range(4)),
    ),
}
NO_MATTER = {"events", "pmu", "no-qual-check"}
"""Options that choose events and PMU, and the one that switches a check off."""


@cache
def options_of(name: str, words: tuple[str, ...]) -> Options:
    """The options that words say, of an event that stands for any: to read them says nothing of which it is."""
    return read([CHECK, f"--pmu={name}", "-e", "EVENT", *words]).options


def programmed(name: str, events: str, *words: str) -> tuple[Programming, list[str]]:
    """What words program, and the lines about it."""
    options = options_of(name, words)
    model = pmu.get(name)
    counted = options.sets[0].replaced(events=events.split(","))
    (asked,) = request([counted], qualification_of(options), model).requests
    wanted = plan(model.events, asked.events)
    made = model.fulfil(wanted.request(asked))
    return made, effects(model, asked, [made])


@cache
def base(name: str, events: str, words: tuple[str, ...]) -> Programming | None:
    """What options are compared with; None where it is refused."""
    try:
        return programmed(name, events, *words)[0]
    except PfmonError:
        return None


def seen_by(model: PmuModel, made: Programming, place: int) -> Any:
    """Everything in the registers that decides what one event counts."""
    monitor = made.monitors[place]
    if model.architecture != "ia64":
        return made.writes
    qualifier = Qualifier(model, made.writes)
    channels = qualifier.channels(monitor.event)
    return (
        monitor._replace(event=monitor.event._replace(name="")),
        [qualifier.code_filter(channel) for channel in channels] if monitor.event.iar else None,
        [qualifier.opcode_filter(channel) for channel in channels] if monitor.event.opc else None,
        qualifier.data_ranges() if monitor.event.dar else None,
    )


def dropped(name: str, events: Sequence[str], tried: Tried) -> Iterator[str]:
    """The events, those of formulas one by one, that an option does nothing to, without a word."""
    model = pmu.get(name)
    text = ",".join(events)
    try:
        made, lines = programmed(name, text, *tried.words)
    except PfmonError as error:
        assert error.rule or isinstance(error, UnknownNameError) or "beside one" in error.message, error
        return
    plain = base(name, text, tried.without)
    for place, event in enumerate(monitor.event.name for monitor in made.monitors):
        if plain is None:  # the option makes possible what is refused without it: it does something
            continue
        if any(event in line or "instruction sets" in line for line in lines):
            continue
        if tried.shows == ALL:
            changed = made.writes != plain.writes
        else:
            obeys = callable(tried.shows) and tried.shows(made.monitors[place])
            changed = obeys or seen_by(model, made, place) != seen_by(model, plain, place)
        if not changed:
            yield f"{name} {' '.join(tried.words)} -e {text}: {event}"


def kind(event: Event) -> tuple[object, ...]:
    """What tells classes of events apart for the options."""
    special = event.code in (0x08, 0x41, 0x44, 0x45, 0x5F, 0x46, 0x65, 0x66)
    return (
        (event.iar, event.opc, event.dar, event.max_increment > 1, event.all, event.mesi, event.ear, event.type)
        + (event.branch_buffer, event.group, event.counters)
        + ((event.name,) if special else ())
    )


@cache
def classes(name: str) -> tuple[str, ...]:
    """One event of each class, and the derived events."""
    found = {kind(event): event.name + (":MESI" if event.mesi else "") for event in pmu.get(name).events}
    return (*found.values(), *load_derived(name))


def test_every_option_about_counting_is_tried() -> None:
    names = {option.long for topic in TOPICS for option in topic.options}
    assert names - NO_MATTER == set(OPTIONS)


@pytest.mark.slow
@pytest.mark.parametrize("name", few(pmu.names(), 6))
def test_an_option_shows_in_the_registers_or_is_refused_or_said(name: str) -> None:
    lost: list[str] = []
    for tried in OPTIONS.values():
        for event in classes(name):
            lost += dropped(name, [event], tried)
            lost += dropped(name, [event], tried._replace(words=(*tried.words, "--no-qual-check")))
    assert lost == []


@pytest.mark.slow
@pytest.mark.parametrize("name", pmu.IA64)
def test_a_qualification_holds_for_each_of_several_events_or_is_said(name: str) -> None:
    lost: list[str] = []
    for option in QUALIFYING:
        for event in classes(name):
            for partner in PARTNERS[name]:
                lost += dropped(name, [event, partner], OPTIONS[option])
    assert lost == []


def lines(*words: str) -> list[str]:
    """What a command that succeeds says on standard error."""
    status, _, err = said(CHECK, *words)
    assert status == 0, err
    return err.splitlines()


TAGGED2 = "IA64_TAGGED_INST_RETIRED_IBRP2_PMC8"


def test_matcher_that_only_a_tagged_event_obeys_is_said_of_the_other() -> None:
    (line,) = lines(f"--opc-match8={NARROW}", "-e", f"ia64_inst_retired,{TAGGED2}")
    assert line.startswith("pfmon: IA64_INST_RETIRED: the opcode matcher of PMC8 does not constrain it: ")
    assert line.endswith("it counts tag channel 0, which the matcher leaves open")


def test_matcher_without_an_event_of_its_channels_is_refused() -> None:
    for words in (["-e", "ia64_inst_retired"], ["--pmu=itanium", "-e", "nops_retired"]):
        line = declined(CHECK, f"--opc-match9={NARROW}", *words)
        assert line.startswith("pfmon: the opcode matcher of PMC9 would constrain none of the events (")
        assert "(qualifications_bear_on_some_event; " in line
    assert lines(f"--opc-match9={NARROW}", "--no-qual-check", "-e", "ia64_inst_retired")


def test_coarse_range_says_how_far_it_reaches() -> None:
    (line,) = lines("--irange=0x7f00-0x80100", "-e", "nops_retired")
    assert line.startswith("pfmon: the code range is [0x0-0x100000): the registers cannot hold [0x7f00-0x80100), ")
    assert "32512 bytes before it and 524032 behind it" in line


def test_exact_range_says_nothing() -> None:
    assert lines("--irange=0x4000-0x4400", "-e", "nops_retired") == []


@pytest.mark.parametrize("name", pmu.IA64)
def test_two_settings_of_one_address_register_are_refused(name: str) -> None:
    events = "data_ear_cache_lat8,data_ear_cache_lat16"
    assert "events_agree_on_an_address_register" in declined(CHECK, f"--pmu={name}", "-e", events)
    assert lines(f"--pmu={name}", "-e", "data_ear_cache_lat8,data_ear_cache_lat8,data_ear_events") == []


def test_prefetches_and_others_under_one_range_are_told_apart() -> None:
    (line,) = lines("--irange=0x4000-0x4400", "-e", "nops_retired,l1i_prefetches")
    assert line.startswith("pfmon: NOPS_RETIRED: the code range does not constrain it")


def test_inverse_range_of_prefetches_is_refused() -> None:
    words = ("--irange=0x4000-0x4400", "--inverse-irange", "-e")
    line = declined(CHECK, *words, "l1i_prefetches")
    assert line.startswith("pfmon: L1I_PREFETCHES: ") and "(inversion_is_of_tag_channel_0; " in line
    (line,) = lines("--no-qual-check", *words, "l1i_prefetches")
    assert line.startswith("pfmon: L1I_PREFETCHES: counts inside of the code range")


def test_choice_of_fetches_without_such_events_is_refused() -> None:
    words = ("--pmu=montecito", RANGE, "--irange-prefetch-match", "-e")
    assert "fetch_choice_needs_events_of_fetches" in declined(CHECK, *words, "nops_retired")
    (line,) = lines(*words, "l1i_fills")
    assert line.startswith("pfmon: L1I_FILLS: the code range constrains prefetches alone; demand fetches count")
