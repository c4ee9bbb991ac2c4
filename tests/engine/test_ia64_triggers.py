"""Stops at an instruction, triggers of code and of data, reads of performance data: exact at the edge."""

from random import Random

import pytest
from ia64_assembly import BREAK, CODE
from ia64_fuzz import BUNDLES, Fuzz
from ia64_fuzz import CODE as FUZZ_CODE
from ia64_machine import DATA, STOP, UM_BE, Machine

from pfmon.engine.ia64.core.processor import PMD, Processor
from pfmon.stream.blocks import Cut
from pfmon.stream.marks import Mark
from pfmon.stream.recorder import Recorder

LOOP = ["loop:", "(p6) adds r8=1,r8", "cmp.eq p6,p7=r8,r9", "st8 [r6]=r8", "br.cond.sptk.few loop"]
# A store that walks through an array, and a load from a fixed place of it every round.
WALK = ["loop:", "st4 [r6]=r8,4", "(p6) ld8 r9=[r7]", "adds r8=1,r8", "br.cloop.sptk.few loop", BREAK]


def retired_at(cpu: Processor, recorder: Recorder, kind: int) -> list[tuple[int, int]]:
    """(instructions retired before it, value) of each mark of a kind in an untraced stream."""
    retired, found = 0, []
    lengths = {n: len(cpu.block(n).instructions) for n in range(cpu.block_count())}
    for word in recorder.words():
        if not word >> 63:
            retired += lengths[word & 0xFFFFFFFF]
        elif word >> 56 & 0x7F == kind:
            found.append((retired, word & 0xFFFFFFFF))
    return found


def addresses(cpu: Processor, recorder: Recorder) -> list[int]:
    """Bundle | slot of every instruction that retired, in order."""
    code = {n: [i.address for i in cpu.block(n).instructions] for n in range(cpu.block_count())}
    return [address for word in recorder.words() if not word >> 63 for address in code[word & 0xFFFFFFFF]]


@pytest.mark.parametrize("seed", range(6))
def test_exact_stops_are_at_the_instruction_and_leave_everything_as_in_the_slow_path(seed: int) -> None:
    for count in (1, 2, 3, 7, 50, 95, 96, 97, 200, 1000):
        fast, slow = Machine(LOOP).set({6: DATA}), Machine(LOOP, max_block=1).set({6: DATA})
        fast.cpu.stop_exactly_at(count + seed)
        slow.cpu.stop_when_retired(count + seed)
        assert (fast.run(), slow.run()) == (STOP, STOP)
        assert fast.cpu.retired == fast.retired() == count + seed
        assert (fast.cpu.ip, fast.cpu.gr(8), fast.cpu.pr) == (slow.cpu.ip, slow.cpu.gr(8), slow.cpu.pr)


@pytest.mark.parametrize("seed", range(60))
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


@pytest.mark.parametrize("max_block", [96, 1])
def test_code_triggers_are_marked_whenever_control_comes_there(max_block: int) -> None:
    m = Machine(WALK, max_block=max_block).set({6: DATA, 7: DATA}, lc=9)
    recorder = Recorder()
    # The second bundle is in the middle of what would be a block; a bundle has three instructions here.
    m.cpu.set_triggers([CODE + 16, CODE + 64])
    m.cpu.run(recorder)
    assert retired_at(m.cpu, recorder, Mark.TRIGGER) == [(3 + 12 * i, 0) for i in range(10)] + [(120, 1)]


def test_a_trigger_is_marked_once_when_execution_pauses_there() -> None:
    m = Machine(WALK).set({6: DATA, 7: DATA}, lc=9)
    recorder = Recorder()
    m.cpu.set_triggers([CODE])
    m.cpu.stop_exactly_at(12)
    assert m.cpu.run(recorder) == STOP
    m.cpu.stop_exactly_at(None)
    m.cpu.request_stop()
    assert m.cpu.run(recorder) == STOP
    m.cpu.run(recorder)
    assert [at for at, _ in retired_at(m.cpu, recorder, Mark.TRIGGER)] == [12 * i for i in range(10)]


def test_a_trigger_at_a_break_is_marked_though_nothing_retires_there() -> None:
    m = Machine(["adds r8=1,r8", "break.m 0"])
    recorder = Recorder()
    m.cpu.set_triggers([CODE + 16])
    m.cpu.run(recorder)
    assert retired_at(m.cpu, recorder, Mark.TRIGGER) == [(3, 0)]


@pytest.mark.parametrize("max_block", [96, 1])
@pytest.mark.parametrize(("reads", "writes"), [(True, True), (True, False), (False, True)])
def test_data_triggers_are_marked_before_the_access(reads: bool, writes: bool, max_block: int) -> None:
    m = Machine(WALK, max_block=max_block).set({6: DATA, 7: DATA + 8}, lc=9, pr=1 | 1 << 6)
    recorder = Recorder()
    m.cpu.set_triggers([], [(DATA + 15, reads, writes), (DATA + 16, reads, writes)])
    m.cpu.run(recorder)
    # ld8 of bytes 8 to 15 in the second bundle, every round; st4 reaches byte 15 in round 3, byte 16 in round 4.
    loads = [(12 * i + 3, 0) for i in range(10)] if reads else []
    stores = [(12 * 3, 0), (12 * 4, 1)] if writes else []
    assert retired_at(m.cpu, recorder, Mark.TRIGGER) == sorted(loads + stores)
    assert m.cpu.retired == 120 + 1 and m.word(DATA + 12, 4) == 3
    cuts = {m.cpu.block(n).cut for n in range(m.cpu.block_count())}
    assert (Cut.EDGE in cuts) == (reads and max_block > 1)  # the store is the first of its block


def test_an_access_that_touches_several_triggers_marks_all() -> None:
    m = Machine(["st8 [r6]=r0", BREAK]).set({6: DATA})
    recorder = Recorder()
    m.cpu.set_triggers([CODE + 16], [(DATA + 7, True, True), (DATA + 8, True, True), (DATA, True, True)])
    m.cpu.run(recorder)
    assert retired_at(m.cpu, recorder, Mark.TRIGGER) == [(0, 1), (0, 3), (3, 0)]


def test_predicated_off_and_check_loads_without_access_touch_nothing() -> None:
    lines = ["(p6) ld8 r9=[r7]", "ld8.a r10=[r7]", "ld8.c.nc r10=[r7]", "st8 [r7]=r0", "ld8.c.nc r10=[r7]", BREAK]
    m = Machine(lines).set({7: DATA})
    recorder = Recorder()
    m.cpu.set_triggers([], [(DATA, True, False)])
    m.cpu.run(recorder)
    # ld8.a, and the check load behind the store, which removed its ALAT entry.
    assert retired_at(m.cpu, recorder, Mark.TRIGGER) == [(3, 0), (12, 0)]


def test_triggers_beyond_what_there_is_room_for_are_refused() -> None:
    with pytest.raises(ValueError, match="16 triggers"):
        Machine([BREAK]).cpu.set_triggers([CODE] * 17)


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
