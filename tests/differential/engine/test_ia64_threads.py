"""Threads of IA-64 programs: what they do together is right under every schedule, and repeats."""

import struct
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from grids import few
from ia64_program import DATA, TEXT, write_program
from ia64_tasks import (
    FUTEX_WAIT,
    FUTEX_WAKE,
    THREAD,
    Data,
    add_one,
    call,
    counting,
    meeting,
    number,
    threads,
)

import pfmon

EVENT = "ia64_inst_retired"


def run(path: Path, **options: object) -> pfmon.Run:
    return pfmon.run(path, capture=True, events=EVENT, **options)


@pytest.mark.parametrize("seed", range(4))
def test_a_mutex_keeps_increments_apart_under_every_schedule(tmp_path: Path, seed: int) -> None:
    path, wanted = counting(tmp_path / "counting", 8, 40)
    done = run(path, quantum=37, schedule_seed=seed)
    assert (done.status, number(done.output)) == (0, wanted)


def test_without_the_mutex_increments_are_lost(tmp_path: Path) -> None:
    """The schedule really lets threads in between a load and its store."""
    data = Data()
    word = data.add("word", bytes(8))
    worker = ["addl r5=200,r0", "again:", *add_one(word), "adds r5=-1,r5", "cmp.eq p6,p7=r5,r0"]
    path = threads(tmp_path / "lost", 4, [*worker, "(p7) br.cond.sptk.few again"], word, data)
    found = {number(run(path, quantum=37, schedule_seed=seed).output) for seed in range(5)}
    assert max(found) < 800 and len(found) > 1
    assert number(run(path, quantum=1 << 30).output) == 800  # nobody comes in between


@pytest.mark.parametrize("seed", range(4))
def test_a_barrier_lets_nobody_through_before_all_have_come(tmp_path: Path, seed: int) -> None:
    path, wanted = meeting(tmp_path / "meeting", 7, 12)
    done = run(path, quantum=53, schedule_seed=seed)
    assert (done.status, number(done.output)) == (0, wanted)


@pytest.mark.slow
@pytest.mark.parametrize("schedules", few([30, 100], 1))
def test_64_threads_under_many_schedules(schedules: int, tmp_path: Path) -> None:
    for make in (counting, meeting):
        path, wanted = make(tmp_path / make.__name__, 64, 5)
        seen = set()
        for seed in range(schedules):
            done = run(path, quantum=60, schedule_seed=seed)
            assert (done.status, number(done.output)) == (0, wanted), (make.__name__, seed)
            seen.add(done.retired)
        assert len(seen) > 10  # the schedules differ


@pytest.mark.parametrize("seed", [0, 3])
def test_counts_repeat_and_threads_add_up(tmp_path: Path, seed: int) -> None:
    path, _ = counting(tmp_path / "counting", 5, 30)
    names = "ia64_inst_retired,cpu_cycles,l1d_read_misses_all"
    options = {"quantum": 41, "schedule_seed": seed, "events": names, "capture": True}
    plain = [[one.value for one in pfmon.run(path, **options).counts] for _ in range(2)]
    apart = pfmon.run(path, per_thread=True, **options)
    assert plain[0] == plain[1] == [one.value for one in apart.counts]
    assert apart.threads is not None and [one.place for one in apart.threads] == list(range(6))
    sums = [sum(column) for column in zip(*([c.value for c in one.counts] for one in apart.threads), strict=True)]
    assert sums == plain[0]
    assert sum(one.retired for one in apart.threads) == apart.retired


@pytest.mark.slow
@pytest.mark.parametrize("trigger", [{}, {"trigger_code_start_addresses": f"{TEXT + 16 * 60:#x}"}])
def test_samples_say_which_thread_ran(tmp_path: Path, trigger: dict[str, str]) -> None:
    """With a sample an instruction each thread has as many as it counts, behind a trigger too; replays the same."""
    path, _ = counting(tmp_path / "counting", 3, 10)
    schedule = {"quantum": 41, "schedule_seed": 5, "stdout": pfmon.DEVNULL}
    sampling = {"events": EVENT, "long_smpl_periods": 1, **trigger}
    apart = pfmon.run(path, per_thread=True, events=EVENT, **trigger, **schedule)
    sampled = pfmon.run(path, **sampling, **schedule)
    assert apart.threads is not None
    assert Counter(one.thread for one in sampled.samples) == {
        1000 + one.place: one.counts[0].value for one in apart.threads
    }
    recording = str(tmp_path / "recording")
    pfmon.record(recording, path, **schedule)
    assert pfmon.replay(recording, **sampling).samples == sampled.samples


def test_each_thread_counts_its_own_instructions(tmp_path: Path) -> None:
    """Thread n executes a loop of three bundles, nine instructions with its nops, n + 1 times; the rest is the same."""
    data = Data()
    word = data.add("word", bytes(8))
    worker = ["adds r5=1,r4", "again:", "adds r5=-1,r5", "cmp.eq p6,p7=r5,r0", "(p7) br.cond.sptk.few again"]
    done = run(threads(tmp_path / "own", 4, worker, word, data), per_thread=True)
    assert done.threads is not None
    retired = [one.retired for one in done.threads[1:]]
    assert [after - before for before, after in pairwise(retired)] == [9, 9, 9]


def test_the_registers_of_threads_are_their_own(tmp_path: Path) -> None:
    """Floating-point registers, predicates, branch registers and ar.lc, across turns of a few instructions."""
    data = Data()
    word = data.add("word", bytes(8))
    keep = [
        "adds r5=100,r4",
        "setf.sig f40=r5",
        "setf.sig f5=r5",
        "mov b3=r5",
        "mov.i ar.lc=r5",
        "addl r6=60,r0",
        "again:",
        *["nop.m 0"] * 5,
        "adds r6=-1,r6",
        "cmp.eq p6,p7=r6,r0",
        "(p7) br.cond.sptk.few again",
        "getf.sig r16=f40",
        "getf.sig r17=f5",
        "mov r18=b3",
        "mov.i r19=ar.lc",
        "add r16=r16,r17",
        "add r16=r16,r18",
        "add r16=r16,r19",
        "add r17=r5,r5",
        "add r17=r17,r17",
        "cmp.eq p6,p7=r16,r17",
        f"movl r16={word}",
        "(p6) fetchadd8.acq r17=[r16],1",
    ]
    path = threads(tmp_path / "registers", 6, keep, word, data)
    assert [number(run(path, quantum=17, schedule_seed=seed).output) for seed in range(3)] == [6, 6, 6]


def test_a_deadlock_is_said(tmp_path: Path) -> None:
    data = Data()
    word = data.add("word", bytes(8))
    path = threads(tmp_path / "stuck", 2, call("futex", word, FUTEX_WAIT, 0, 0), word, data)
    done = run(path)
    assert done.death is not None and (done.death.signal, done.status) == (9, 137)
    (said,) = [note for note in done.notes if "deadlock" in note]
    assert all(f"thread {tid} waits for the futex at" in said for tid in (1000, 1001, 1002))


def test_a_timed_wait_ends_while_others_run(tmp_path: Path) -> None:
    """A thread waits for 50 microseconds; another one executes 200,000 instructions meanwhile."""
    data = Data()
    word, time = data.add("word", bytes(8)), data.add("time", struct.pack("<2q", 0, 50_000))
    worker = [
        "cmp.eq p6,p7=r4,r0",
        "(p7) br.cond.sptk.few busy",
        *call("futex", word, FUTEX_WAIT, 0, time),
        "sub r8=r0,r8",
        "sub r8=r0,r8",
        f"movl r16={word}",
        "st8 [r16]=r8",
        *call("exit", 0),
        "busy:",
        "movl r5=20000",
        "more:",
        "adds r5=-1,r5",
        "cmp.eq p6,p7=r5,r0",
        "(p7) br.cond.sptk.few more",
    ]
    done = run(threads(tmp_path / "timed", 2, worker, word, data), quantum=1000)
    assert (done.status, number(done.output)) == (0, 110)  # ETIMEDOUT


def test_who_waits_is_woken_in_order(tmp_path: Path) -> None:
    """FUTEX_WAKE says how many it woke: of three threads that wait, two and then the last one."""
    data = Data()
    word, woken = data.add("word", bytes(8)), data.add("woken", bytes(8))
    worker = [
        "addl r16=3,r0",
        "cmp.eq p6,p7=r4,r16",
        "(p7) br.cond.sptk.few waits",
        *call("nanosleep", data.add("time", struct.pack("<2q", 0, 9_000)), 0),
        *call("futex", word, FUTEX_WAKE, 2),
        "adds r5=0,r8",
        *call("futex", word, FUTEX_WAKE, 2),
        "shl r5=r5,4",
        "add r5=r5,r8",
        f"movl r16={woken}",
        "st8 [r16]=r5",
        *call("exit", 0),
        "waits:",
        *call("futex", word, FUTEX_WAIT, 0, 0),
    ]
    done = run(threads(tmp_path / "woken", 4, worker, woken, data))
    assert (done.status, number(done.output)) == (0, 0x21)


def test_one_thread_runs_as_before(tmp_path: Path) -> None:
    """The quantum says nothing to a program with one thread."""
    path, _ = counting(tmp_path / "one", 0, 1)
    assert len({run(path, quantum=quantum).retired for quantum in (1, 100, 1 << 30)}) == 1


def test_clone_refuses_what_is_no_whole_thread(tmp_path: Path) -> None:
    lines = [*call("clone2", THREAD & ~0x800, 0, 0, 0, 0, 0), "adds r4=0,r8", *call("exit_group", "r4")]
    assert run(write_program(tmp_path / "half", lines)).status == 22
    wild = [*call("futex", DATA + 2, FUTEX_WAKE, 1), "adds r4=0,r8", *call("exit_group", "r4")]
    assert run(write_program(tmp_path / "wild", wild, bytes(16))).status == 22


def test_the_user_mask_is_each_threads_own(tmp_path: Path) -> None:
    """One of two threads has PSR.up off while it runs a loop: only the other's is counted, under any schedule."""
    data = Data()
    word = data.add("word", bytes(8))
    loop = ["addl r5=500,r0", "again:", *["nop.m 0"] * 40, "adds r5=-1,r5", "cmp.eq p6,p7=r5,r0"]
    worker = ["cmp.eq p6,p7=r4,r0", "(p6) rum 4", *loop, "(p7) br.cond.sptk.few again"]
    path = threads(tmp_path / "masks", 2, worker, word, data)
    counts = set()
    for seed in range(4):
        done = run(path, quantum=300, schedule_seed=seed, insecure=True, per_thread=True)
        assert done.threads is not None
        _, off, on = (one.counts[0].value for one in done.threads)
        assert off is not None and on is not None and off < 50 and on > 500 * 43 * 3
        counts.add(on)
    assert len(counts) == 1
