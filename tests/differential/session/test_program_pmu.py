"""The PMU that a program has: what it counts between any two instructions, and where it overflows, against a log of the
program that knows nothing of counters."""

import struct
from functools import cache
from itertools import accumulate
from typing import Any

import perf_calls
import perfmon_calls as calls
import pytest
from driven_pmu import Driven
from example_counts import examples
from grids import diagonal, first_quick
from guests import guest, quiet
from hypothesis import given
from hypothesis import strategies as st
from instruction_log import SIGNALS, Step, logged_steps
from perf_calls import Perf, records
from perfmon_calls import NOTIFY, counter, debug_register, register

from pfmon.engine.linux import kernel
from pfmon.pmu import get
from pfmon.stream._stream import Recorder

PROGRAM = ("strings", "100")
EVENTS = {"IA64_INST_RETIRED": "inst_retired", "NOPS_RETIRED": "nops_retired", "LOADS_RETIRED": "loads_retired"}


@cache
def steps() -> list[Step]:
    """What the program does, instruction by instruction."""
    program, log = guest(PROGRAM[0], PROGRAM[1:], slow=True, trace=True), Recorder()
    with quiet():
        program.run(log)
    found = list(logged_steps(iter(log.words()), program))
    program.close()
    return found


@cache
def adds(event: str) -> list[int]:
    """What each instruction adds to an event."""
    return [SIGNALS[EVENTS[event]](step, lambda _: True) for step in steps()]


def programmed(event: str, **fields: int) -> tuple[int, bytes]:
    """A counter that counts an event, and the register that makes it."""
    (pmd,) = (made := get("itanium2").program([event])).counters
    return pmd, register(pmd, made.writes[f"pmc{pmd}"], **fields)


def instructions_retired() -> bytes:
    """PMC6, for IA64_INST_RETIRED."""
    return register(6, get("itanium2").program(["IA64_INST_RETIRED"]).writes["pmc4"] & 0xFFFF)


places_in_it = st.lists(st.integers(0, 4000), min_size=2, max_size=8, unique=True)


@pytest.mark.slow
@examples(40)
@given(places_in_it, st.sampled_from(sorted(EVENTS)), st.booleans())
def test_it_counts_between_any_two_instructions(places: list[int], event: str, machine: bool) -> None:
    wanted, is_on = 0, False
    with quiet(), Driven(*PROGRAM, machine=machine) as driven:
        perfmon = driven.perfmon
        fd = perfmon.create()
        pmd, item = programmed(event)
        assert perfmon.write_pmcs(fd, item) == perfmon.load(fd) == 0
        before = 0
        for place in sorted(places):
            driven.run_to(place)
            wanted += sum(adds(event)[before:place]) if is_on else 0
            before, is_on = place, not is_on
            assert perfmon.command(fd, calls.START if is_on else calls.STOP) == 0
            assert perfmon.read(fd, pmd) == [wanted]


@pytest.mark.slow
@examples(40)
@given(st.integers(1, 900), st.integers(0, 2000), st.sampled_from(sorted(EVENTS)))
def test_samples_are_of_the_instructions_that_overflow(period: int, first: int, event: str) -> None:
    with quiet(), Driven(*PROGRAM) as driven:
        perfmon = driven.perfmon
        fd = perfmon.create(size=1 << 16)
        buffer = perfmon.buffer()
        pmd, item = programmed(event, smpl=1 << 6)
        assert perfmon.write_pmcs(fd, item, instructions_retired()) == 0
        assert perfmon.write_pmds(fd, counter(pmd, period)) == perfmon.load(fd) == 0
        driven.run_to(first)
        assert perfmon.command(fd, calls.START) == 0
        driven.run_to(first + 5000)
        assert perfmon.command(fd, calls.STOP) == 0
        count, used = struct.unpack("<2Q", driven.memory.read(buffer, 16))
        data = driven.memory.read(buffer + 128, used - 128)
        got = [struct.unpack_from("<Q", data, 48 * n + 16)[0] for n in range(count)]
        instructions = [struct.unpack_from("<Q", data, 48 * n + 40)[0] for n in range(count)]
    wanted, total = [], 0
    for place, added in enumerate(adds(event)[first : first + 5000]):
        total += added
        if added and total >= period:
            wanted.append(place)
            total = 0
    room = 1 + (65536 - 128 - 552) // 48
    wanted = wanted[:room]
    assert got == [steps()[first + place].bundle | steps()[first + place].number for place in wanted]
    assert instructions == [place + 1 for place in wanted]


@pytest.mark.slow
@examples(30)
@given(st.integers(5, 1000), st.sampled_from(sorted(EVENTS)), st.booleans())
def test_a_notification_masks_at_its_instruction_and_comes_soon(period: int, event: str, machine: bool) -> None:
    with quiet(), Driven(*PROGRAM, machine=machine) as driven:
        perfmon = driven.perfmon
        fd = perfmon.create()
        pmd, item = programmed(event, flags=NOTIFY)
        assert perfmon.write_pmcs(fd, item, instructions_retired()) == 0
        assert perfmon.write_pmds(fd, counter(pmd, period), register(6)) == 0
        assert perfmon.load(fd) == perfmon.command(fd, calls.START) == 0
        place = next(place for place, total in enumerate(accumulate(adds(event)), 1) if total >= period)
        processor = driven.guest.processor
        while processor.retired < place:
            processor.stop_when_retired(driven.pmu.next_poll())
            processor.run(driven.pmu.consumer)
        # The end of the block of the overflow, at the latest 4096 instructions behind it.
        late = processor.retired - place
        assert 0 <= late <= (96 if event == "IA64_INST_RETIRED" else 4096 + 96)
        driven.run_to(processor.retired + 500)
        assert perfmon.read(fd, pmd, 6)[1] == place
        assert perfmon.message(fd) == (1, fd, 1 << pmd)


def wild_pmc(draw: Any) -> bytes:
    number = draw(st.sampled_from([*range(4, 16), *range(32, 43)]))
    value = draw(st.one_of(st.integers(0, (1 << 64) - 1), st.integers(0, (1 << 26) - 1)))
    flags = draw(st.sampled_from([0, 0, 0, 1, 2]))
    return register(number, value & ~(1 << 6), flags=flags, smpl=draw(st.sampled_from([0, 1 << 5, 0x1FF00])))


@diagonal
@pytest.mark.parametrize("machine", first_quick([False, True]))
@pytest.mark.parametrize("pmu", first_quick(["itanium", "itanium2", "montecito"]))
def test_whatever_is_written_counts_or_is_refused(pmu: str, machine: bool) -> None:
    outcomes = set()

    @examples(25)
    @given(st.data())
    def check(data: Any) -> None:
        with quiet(), Driven(*PROGRAM, pmu=pmu, machine=machine) as driven:
            perfmon = driven.perfmon
            fd = perfmon.create(size=data.draw(st.sampled_from([None, 4096])))
            for _ in range(data.draw(st.integers(1, 4))):
                perfmon.write_pmcs(fd, wild_pmc(data.draw))
                perfmon.write_pmds(fd, counter(data.draw(st.integers(0, 17)), data.draw(st.integers(1, 300))))
                item = debug_register(data.draw(st.integers(0, 8)), data.draw(st.integers(0, (1 << 64) - 1)))
                perfmon.command(fd, data.draw(st.sampled_from([calls.WRITE_IBRS, calls.WRITE_DBRS])), [item])
                outcomes.add(perfmon.load(fd))
                perfmon.command(fd, calls.START)
                driven.run_to(driven.guest.retired + data.draw(st.integers(1, 2000)), looks=True)
                perfmon.command(fd, data.draw(st.sampled_from([calls.RESTART, calls.STOP, calls.UNLOAD])))
                perfmon.command(fd, calls.READ_PMDS, [register(data.draw(st.integers(0, 20)))])
            driven.call("close", fd)

    check()
    assert 0 in outcomes


def raw(event: str) -> int:
    """The configuration of a raw event of perf."""
    found = get("itanium2").events[event]
    return found.code | found.umask << 8


@pytest.mark.slow
@examples(30)
@given(places_in_it, st.lists(st.sampled_from(sorted(EVENTS)), min_size=1, max_size=3, unique=True), st.booleans())
def test_perf_counts_between_any_two_instructions(places: list[int], events: list[str], machine: bool) -> None:
    with quiet(), Driven(*PROGRAM, machine=machine) as driven:
        perf, fds = Perf(driven), []
        for event in events:
            flags = perf_calls.EXCLUDE_KERNEL | (0 if fds else perf_calls.DISABLED)
            group = perf_calls.GROUP
            fds.append(perf.open(kind=perf_calls.RAW, config=raw(event), flags=flags, read_format=group,
                                 group=fds[0] if fds else -1))  # fmt: skip
        wanted, is_on, before = [0] * len(events), False, 0
        for place in sorted(places):
            driven.run_to(place)
            if is_on:
                wanted = [n + sum(adds(event)[before:place]) for n, event in zip(wanted, events, strict=True)]
            before, is_on = place, not is_on
            assert perf.ioctl(fds[0], perf_calls.ENABLE if is_on else perf_calls.DISABLE) == 0
            assert perf.words(fds[0]) == (len(events), *wanted)


@pytest.mark.slow
@examples(30)
@given(st.integers(1, 900), st.integers(0, 2000), st.sampled_from(sorted(EVENTS)))
def test_perf_samples_the_instructions_that_overflow(period: int, first: int, event: str) -> None:
    with quiet(), Driven(*PROGRAM) as driven:
        perf = Perf(driven)
        fd = perf.open(kind=perf_calls.RAW, config=raw(event), period=period, sample=1 | 4,
                       flags=perf_calls.EXCLUDE_KERNEL | perf_calls.DISABLED)  # fmt: skip
        ring = perf.map(fd, 8)
        driven.run_to(first)
        start = driven.process.clock.monotonic()
        assert perf.ioctl(fd, perf_calls.ENABLE) == 0
        driven.run_to(first + 5000)
        assert perf.ioctl(fd, perf_calls.DISABLE) == 0
        got = [record.words for record in records(driven.memory, ring)]
    wanted, total = [], 0
    for place, added in enumerate(adds(event)[first : first + 5000]):
        total += added
        if added and total >= period:
            wanted.append((steps()[first + place].bundle | steps()[first + place].number, start + place + 1))
            total = 0
    assert got == wanted[: 8 * 16384 // 24]


@diagonal
@pytest.mark.parametrize("machine", first_quick([False, True]))
@pytest.mark.parametrize("pmu", first_quick(["itanium", "itanium2", "montecito"]))
def test_whatever_perf_is_asked_for_counts_or_is_refused(pmu: str, machine: bool) -> None:
    outcomes = set()

    @examples(25)
    @given(st.data())
    def check(data: Any) -> None:
        with quiet(), Driven(*PROGRAM, pmu=pmu, machine=machine) as driven:
            perf = Perf(driven)
            for _ in range(data.draw(st.integers(1, 6))):
                kind = data.draw(st.sampled_from([perf_calls.HARDWARE, perf_calls.CACHE, perf_calls.RAW]))
                config = data.draw(st.one_of(st.sampled_from([1, 8]), st.integers(0, 0xFFF), st.integers(0, 0x7FFFF)))
                fd = perf.open(
                    kind=kind, config=config, period=data.draw(st.sampled_from([0, 0, 50])), sample=1,
                    group=data.draw(st.sampled_from([-1, -1, 3])),
                )  # fmt: skip
                outcomes.add(fd > 0)
                if fd > 0 and data.draw(st.booleans()):
                    perf.map(fd, 1)
                driven.run_to(driven.guest.retired + data.draw(st.integers(1, 2000)), looks=True)
                kernel.pending_signals(driven.process)
                if fd > 0 and data.draw(st.booleans()):
                    perf.words(fd)
                    driven.call("close", fd)

    check()
    assert True in outcomes
