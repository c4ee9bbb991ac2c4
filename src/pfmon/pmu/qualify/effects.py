"""Reports of the parts of a request that the registers do not implement; an option without any effect is refused.

Programming accepts any values that the registers can hold, as the hardware and pfmon do. This module reads the
registers back and checks that each event is qualified as requested, so that nothing is dropped silently.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, NoReturn

from pfmon.errors import RuleError
from pfmon.pmu.model.event_table import Event
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.model.programming import Programming, RangeProgramming
from pfmon.pmu.model.request import OpcodeMatch, Request
from pfmon.pmu.qualify.filters import SLOTS
from pfmon.pmu.qualify.qualifier import Qualifier

BOTH_SETS, IA64_ONLY = 0, 2


class Constraint(NamedTuple):
    """The effect of one qualification on one event: ``lacking``: why it has none, "" if it has."""

    what: str
    event: Event
    lacking: str


def effects(model: PmuModel, request: Request, programmings: Sequence[Programming]) -> list[str]:
    """Return lines about requested settings that are not in force; ``programmings``: of all event sets and PMUs of a
    run.

    RuleError: a qualification constrains none of the events, unless checks of qualifiers are disabled.
    """
    if model.architecture != "ia64":
        return []
    try:
        return _lines(model, request, programmings)
    except RuleError as error:
        raise model.cited(error) from None


def _lines(model: PmuModel, request: Request, programmings: Sequence[Programming]) -> list[str]:
    """Return the lines of `effects` for the Itaniums."""
    found = [one for made in programmings for one in _constraints(model, request, made)]
    lines = _unconstrained(found, request.check_qualifiers)
    lines += _fetches(model, request, programmings)
    lines += _not_inverted(model, request, programmings)
    lines += _instruction_sets(request, programmings)
    return list(dict.fromkeys(lines))


def _constraints(model: PmuModel, request: Request, made: Programming) -> Iterator[Constraint]:
    """Yield the effect of every qualification of the request on every event of a programming."""
    qualifier, matchers = Qualifier(model, made.writes), model.target.matchers
    for event in (monitor.event for monitor in made.monitors):
        channels = qualifier.channels(event)
        where = f"it counts tag channel {' and '.join(map(str, channels))}"
        if request.irange:
            used = any(not qualifier.code_filter(channel).everything for channel in channels)
            lacking = "" if used else f"{where}, which the range leaves open"
            yield Constraint("the code range", event, lacking if event.iar else "it has no code range check")
        if request.drange:
            lacking = "" if qualifier.data_ranges() else "no data breakpoints are in force"
            yield Constraint("the data range", event, lacking if event.dar else "it has no data range check")
        for number, matcher in enumerate(request.opcodes):
            if matcher and not _matches_all(matcher, model):
                used = any(c % 2 == number and not qualifier.opcode_filter(c).everything for c in channels)
                lacking = "" if used else f"{where}, which the matcher leaves open"
                what = f"the opcode matcher of PMC{matchers.pmcs[number]}"
                yield Constraint(what, event, lacking if event.opc else "it has no opcode check")


def _matches_all(matcher: OpcodeMatch, model: PmuModel) -> bool:
    """Return whether a matcher matches every instruction."""
    bits = (1 << model.target.matchers.bits) - 1
    return matcher.raw is None and matcher.slots == SLOTS and matcher.mask == bits


def _unconstrained(found: Sequence[Constraint], check: bool) -> list[str]:
    """Return a line for each event that a qualification does not constrain."""
    for what in dict.fromkeys(one.what for one in found) if check else ():
        qualifications_bear_on_some_event(what, [one for one in found if one.what == what])
    return [f"{one.event.name}: {one.what} does not constrain it: {one.lacking}" for one in found if one.lacking]


def _fetches(model: PmuModel, request: Request, programmings: Sequence[Programming]) -> list[str]:
    """Return lines on the fetches that a code range constrains, for events that count fetches of both kinds."""
    ranges = request.irange
    if not ranges or not (ranges.demand_fetch or ranges.prefetch_match):
        return []
    both = [
        monitor.event.name
        for made in programmings
        for monitor in made.monitors
        if len(Qualifier(model, made.writes).channels(monitor.event)) > 1
    ]
    if not both:
        if request.check_qualifiers:
            fetch_choice_needs_events_of_fetches()
        names = [monitor.event.name for made in programmings for monitor in made.monitors]
        return [f"{', '.join(names)}: the choice of demand fetches or prefetches changes nothing"]
    if ranges.demand_fetch and ranges.prefetch_match:
        return []
    kind, other = ("demand fetches", "prefetches")[:: 1 if ranges.demand_fetch else -1]
    return [f"{name}: the code range constrains {kind} alone; {other} count wherever they come from" for name in both]


def _not_inverted(model: PmuModel, request: Request, programmings: Sequence[Programming]) -> list[str]:
    """Return a line for each event that counts inside an inverted range."""
    if not request.irange or not request.irange.inverse:
        return []
    inside = []
    for made in programmings:
        qualifier = Qualifier(model, made.writes)
        for event in (monitor.event for monitor in made.monitors if monitor.event.iar):
            filters = [qualifier.code_filter(channel) for channel in qualifier.channels(event)]
            inside += [event.name] if any(not one.everything and not one.inverse for one in filters) else []
    if request.check_qualifiers:
        inversion_is_of_tag_channel_0(list(dict.fromkeys(inside)))
    return [f"{name}: counts inside of the code range: the inversion is of tag channel 0" for name in inside]


def inexact(programmings: Sequence[Programming]) -> list[str]:
    """Return lines about programmed ranges that exceed the requested ones; -v prints the same in numbers."""
    ranges = [(kind, one) for made in programmings for kind, one in (("code", made.irange), ("data", made.drange))]
    return list(dict.fromkeys(line for kind, programmed in ranges for line in _bleed(kind, programmed)))


def _bleed(kind: str, programmed: RangeProgramming | None) -> Iterator[str]:
    """Yield a line for each range that the registers cannot hold exactly (pfmon on Itanium 2, section 8.2)."""
    if programmed:
        for (start, end), (below, beyond) in zip(programmed.limits, programmed.off, strict=True):
            if below or beyond:
                yield (
                    f"the {kind} range is [{start - below:#x}-{end + beyond:#x}): the registers cannot hold "
                    f"[{start:#x}-{end:#x}), {below} bytes before it and {beyond} behind it belong to it too"
                )


def _instruction_sets(request: Request, programmings: Sequence[Programming]) -> list[str]:
    """Return a line if both sets were requested by name of a PMU that counts one (Montecito manual table 3-5)."""
    named = any(event.ism == BOTH_SETS for event in request.events)
    alone = all(monitor.ism == IA64_ONLY for made in programmings for monitor in made.monitors)
    return ["both instruction sets were asked for; this PMU counts IA-64 code alone"] if named and alone else []


def qualifications_bear_on_some_event(what: str, found: Sequence[Constraint]) -> None:
    """A qualification must constrain at least one event (pfmon on Itanium 2, section 4.5; Montecito manual section
    3.2.3.1: channel 0 qualifies all events, the others tagged instructions).
    """
    if found and all(one.lacking for one in found):
        said = "; ".join(dict.fromkeys(f"{one.event.name}: {one.lacking}" for one in found))
        raise RuleError(
            "qualifications_bear_on_some_event",
            f"{what} would constrain none of the events ({said}); --no-qual-check counts them all the same",
            "Montecito manual section 3.2.3.1",
        )


def fetch_choice_needs_events_of_fetches() -> NoReturn:
    """The choice of demand fetches or prefetches applies to events that count both (Montecito manual section
    3.3.5.2)."""
    raise RuleError(
        "fetch_choice_needs_events_of_fetches",
        "--irange-demand-fetch and --irange-prefetch-match are for events that count fetches of both kinds, and "
        "none of the events does; --no-qual-check counts them all the same",
        "Montecito manual section 3.3.5.2",
    )


def inversion_is_of_tag_channel_0(events: Sequence[str]) -> None:
    """PMC8.inv and PMC32.inv invert the range of channel 0; other channels count inside it (Montecito manual table
    3-11, inv).
    """
    if events:
        raise RuleError(
            "inversion_is_of_tag_channel_0",
            f"{', '.join(events)}: counted by another tag channel, and so inside the range instead of outside; leave "
            "--inverse-irange out, or count the others alone",
            "Montecito manual table 3-11",
        )
