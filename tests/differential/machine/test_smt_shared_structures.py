"""What two hardware threads share: who replaced what, and which TLB entries stay (Montecito manual 2.4.3)."""

import random

import pytest
from core_runs import assembled, examples
from grids import each, sampled
from machine_runs import run_machine

from pfmon.machine._machine import Machine, Occurrence, TagStore, ThreadSwitch, Tlb
from pfmon.machine.config.machine_config import load
from pfmon.machine.config.machine_figures import MachineFigures
from pfmon.session.coupled.coupled_run import SharedCore

THREAD_1 = 1 << 55
LINE = 64
PAGE = 16384


@sampled(6)
@each("policy", ["lru", "nru", "plru", "random"])
@each("seed", range(5))
def test_who_replaced_what_as_a_plain_model_has_it(policy: str, seed: int) -> None:
    """Random accesses of two threads to lines that do not fit: what came back because the other one had replaced it."""
    chance, switch = random.Random(seed), ThreadSwitch(load("montecito"))
    store = TagStore(4, 4, LINE.bit_length() - 1, policy)
    switch.account_evictions("l1d", store)
    held: set[int] = set()
    gone_by_other: set[int] = set()
    missed = [0, 0]
    for _ in range(20_000):
        thread = chance.random() < 0.5
        line = chance.randrange(30) | (THREAD_1 // LINE if thread else 0)
        store.use(line * LINE)
        now = {number for row in store.contents() for number in row if number is not None}
        if line not in held and line in gone_by_other:
            missed[thread] += 1
            gone_by_other.discard(line)
        for left in held - now:
            if (left >= THREAD_1 // LINE) != thread:
                gone_by_other.add(left)
        held = now
    assert min(missed) > 500
    assert [switch.evictions(one)["l1d"] for one in (0, 1)] == missed


def test_entries_of_the_data_tlb_are_reserved() -> None:
    """Section 2.4.3.1.2: "the L2D TLB will reserve 16 TLB entries for each thread"; other than that replacement does
    not consider threads."""
    tlb = Tlb(load("montecito"), "dtlb2", PAGE)
    tlb.reserve(16)
    for page in range(40):
        tlb.insert_entry(THREAD_1 + page * PAGE)
    for page in range(1000):
        tlb.insert_entry(page * PAGE)
    held = [number for row in tlb.store.contents() for number in row if number is not None]
    of_thread_1 = [number for number in held if number >= THREAD_1 // PAGE]
    assert len(held) == 128
    assert of_thread_1 == sorted(THREAD_1 // PAGE + page for page in range(24, 40))  # the latest ones


def test_without_another_thread_nothing_is_reserved() -> None:
    tlb = Tlb(load("montecito"), "dtlb2", PAGE)
    for page in range(300):
        tlb.insert_entry(page * PAGE)
    assert sorted(number for row in tlb.store.contents() for number in row if number is not None) == [*range(172, 300)]


def test_caches_ignore_threads() -> None:
    """Section 2.4.3.2: a thread's accesses replace the other's lines, if they do not fit side by side."""
    words = ["192", "60000"]  # KB of L2D's 256, each
    found = examples("chase", "chase", arguments=[words, words])
    cycles = found.core.cycles()
    alone = run_machine("chase", "montecito", arguments=words)
    for number, one in enumerate(found.threads):
        assert cycles[number].evicted["l2d"] > 1000
        assert one.cycles > alone.cycles


def test_small_programs_leave_each_other_alone() -> None:
    found = examples("fib", "noploop")
    for one in found.core.cycles():
        assert sum(one.evicted.values()) < 100


@pytest.mark.slow
@pytest.mark.parametrize("figures", [(), ("vhpt.page=4K",), ("vhpt.page=4K", "vhpt.format=long")])
def test_entries_of_the_vhpt_are_of_whose_translation_is_there(figures: tuple[str, ...]) -> None:
    """A thread keeps 16 entries of the second data TLB, which a small program does not exceed: what a large one beside
    it replaces is its own, entries for its pages of the VHPT included."""
    found = examples("noploop", "chase", figures, arguments=[["20000"], ["8192", "20000"]])
    small, large = found.core.cycles()
    assert small.evicted["dtlb2"] == 0 and large.evicted["dtlb2"] < 100
    assert times(found.threads[1], "L2DTLB_MISS") > 10_000


@pytest.mark.slow
def test_levels_of_a_thread_that_ends_early_are_over_its_own_cycles() -> None:
    """Queues are the core's: the thread that ends first completes their levels long before the other's last cycles."""
    found = examples("noploop", "chase", arguments=[["20000"], ["32768", "20000"]])
    for machine, cycles in zip(found.threads, found.core.cycles(), strict=True):
        of_level = [sum(histogram) for histogram in machine.levels().values()]
        assert 0.99 * max(of_level) < min(of_level)
        assert 0.95 * cycles.active < max(of_level) <= cycles.active


# --- threads of one program

LONG_CODE = ["adds r4=1,r4"] * 192  # 3 KB: less than a page of the first-level TLBs
READS = ["ld8 r4=[r20]"]


def one_program(figures: MachineFigures) -> SharedCore:
    return SharedCore(figures, same_program=True)


def times(machine: Machine, *names: str) -> int:
    """How often something happened."""
    wanted = {int(Occurrence[name]) for name in names}
    return sum(count for (_, _, what, _), count in machine.occurrences().items() if what in wanted)


def test_code_that_one_thread_fetched_is_there_for_the_other() -> None:
    """Section 2.4.3.1.1: T1's entry of the L1I TLB replaces T0's of the same page without causing an invalidation, and
    "the accesses performed by T0 become available to T1 with the exception of the initial T1 access"."""
    lines = len(LONG_CODE) * 16 // 64
    for kind, copies in ((one_program, 1), (SharedCore, 2)):
        threads = assembled([LONG_CODE, LONG_CODE], kind=kind).threads
        assert copies * lines <= sum(times(one, "L1I_FILL") for one in threads) <= copies * (lines + 2)
        assert all(times(one, "ITLB1_MISS") >= 1 for one in threads)
        assert not any(times(one, "L1I_PURGED") for one in threads)


def test_data_that_one_thread_read_is_in_l2_for_the_other_and_not_in_l1d() -> None:
    """Sections 2.4.3.1.2 and 2.4.3.2: L2 and L3 have physical addresses; L1D's names a thread's translation."""
    for kind, copies in ((one_program, 1), (SharedCore, 2)):
        threads = assembled([READS, READS], kind=kind).threads
        assert [times(one, "L1D_READ_MISS") for one in threads] == [1, 1]
        of_tables = sum(times(one, "HPW_READ") for one in threads)
        assert copies <= sum(times(one, "L2_MISS_SENT") for one in threads) <= copies + of_tables


def test_translations_are_each_threads_own() -> None:
    """Section 2.4.3.1.2: two threads cannot share the same TLB entry, even if the virtual address is the same."""
    threads = assembled([READS, READS], kind=one_program).threads
    assert [times(one, "L2DTLB_MISS") for one in threads] == [1, 1]
    # The walker reads the VHPT by a translation, which is each thread's own as well: the operating system helps both.
    assert [times(one, "DTLB_FILLED") for one in threads] == [1, 1]


def test_one_programs_memo_changes_nothing() -> None:
    body = ["ld8 r4=[r20]", "st8 [r21]=r4", "adds r5=1,r5"]
    code = ["addl r9=2999,r0", "mov.i ar.lc=r9", "loop:", *body, "br.cloop.sptk.few loop"]
    runs = [assembled([code, code], ["smt.quantum=1000"], memo, one_program) for memo in (True, False)]
    assert runs[0].core.cycles() == runs[1].core.cycles()
    for one, other in zip(runs[0].threads, runs[1].threads, strict=True):
        assert one.occurrences() == other.occurrences()
        assert sorted(map(str, one.bubbles())) == sorted(map(str, other.bubbles()))
