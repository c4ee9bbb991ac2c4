"""The clock of a system by its machine's cycles: of each instruction the cycles are known."""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from pfmon.engine.ia64.system.system_clock import PIECES, SystemClock

FAR = 10**6


class Timed:
    """Instruction n takes ``costs[n]`` cycles; the timer matches at cycle ``match``. As SystemProcessor."""

    def __init__(self, costs: Sequence[int], match: int) -> None:
        self.ends = [0, *accumulate(costs)]
        self.retired = self.passed = self.answered = 0
        self.left: int | None = match
        self.matched_at: int | None = None
        self.interrupt_due = False
        self.pmu_access = ("use_clock", 0, 0)
        self.clock = SystemClock(self, self.ends.__getitem__)  # type: ignore[arg-type]

    @property
    def ip(self) -> int:
        return self.retired

    @property
    def next_timer(self) -> int | None:
        return None if self.left is None else self.retired + self.left

    def use_external_clock(self) -> None:
        self.external = True

    def pass_time(self, cycles: int) -> None:
        assert cycles >= 0
        self.passed += cycles
        if self.left is not None:
            self.left -= cycles
            if self.left <= 0:
                self.left, self.matched_at = None, self.retired

    def answer_pmd(self, value: int) -> None:
        self.answered += 1

    def run(self, to: int) -> None:
        while self.retired < to and self.matched_at is None:
            stop = self.clock.next_stop()
            self.retired = min(to, FAR if stop is None else stop)
            self.clock.returned()


@given(st.lists(st.integers(0, PIECES), min_size=50, max_size=400), st.integers(1, 2000))
def test_the_timer_matches_at_the_first_boundary_at_which_its_cycles_have_passed(costs: list[int], match: int) -> None:
    processor = Timed(costs, match)
    processor.clock.read()
    processor.run(len(costs))
    first = bisect_left(processor.ends, match)
    assert processor.matched_at == (first if first <= len(costs) else None)


@given(st.lists(st.integers(0, 300), min_size=50, max_size=400), st.integers(1, 20000))
def test_a_match_is_never_early_and_found_at_the_next_stop(costs: list[int], match: int) -> None:
    processor = Timed(costs, match)
    processor.clock.read()
    processor.run(len(costs))
    if processor.matched_at is not None:
        first = bisect_left(processor.ends, match)
        assert first <= processor.matched_at <= first + max(1, match // PIECES)


def test_itc_has_the_cycles_until_the_instruction_that_reads_it() -> None:
    processor = Timed([3, 5, 7, 11], FAR)
    processor.retired = 3
    processor.clock.access()
    assert (processor.passed, processor.clock.cycles, processor.answered) == (15, 15, 1)


def test_the_processor_stops_behind_a_write_to_look_at_the_new_match() -> None:
    processor = Timed([1] * 100, FAR)
    processor.left = None
    processor.pmu_access = ("use_clock", 0, 1)
    processor.clock.access()
    assert processor.clock.next_stop() == 1
    processor.left = 32
    processor.retired = 1
    processor.clock.returned()
    assert processor.clock.next_stop() == 1 + 31 // PIECES


def test_an_access_waits_for_an_interrupt_that_comes_before_it() -> None:
    processor = Timed([1] * 100, 5)
    processor.retired, processor.interrupt_due = 10, True
    processor.clock.access()
    assert (processor.matched_at, processor.answered) == (10, 0)
