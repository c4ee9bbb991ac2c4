"""Events of AMD's PMUs: each is read from the registers that select it, and is counted or says why not; the oracle of
the encodings is libpfm 4."""

import csv
from pathlib import Path

from grids import each

from pfmon.pmu import get
from pfmon.pmu.model.monitors import read_counters
from pfmon.pmu.registers.decode import decode_text
from pfmon.signals.signal_names import is_produced

DATA = Path(__file__).resolve().parents[2] / "data" / "pmu"
DECIDED = {"zen3": (223, 118), "zen4": (336, 118)}
"""Events in Linux's list of the core, and those that the model decides."""
DIFFERENT = {"zen3": {"RETIRED_SSE_AVX_FLOPS:ANY", "PREFETCH_INSTRUCTIONS_DISPATCHED:ANY"}, "zen4": set[str]()}
"""libpfm's events of other codes: Linux has all bits of the unit mask."""


@each("name", DECIDED)
def test_every_event_is_read_from_the_registers_that_select_it(name: str) -> None:
    model = get(name)
    for event in model.events:
        made = model.program([event.name], plm="uk")
        (found,) = read_counters(model, made.writes).monitors
        assert (found.pmd, found.plm) == (made.counters[0], 15), event.name
        assert found.event.name == (event.name if event.alias_of == "-" else event.alias_of)
        dump = " ".join(f"{register}={value}" for register, value in made.writes.items())
        assert found.event.name in decode_text(model, dump + " perf_ctr0=0")


@each("name", DECIDED)
def test_each_event_is_counted_or_says_why_not(name: str) -> None:
    listed = [event for event in get(name).events if f"amd{name}" in event.source]
    assert all(is_produced(event.signal) == (event.reason == "-") for event in listed)
    assert (len(listed), sum(is_produced(event.signal) for event in listed)) == DECIDED[name]


@each("name", DECIDED)
def test_advice_names_events_of_this_pmu(name: str) -> None:
    events = get(name).events
    for event in events:
        _, _, nearest = event.reason.partition("nearest: ")
        for other in nearest.partition(", and ")[0].split(", "):
            assert not other or other in events, event.name


@each("name", DECIDED)
def test_encodings_are_those_of_libpfm(name: str) -> None:
    """Event code and unit mask (libpfm4, lib/events/amd64_events_fam19h_zen3.h and _zen4.h, commit 91970fe6)."""
    model = get(name)
    with (DATA / f"{name}-libpfm.csv").open(newline="") as table:
        rows = list(csv.DictReader(table))
    assert len(rows) > 130
    different = set()
    for row in rows:
        made = model.program([row["event"]])
        if made.writes[f"perf_ctl{made.counters[0]}"] != int(row["select"], 16):
            different.add(row["libpfm"])
    assert different == DIFFERENT[name]
