"""Event address registers and trace buffers of a whole processor's code capture at the privileges that their own
configuration registers select, whatever the counters do (Montecito manual tables 3-15, 3-20, 3-26 and 3-30)."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from played_system import PlayedSystem, changing, kind_of, played

from pfmon.machine.config.machine_config import load
from pfmon.pmu import get
from pfmon.pmu.capture.capture_values import CaptureRegisters
from pfmon.pmu.model.request import IpEarRequest
from pfmon.session.run.system_pmu import SystemPmu
from pfmon.stream._stream import Mark

PROGRAM = ("chase", "64", "500")
STEP = 40
"""Instructions between two reads."""
PLM, PP = 0b0001, 8


class Read(NamedTuple):
    """What the PMDs hold after a step, and the bundles that have run at captured privileges so far."""

    pmds: dict[int, int]
    captured: set[int]


def reads(event: str, pmds: tuple[int, ...], ip_ear: IpEarRequest | None = None) -> Iterator[Read]:
    """Program a capture at level 0 with PSR.pp, with its counter at all levels, and read it now and then."""
    code, model = played(*PROGRAM), get("montecito")
    engine = PlayedSystem(code, changing(code, "captures"))
    at = list(engine.step_privileges())
    monitored = SystemPmu(model, engine, load("montecito"))
    writes = model.program([event], plm=PLM, system_wide=True, ip_ear=ip_ear).writes
    bundles = [one.address & ~15 for run in code.runs for one in code.blocks[run.block].instructions]
    with monitored.running:
        for name, value in writes.items():
            monitored.access("write_pmc", int(name[3:]), value | 15 if name == "pmc4" else value)
        captured: set[int] = set()
        while not engine.over:
            monitored.next_stop()
            before = engine.retired
            engine.play(monitored.consumer, engine.retired + STEP)
            for number in range(before, engine.retired):
                wanted = bool(PLM >> (at[number] & 3) & 1 and at[number] & PP)
                if wanted:
                    captured.add(bundles[number])
            values = {number: monitored.access("read_pmd", number) for number in pmds}
            yield Read(values, set(captured))
    monitored.finish()


@pytest.mark.slow
def test_data_ear_captures_loads_at_its_level() -> None:
    found = set()
    for read in reads("DATA_EAR_CACHE_LAT4", (36,)):
        if read.pmds[36]:
            # The first bundle of a window of two (iaddr), and whether it was the second one (bn).
            bundle = (read.pmds[36] >> 4 << 4) + 16 * (read.pmds[36] >> 2 & 1)
            assert bundle in read.captured
            found.add(bundle)
    assert found


@pytest.mark.slow
def test_the_trace_buffer_captures_branches_at_its_level() -> None:
    sources = 0
    for read in reads("ETB_EVENT", (38, 39, *range(48, 64))):
        for number in range(48, 64):
            entry = read.pmds[number]
            extension = read.pmds[39] >> 8 * (number - 48 & 7) + 4 * (number >= 56) & 15
            if entry & 1:  # b: a source
                sources += 1
                assert (entry >> 4 << 4) + 16 * (extension & 1) in read.captured
    assert sources


@pytest.mark.slow
def test_the_ip_ear_has_only_addresses_of_its_level() -> None:
    entries = early = 0
    for read in reads("IA64_INST_RETIRED", (38, 39, *range(48, 64)), IpEarRequest(0)):
        held = range(16) if read.pmds[38] >> 5 & 1 else range(read.pmds[38] & 15)
        for number in held:
            if read.pmds[39] >> 8 * (number & 7) + 4 * (number >= 8) & 1:
                early += 1  # the PSR disabled it: the entry has no whole address
                continue
            entries += 1
            assert (read.pmds[48 + number] & (1 << 60) - 1) << 4 & (1 << 64) - 1 in read.captured
    assert entries and early


@pytest.mark.parametrize(("name", "pmc"), [("DATA_EAR_CACHE_LAT4", 40), ("ETB_EVENT", 39), ("L1I_EAR_CACHE_LAT0", 37)])
def test_nothing_is_captured_without_a_level(name: str, pmc: int) -> None:
    code, model = played(*PROGRAM), get("montecito")
    counts = []
    for plm in (1, 15, 2, 0):
        engine = PlayedSystem(code, [PP | level for level in (0, 3) for _ in range(len(code.runs) // 2 + 1)])
        engine.privileges = engine.privileges[: len(code.runs)]
        monitored = SystemPmu(model, engine, load("montecito"))
        with monitored.running:
            for register, value in model.program([name], plm=15, system_wide=True).writes.items():
                is_capture = register == f"pmc{pmc}"
                monitored.access("write_pmc", int(register[3:]), value & ~15 | plm if is_capture else value)
            monitored.next_stop()
            engine.play(monitored.consumer)
        counts.append(monitored.access("read_pmd", 4))
        monitored.finish()
    assert counts[1] >= counts[0] > 0 == counts[2] == counts[3]


TRACE = range(48, 64)


def captured(name: str, pmu: str = "montecito") -> tuple[PlayedSystem, SystemPmu]:
    """Code at level 0 that has run for a while, with a capture."""
    code = played(*PROGRAM)
    engine = PlayedSystem(code, [PP] * len(code.runs))
    monitored = SystemPmu(get(pmu), engine, load(pmu))
    for register, value in get(pmu).program([name], plm=PLM, system_wide=True).writes.items():
        monitored.access("write_pmc", int(register[3:]), value)
    monitored.next_stop()
    engine.play(monitored.consumer, 1500)
    return engine, monitored


def test_what_was_captured_stays_when_a_counter_is_written() -> None:
    """A handler reads it when it has programmed the counter anew."""
    for name, pmds in (("DATA_EAR_CACHE_LAT4", (32, 33, 36)), ("L1I_EAR_CACHE_LAT0", (34, 35)), ("ETB_EVENT", TRACE)):
        engine, monitored = captured(name)
        with monitored.running:
            before = [monitored.access("read_pmd", number) for number in pmds]
            monitored.access("write_pmc", 0, 1)
            monitored.access("write_pmc", 4, 0)
            monitored.access("write_pmc", 5, 0x02000841)
            monitored.next_stop()
            engine.play(monitored.consumer, 1700)
            assert [monitored.access("read_pmd", number) for number in pmds] == before and any(before)
        monitored.finish()


def test_code_writes_the_index_of_the_trace_buffer() -> None:
    engine, monitored = captured("ETB_EVENT")
    with monitored.running:
        for number in TRACE:
            monitored.access("write_pmd", number, 0)
        monitored.access("write_pmd", 39, 0)
        monitored.access("write_pmd", 38, 14)
        assert monitored.access("read_pmd", 38) == 14
        monitored.next_stop()
        while monitored.access("read_pmd", 38) == 14:
            engine.play(monitored.consumer, engine.retired + 1)
        assert monitored.access("read_pmd", 62) and not monitored.access("read_pmd", 48)
        assert [monitored.access("read_pmd", number) for number in range(50, 62)] == [0] * 12
        engine.play(monitored.consumer, engine.retired + 400)
        assert monitored.access("read_pmd", 38) >> 5 & 1 and monitored.access("read_pmd", 50)
    monitored.finish()


def test_code_clears_an_event_address_register() -> None:
    engine, monitored = captured("DATA_EAR_CACHE_LAT4")
    with monitored.running:
        assert monitored.access("read_pmd", 36)
        monitored.access("write_pmc", 0, 1)
        monitored.access("write_pmd", 36, 0)
        monitored.next_stop()
        engine.play(monitored.consumer, 1700)
        assert monitored.access("read_pmd", 36) == 0
        monitored.access("write_pmc", 0, 0)
        monitored.next_stop()
        engine.play(monitored.consumer, 2500)
        assert monitored.access("read_pmd", 36)
    monitored.finish()


@pytest.mark.parametrize(
    ("pmu", "event"), [("itanium", "BRANCH_EVENT"), ("itanium2", "BRANCH_EVENT"), ("montecito", "ETB_EVENT")]
)
def test_a_trace_is_read_back_from_its_registers(pmu: str, event: str) -> None:
    _, monitored = captured(event, pmu)
    with monitored.running:
        units = get(pmu).target.captures
        assert units
        values = {number: monitored.access("read_pmd", number) for number in units.branches.data}
        made = CaptureRegisters(get(pmu))
        assert {number: values[number] for number in made.trace(made.trace_in(values))} == made.trace(
            made.trace_in(values)
        )
    monitored.finish()


@pytest.mark.slow
def test_an_interruption_is_captured_with_its_handler() -> None:
    """From the instruction that was interrupted to the first of the handler (Montecito manual section 3.3.10.1)."""
    code = played(*PROGRAM)
    marks = [[kind_of(mark) for mark in run.marks] for run in code.runs[:-1]]
    interrupted = [place for place, kinds in enumerate(marks) if Mark.INTERRUPTION in kinds]
    found = 0
    for place in interrupted[:20]:
        engine = PlayedSystem(code, [PP] * len(code.runs))
        monitored = SystemPmu(get("montecito"), engine, load("montecito"))
        lengths = [len(code.blocks[run.block].instructions) for run in code.runs]
        with monitored.running:
            for register, value in get("montecito").program(["ETB_EVENT"], plm=15, system_wide=True).writes.items():
                monitored.access("write_pmc", int(register[3:]), value)
            monitored.next_stop()
            engine.play(monitored.consumer, sum(lengths[: place + 2]))
            last = code.blocks[code.runs[place].block]
            source = (last.instructions[-1].address & ~15) + 16 * (last.instructions[-1].address & 3 == 2)
            handler = code.blocks[code.runs[place + 1].block].ip & ~15
            entries = [monitored.access("read_pmd", number) for number in TRACE]
        monitored.finish()
        addresses = [entry >> 4 << 4 for entry in entries]
        pairs = zip(addresses, addresses[1:] + addresses[:1], strict=True)
        found += any(target == handler and first in (source, source - 16) for first, target in pairs)
    assert found == len(interrupted[:20]) > 0
