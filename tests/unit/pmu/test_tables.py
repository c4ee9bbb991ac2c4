"""Checks of every event table, register table and the table of signals."""

import csv
import re
from collections import Counter
from pathlib import Path

import pytest
from grids import each

from pfmon import pmu
from pfmon.counting.totals import system_events
from pfmon.errors import UnknownNameError
from pfmon.pmu.model.event_table import Event, EventTable
from pfmon.signals.signal_names import signals

MODELS = pmu.names()
IA64 = ("itanium", "itanium2", "montecito")


@pytest.fixture(params=MODELS)
def table(request: pytest.FixtureRequest) -> EventTable:
    return pmu.get(request.param).events


def test_no_field_of_an_event_is_empty(table: EventTable) -> None:
    empty = [e.name for e in table if any(value in ("", ()) for value in e)]
    assert not empty


def selected(event: Event) -> tuple[object, ...]:
    """What a counter's configuration selects for an event."""
    return event.code, event.umask, *event.condition, event.any_thread, event.extra


def test_events_that_share_an_encoding_are_declared_aliases_or_event_address_modes(table: EventTable) -> None:
    events = [e for e in table if e.ear == "-" and e.alias_of == "-"]
    plain = Counter((*selected(e), counter) for e in events for counter in e.counters)
    assert [k for k, n in plain.items() if n > 1] == []


def test_aliases_encode_what_they_stand_for(table: EventTable) -> None:
    for event in table:
        if event.alias_of != "-":
            other = table[event.alias_of]
            assert selected(event) == selected(other)


def test_an_event_has_a_known_signal_or_a_reason_why_not(table: EventTable) -> None:
    known = signals()
    for event in table:
        assert (event.signal in known) == (event.reason == "-") == (event.signal != "-"), event.name


def test_the_fidelity_of_an_event_is_that_of_its_signal(table: EventTable) -> None:
    known = signals()
    for event in table:
        wanted = known[event.signal].fidelity if event.signal != "-" else "unmodelled"
        assert event.fidelity == wanted, event.name


def selection(name: str, counter: int) -> tuple[str, str, str]:
    """The register that selects a counter's event, and its fields for code and unit mask; "" for none."""
    if name in IA64:
        return f"pmc{counter}", "es", "umask"
    if pmu.get(name).architecture == "x86" and counter < 32 and f"perf_ctl{counter}" in pmu.get(name).registers:
        return f"perf_ctl{counter}", "event", "umask"
    if pmu.get(name).architecture == "x86":
        return (f"ia32_perfevtsel{counter}", "event", "umask") if counter < 32 else ("", "", "")
    return "mmcr0" if counter < 3 else "mmcr1", f"pmc{counter}select", ""


def test_codes_and_unit_masks_fit_the_registers_of_every_counter(table: EventTable) -> None:
    registers = pmu.get(table.pmu).registers
    for event in table:
        for counter in event.counters:
            name, code, umask = selection(table.pmu, counter)
            high = {"event_high": event.code >> 8} if name.startswith("perf_ctl") else {}
            low = event.code & 0xFF if high else event.code
            wanted = {code: low, **high, umask: 0 if event.ear != "-" else event.umask} if name else {}
            assert wanted.pop("", 0) == 0, f"{event.name}: {name} has no unit mask"
            if name:
                assert registers[name].decode(registers[name].encode(**wanted)).items() >= wanted.items()


def test_a_fixed_counter_has_one_event() -> None:
    fixed = [
        (counter, event.name)
        for event in pmu.get("intel_v2").events
        for counter in event.counters
        if counter > 31 and event.alias_of == "-"
    ]
    assert sorted(fixed) == [(32, "INST_RETIRED.ANY"), (33, "CPU_CLK_UNHALTED.CORE"), (34, "CPU_CLK_UNHALTED.REF")]


def test_descriptions_are_one_line_of_prose(table: EventTable) -> None:
    for event in table:
        assert re.fullmatch(r"[A-Za-z][^\n]+[^.\s]", event.description), event.name


def test_signals_have_meaning_and_unit_and_are_all_used() -> None:
    used = {event.signal for name in MODELS for event in pmu.get(name).events}
    used |= {other for signal, other in system_events.SIGNALS.items() if signal in used}
    for signal in signals().values():
        assert signal.unit and signal.meaning and signal.fidelity in ("exact", "modelled")
        assert signal.name in used


def test_lookup_ignores_case_and_names_near_misses(table: EventTable) -> None:
    for event in list(table)[:20]:
        assert table[event.name.lower()] is event
        with pytest.raises(UnknownNameError, match=r"nearest: ") as caught:
            table[event.name[:-1] + "X"]
        assert event.name in caught.value.nearest or len(caught.value.nearest) == 3


@pytest.mark.parametrize(
    ("manual", "name"),
    [
        ("L2I_VICTIMIZATIONS", "L2I_VICTIMIZATION"),  # table 4-17
        ("CYCLES_HALTED", "CPU_OP_CYCLES_HALTED"),  # table 4-33
        *((f"L2D_L3_ACCESS_CANCEL_{how}", f"L2D_L3ACCESS_CANCEL_{how}") for how in ("ANY", "ER_REJECT")),  # table 4-24
    ],
)
def test_names_of_montecito_are_also_those_of_its_manual(manual: str, name: str) -> None:
    events = pmu.get("montecito").events
    assert events[manual]._replace(name=name, alias_of="-") == events[name]


def test_l2d_ozq_full_has_two_codes() -> None:
    """Montecito manual, tables 4-19 and 4-21: 0xe1, 0xe3."""
    events = pmu.get("montecito").events
    one, other = (events.with_code(code) for code in (0xE1, 0xE3))
    assert [(event.signal, event.set, event.all) for event in one] == [
        (event.signal, event.set, event.all) for event in other
    ]
    assert one[0].signal == "l2d_ozq_full"


def test_event_columns_are_those_of_the_record() -> None:
    assert Event._fields[:9] == (
        "name", "code", "umask", "counters", "max_increment", "iar", "opc", "dar", "set"
    )  # fmt: skip


@each("name", MODELS)
def test_register_fields_do_not_overlap(name: str) -> None:
    for register in pmu.get(name).registers.values():
        seen = 0
        for field in register.fields:
            assert not seen & field.mask, f"{register.name}.{field.name}"
            seen |= field.mask


@pytest.mark.parametrize(
    ("name", "present"),
    [
        ("itanium", [*(f"pmc{n}" for n in range(14)), *(f"pmd{n}" for n in range(18))]),
        ("itanium2", [*(f"pmc{n}" for n in range(16)), *(f"pmd{n}" for n in range(18))]),
        (
            "montecito",
            [f"pmc{n}" for n in [*range(16), *range(32, 43)]]
            + [f"pmd{n}" for n in [*range(4, 16), *range(32, 37), 38, 39, *range(48, 64)]],
        ),
    ],
)
def test_the_registers_that_manuals_list_are_there(name: str, present: list[str]) -> None:
    have = {r for r in pmu.get(name).registers if r.startswith("pm") and r != "pmv"}
    assert have == set(present)


NOT_FOR_ALL = {0xE1, 0xE3, 0xE5, 0xE8, 0xF0, 0xF1}
"""L2D events that table 4-19 does not have as .all capable, whatever the unit mask."""


def test_floating_events_can_be_counted_for_all_threads() -> None:
    """Montecito manual section 4.2.1: floating events, and self-floating ones with .SELF; of the L2D events those of
    table 4-19. Its example is ER_MEM_READ_OUT_LO."""
    events = pmu.get("montecito").events
    assert events["ER_MEM_READ_OUT_LO"].all and not events["CPU_OP_CYCLES_ALL"].all
    for event in events:
        if event.group != "L2D":
            own = event.type == "self-floating" and event.name.endswith("_SELF")
            assert event.all == (event.type == "floating" or own), event.name
        elif event.code in NOT_FOR_ALL:
            assert not event.all, event.name


def test_montecito_agrees_with_the_tables_of_its_manual() -> None:
    """Tables 4-1 to 4-37: code, qualifiers, maximum increment of 161 events.

    CPU_OP_CYCLES can be qualified with the unit mask that says so (QUAL), not with the other one.
    """
    events = pmu.get("montecito").events
    with (Path(__file__).parents[2] / "data" / "pmu" / "montecito-manual.csv").open(newline="") as table:
        for row in csv.DictReader(table):
            ours = [e for e in events if e.code == int(row["code"], 16)]
            assert ours, row["event"]
            for event in ours:
                if event.name != "CPU_OP_CYCLES_ALL":
                    have = (event.iar, event.dar, event.opc, event.max_increment)
                    assert [int(x) for x in have] == [int(x) for x in list(row.values())[2:]], event.name
