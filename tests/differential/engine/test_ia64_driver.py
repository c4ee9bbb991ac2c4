"""The driver: exact counts in every way of executing, stops, the stream's buffer (docs/dev/stream.md)."""

import threading
from random import Random

import pytest
from grids import each, sampled
from ia64_assembly import BREAK, CODE
from ia64_fuzz import Fuzz
from ia64_machine import DATA, FAULT, NOT_PRESENT, PAGE, STOP, UM_MFH, UM_MFL, Machine, executions

LOOP = ["loop:", "(p6) adds r8=1,r8", "cmp.eq p6,p7=r8,r9", "st8 [r6]=r8", "br.cond.sptk.few loop"]


def state(m: Machine | Fuzz) -> list[object]:
    """Everything that a program can see of its registers."""
    cpu = m.cpu
    names = ("bsp", "bspstore", "rnat", "ccv", "unat", "fpsr", "pfs", "lc", "ec", "csd")
    general = [(cpu.nat(n), cpu.nat(n) or cpu.gr(n)) for n in range(32 + (cpu.cfm & 0x7F))]
    floats = [cpu.fr_spill(n) for n in range(128)]
    branches = [cpu.br(n) for n in range(8)]
    return [cpu.ip, cpu.pr, cpu.cfm, cpu.um, *general, *floats, *branches, *(cpu.ar(name) for name in names)]


@each("limit", [1, 2, 13, 95, 96, 97, 1000, 50_000, 3_000_001])
def test_run_stops_at_the_first_block_boundary_with_so_many_retired(limit: int) -> None:
    m = Machine(LOOP).set({6: DATA})
    m.cpu.stop_when_retired(limit)
    assert m.run() == STOP
    assert limit <= m.cpu.retired < limit + 12
    assert m.retired() == m.cpu.retired
    assert m.run() == STOP
    assert m.retired() == m.cpu.retired


@pytest.mark.parametrize("limit", [1, 2, 50, 12345])
def test_blocks_of_one_instruction_stop_exactly(limit: int) -> None:
    m = Machine(LOOP, max_block=1).set({6: DATA})
    m.cpu.stop_when_retired(limit)
    m.run()
    assert m.cpu.retired == m.retired() == limit


@pytest.mark.parametrize("trace", [False, True])
def test_counts_are_exact_over_many_buffers(trace: bool) -> None:
    lines = ["loop:", "st8 [r6]=r8", "(p6) ld8 r9=[r6]", "br.cloop.sptk.few loop", BREAK]
    m = Machine(lines, trace=trace).set({6: DATA}, lc=199_999).until_break()
    assert m.cpu.retired == m.retired() == 200_000 * 9 + 1
    assert executions(m)[CODE] == 200_000


def test_request_from_another_thread_stops_an_endless_loop() -> None:
    m = Machine(["loop:", "br.cond.sptk.few loop"])
    timer = threading.Timer(0.05, m.cpu.request_stop)
    timer.start()
    assert m.run() == STOP
    timer.join()
    assert m.retired() == m.cpu.retired


def test_request_before_a_run_stops_it_at_once_and_only_once() -> None:
    m = Machine(["adds r8=1,r0", BREAK])
    m.cpu.request_stop()
    assert m.run() == STOP
    assert m.cpu.retired == 0
    m.until_break()


def test_step_leaves_no_stop_behind() -> None:
    m = Machine(["adds r8=1,r0", BREAK, "adds r8=2,r0", BREAK])
    while m.step() == STOP:
        pass
    m.until_break()
    assert m.cpu.gr(8) == 2


@each("place", [0, 1, 5, 40, 94, 95, 96])
@each("trace", [False, True])
def test_fault_in_a_block_counts_what_came_before(place: int, trace: bool) -> None:
    lines = ["st8 [r6]=r0" if n % 3 else "(p6) adds r8=1,r8" for n in range(place)]
    m = Machine([*lines, "ld8 r9=[r7]", BREAK], trace=trace).set({6: DATA, 7: DATA - 8}).until_fault(NOT_PRESENT)
    assert m.cpu.retired == m.retired() == 3 * place
    m.memory.map(DATA - PAGE, PAGE, 1)
    m.until_break()
    assert m.cpu.retired == m.retired() == 3 * place + 4


def test_failed_check_counts_itself_and_not_what_follows() -> None:
    lines = ["adds r8=1,r0", "chk.a.nc r9,away", "adds r8=2,r0", "adds r8=3,r0", BREAK, "away:", BREAK]
    m = Machine(lines).until_break()
    assert m.retired() == m.cpu.retired == 3 + 1 + 1
    assert m.cpu.gr(8) == 1


def test_written_floating_point_registers_show_in_the_user_mask() -> None:
    lines = [
        "loop:",
        "setf.sig f9=r0",
        "mov r8=psr.um",
        "setf.sig f40=r0",
        "mov r9=psr.um",
        "rum 0x30",
        "mov r10=psr.um",
    ]
    m = Machine([*lines, "br.cloop.sptk.few loop", BREAK]).set(lc=1).until_break()
    assert (m.cpu.gr(8) & UM_MFL, m.cpu.gr(9) & (UM_MFL | UM_MFH)) == (UM_MFL, UM_MFL | UM_MFH)
    assert m.cpu.gr(10) & UM_MFL == 0


def code(fuzz: Fuzz) -> list[bytes]:
    """What is in executable memory."""
    return [fuzz.memory.read(start, end - start) for start, end, rights in fuzz.memory.regions_map() if rights & 4]


@sampled(40)
@each("seed", [*range(12), *(pytest.param(n, marks=pytest.mark.slow) for n in range(100, 300))])
def test_random_program_is_the_same_in_blocks_and_instruction_by_instruction(seed: int) -> None:
    """Faults, failed checks, cut blocks, NaTs, calls, rotation: registers, memory and counts agree at every fault."""
    ways = [Fuzz(Random(seed)), Fuzz(Random(seed), max_block=1), Fuzz(Random(seed), max_block=5, trace=True)]
    for fuzz in ways:
        fuzz.new_program()
    written = code(ways[0])
    for _ in range(25):
        ends = []
        for fuzz in ways:
            fuzz.cpu.stop_when_retired(fuzz.cpu.retired + 3000)
            why = fuzz.cpu.run(fuzz.tally)
            if why == STOP:
                return  # at different boundaries
            ends.append((why, fuzz.cpu.fault if why == FAULT else 0, fuzz.cpu.retired, state(fuzz)))
        if any(code(fuzz) != written for fuzz in ways):
            return  # code that changes itself does so at the end of a block, and these differ
        for end in ends[1:]:
            assert end == ends[0]
        logs = [executions(fuzz) for fuzz in ways]
        assert logs[1] == logs[0]
        assert logs[2] == logs[0]
        for start, end, _ in ways[0].memory.regions_map():
            data = [fuzz.memory.read(start, end - start) for fuzz in ways]
            assert data[1] == data[0]
            assert data[2] == data[0]
        for fuzz in ways:
            fuzz.new_registers()
