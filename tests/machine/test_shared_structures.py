"""What two hardware threads share: who replaced what, and which TLB entries stay (Montecito manual 2.4.3)."""

import random

import pytest
from core_runs import examples
from machine_runs import run_machine

from pfmon.machine.config import load
from pfmon.machine.tags import TagStore
from pfmon.machine.thread_switch import ThreadSwitch
from pfmon.machine.tlb import Tlb

THREAD_1 = 1 << 55
LINE = 64
PAGE = 16384


@pytest.mark.parametrize("policy", ["lru", "nru", "plru", "random"])
@pytest.mark.parametrize("seed", range(5))
def test_who_replaced_what_as_a_plain_model_has_it(policy: str, seed: int) -> None:
    """Random accesses of two threads to lines that do not fit: what came back because the other one had replaced it."""
    chance, switch = random.Random(seed), ThreadSwitch(load("montecito"))
    store = TagStore(4, 4, LINE.bit_length() - 1, policy)
    switch.watch_evictions("l1d", store)
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
        tlb.bring(THREAD_1 + page * PAGE)
    for page in range(1000):
        tlb.bring(page * PAGE)
    held = [number for row in tlb.store.contents() for number in row if number is not None]
    of_thread_1 = [number for number in held if number >= THREAD_1 // PAGE]
    assert len(held) == 128
    assert of_thread_1 == sorted(THREAD_1 // PAGE + page for page in range(24, 40))  # the latest ones


def test_without_another_thread_nothing_is_reserved() -> None:
    tlb = Tlb(load("montecito"), "dtlb2", PAGE)
    for page in range(300):
        tlb.bring(page * PAGE)
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
