"""Stops at an instruction, reads of performance data: exact at the edge."""

from random import Random

import pytest
from grids import each
from ia64_assembly import BREAK
from ia64_fuzz import BUNDLES, Fuzz
from ia64_fuzz import CODE as FUZZ_CODE
from ia64_machine import DATA, STOP, UM_BE, Machine

from pfmon.engine.ia64._ia64 import PMD, Processor
from pfmon.stream._stream import Recorder

LOOP = ["loop:", "(p6) adds r8=1,r8", "cmp.eq p6,p7=r8,r9", "st8 [r6]=r8", "br.cond.sptk.few loop"]


def addresses(cpu: Processor, recorder: Recorder) -> list[int]:
    """Bundle | slot of every instruction that retired, in order."""
    code = {n: [i.address for i in cpu.block(n).instructions] for n in range(cpu.block_count())}
    return [address for word in recorder.words() if not word >> 63 for address in code[word & 0xFFFFFFFF]]


@each("seed", range(6))
def test_exact_stops_are_at_the_instruction_and_leave_everything_as_in_the_slow_path(seed: int) -> None:
    for count in (1, 2, 3, 7, 50, 95, 96, 97, 200, 1000):
        fast, slow = Machine(LOOP).set({6: DATA}), Machine(LOOP, max_block=1).set({6: DATA})
        fast.cpu.stop_exactly_at(count + seed)
        slow.cpu.stop_when_retired(count + seed)
        assert (fast.run(), slow.run()) == (STOP, STOP)
        assert fast.cpu.retired == fast.retired() == count + seed
        assert (fast.cpu.ip, fast.cpu.gr(8), fast.cpu.pr) == (slow.cpu.ip, slow.cpu.gr(8), slow.cpu.pr)


@pytest.mark.slow
@each("seed", range(60))
def test_random_programs_that_stop_often_do_what_they_do_undisturbed(seed: int) -> None:
    plain, stopped = Fuzz(Random(seed)), Fuzz(Random(seed))
    for fuzz in (plain, stopped):
        fuzz.new_program()
    code = plain.memory.read(FUZZ_CODE, 16 * BUNDLES)
    words, often = Recorder(), Recorder()
    pick = Random(seed)
    plain.cpu.stop_exactly_at(2000)
    end = plain.cpu.run(words)
    why, at = STOP, 0
    while why == STOP and at < 2000:
        at = min(2000, stopped.cpu.retired + pick.randrange(1, 40))
        stopped.cpu.stop_exactly_at(at)
        why = stopped.cpu.run(often)
        assert why != STOP or stopped.cpu.retired == at
    if plain.memory.read(FUZZ_CODE, 16 * BUNDLES) != code:
        return  # code that changes itself does so at the end of a block, and these differ
    assert (why, stopped.cpu.retired, stopped.cpu.ip) == (end, plain.cpu.retired, plain.cpu.ip)
    assert [stopped.cpu.gr(n) for n in range(128)] == [plain.cpu.gr(n) for n in range(128)]
    assert addresses(stopped.cpu, often) == addresses(plain.cpu, words)


@pytest.mark.parametrize("trace", [False, True])
def test_reads_of_performance_data_stop_before_the_instruction_until_answered(trace: bool) -> None:
    lines = ["adds r8=5,r0", "st8 [r6]=r8", "(p6) mov r9=pmd[r8]", "mov r10=pmd[r8]", "mov r11=pmd[r8]", BREAK]
    m = Machine(lines, trace=trace).set({6: DATA})
    m.cpu.set_secure(False)
    for retired in (9, 12):
        assert (m.run(), m.cpu.fault_info, m.cpu.retired) == (PMD, 5, retired)
        m.cpu.answer_pmd(1000 + retired)
    m.until_break()
    assert [m.cpu.gr(n) for n in (9, 10, 11)] == [0, 1009, 1012]
    assert m.retired() == m.cpu.retired == 15 + 1  # the slot before the break


def test_secure_programs_read_performance_data_as_zero() -> None:
    m = Machine(["mov r10=pmd[r8]", BREAK]).set({8: 4, 10: 77}, um=UM_BE).until_break()
    assert m.cpu.gr(10) == 0 and m.cpu.secure
