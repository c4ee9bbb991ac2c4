"""Montecito's two hardware threads: which has the core when (manual 2.4.1), against a plain model."""

import random
from itertools import pairwise

import pytest
from grids import each, sampled

from pfmon.machine._machine import SwitchCause, ThreadSwitch
from pfmon.machine.config.machine_config import load

QUANTUM, COST = 2000, 15
L3, TIMER, HINT = SwitchCause.BY_L3, SwitchCause.BY_TIMER, SwitchCause.BY_HINT
NEVER = 1 << 60


class PlainSwitch:
    """Section 2.4.1 as it is written, event by event, without a clock of its own."""

    def __init__(self) -> None:
        self.urgency, self.running, self.came = [5, 5], 0, 0
        self.events: list[tuple[int, int, int, str]] = []  # cycle, number, thread, what
        self.over, self.owes, self.numbers = QUANTUM, False, 0

    def l3_miss(self, found: int, back: int) -> None:
        for at, what in ((found, "miss"), (max(found, back), "return")):
            self.events.append((at, self.numbers, self.running, what))
            self.numbers += 1

    def worse(self) -> bool:
        return self.urgency[self.running] < self.urgency[1 - self.running]

    def decide(self, issued: int, issues: int) -> tuple[int, int] | None:
        """The switch before the next issue: its cycle and cause."""
        progressed = issued >= self.came + COST
        if self.owes and progressed:
            self.owes = False
            if self.worse():
                return issued, L3
        while True:
            event = min(self.events, default=(NEVER, 0, 0, ""))
            if min(event[0], self.over) >= issues:
                return None
            if event[0] <= self.over:
                self.events.remove(event)
                at, _, thread, what = event
                if what == "miss":
                    self.urgency[thread] = max(0, self.urgency[thread] - 1)
                elif self.urgency[thread] < 5:
                    self.urgency[thread] += 1
                if self.worse() and not self.owes:
                    if progressed:
                        return max(at, issued), L3
                    self.owes = True
                continue
            at, self.over = self.over, self.over + QUANTUM
            if progressed:
                if issues == at + 1:
                    self.urgency[self.running] = 7
                return max(at, issued), TIMER

    def hand_over(self, at: int) -> None:
        self.running, self.came, self.over, self.owes = 1 - self.running, at, at + QUANTUM, False


def switch(*figures: str) -> ThreadSwitch:
    return ThreadSwitch(load("montecito", [f"smt.quantum={QUANTUM}", *figures]))


@sampled(13)
@each("seed", range(60))
def test_random_events_as_a_plain_model_has_them(seed: int) -> None:
    """Misses, returns and time-outs at random; issues a few or many cycles after each other."""
    chance = random.Random(seed)
    real, plain = switch(), PlainSwitch()
    issued, switches = [0, 0], 0
    for _ in range(3000):
        own = plain.running
        issues = max(issued[own], plain.came + COST - 1) + chance.choice([1, 1, 1, 2, 5, 40, 300])
        for _ in range(chance.choice([0, 0, 0, 1, 3]) if len(plain.events) < 100 else 0):
            found = issued[own] + chance.randrange(1, 30)
            back = found + chance.choice([1, 150, 200, 400])
            real.l3_miss_at(found, back)
            plain.l3_miss(found, back)
        at, why, _, _ = real.decide_at(issued[own], issues)
        assert (at, why) == (plain.decide(issued[own], issues) or (-1, why))
        assert real.urgencies() == plain.urgency
        if at < 0:
            issued[own] = issues
            continue
        switches += 1
        plain.hand_over(at)
        assert real.hand_over_at(at) == plain.running
    assert switches > 200


def test_figure_2_2_the_thread_with_misses_under_way_waits() -> None:
    """An L3 miss costs a thread one of its urgency, and the core; the return gives the urgency back, and the core when
    the other one has missed meanwhile."""
    core = switch()
    assert core.urgencies() == [5, 5]
    core.l3_miss_at(100, 300)
    assert core.decide_at(90, 310) == (100, L3, 0, 0)
    assert core.urgencies() == [4, 5]
    assert core.hand_over_at(100) == 1
    assert core.decide_at(115, 116)[0] == -1
    core.l3_miss_at(200, 400)
    assert core.decide_at(190, 410)[0] == 300  # both have a miss: 4 and 4, until the first return
    assert core.urgencies() == [5, 4]
    assert core.hand_over_at(300) == 0
    assert core.decide_at(320, 401)[0] == -1
    assert core.urgencies() == [5, 5]  # nobody is better than the other


def test_several_misses_before_a_switch_count_each() -> None:
    """ "It is possible to have multiple requests from a thread miss the L3 cache before a thread switch occurs"."""
    core = switch()
    for found in (100, 101, 102):
        core.l3_miss_at(found, found + 200)
    assert core.decide_at(100, 300)[:2] == (100, L3)
    core.hand_over_at(100)
    core.decide_at(115, 200)
    assert core.urgencies() == [2, 5]


def test_urgency_ends_at_0_and_grows_to_5() -> None:
    core = switch()
    for found in range(20, 40):
        core.l3_miss_at(found, 500)
    core.decide_at(10, 21)
    core.hand_over_at(21)
    core.decide_at(36, 60)
    assert core.urgencies()[0] == 0
    core.decide_at(60, 501)
    assert core.urgencies() == [5, 5]


def test_external_interrupt_makes_the_background_thread_more_urgent_at_the_next_l3_event() -> None:
    """ "An external interrupt directed at the background thread will set the urgency for that thread to 6", which is
    compared "at every L3 event": a return of the foreground's own data then switches, too."""
    core = switch()
    core.interrupt_other()
    assert core.urgencies() == [5, 6]
    assert core.decide_at(10, 11)[0] == -1
    core.l3_miss_at(100, 300)
    assert core.decide_at(90, 101)[:2] == (100, L3)
    core.hand_over_at(100)
    core.interrupt_other()
    assert core.urgencies() == [6, 6]
    core.l3_miss_at(130, 131)
    core.decide_at(120, 140)
    assert core.urgencies()[1] == 5  # a miss takes one, and its return does not exceed 5


def test_policy_of_firmware_prefers_the_thread_that_asks() -> None:
    """PAL_SET_HW_POLICY: with the exclusive high-priority policy (3) only the thread that asked executes."""
    core = switch()
    core.set_policy_of_running(3)
    core.l3_miss_at(100, 300)
    assert core.decide_at(90, 310)[0] == -1
    core.set_policy_of_running(0)
    core.l3_miss_at(400, 600)
    core.l3_miss_at(401, 600)
    assert core.decide_at(390, 410)[:2] == (400, L3)


def test_a_time_out_switches_whatever_the_urgency_and_keeps_it_high_if_it_did_not_stall() -> None:
    for stalled, urgency in ((False, 7), (True, 5)):
        core = switch()
        assert core.decide_at(QUANTUM, QUANTUM + (90 if stalled else 1))[:2] == (QUANTUM, TIMER)
        assert core.urgencies() == [urgency, 5]


def test_a_pause_switches_when_its_group_has_issued() -> None:
    core = switch()
    core.pause_at(70)
    assert core.decide_at(70, 71)[:2] == (70, HINT)


def test_who_was_switched_in_retires_something_first() -> None:
    """Forward progress: a switch that is due before is held back, and is missed when its reason has gone."""
    core = switch()
    core.l3_miss_at(100, 105)
    core.hand_over_at(100)
    core.l3_miss_at(101, 103)  # of thread 1, which has not issued yet
    at, _, held_back, _ = core.decide_at(90, 104)
    assert (at, held_back) == (-1, 0)  # equal: both have missed
    core.l3_miss_at(104, 400)
    at, _, held_back, _ = core.decide_at(90, 115)
    assert (at, held_back) == (-1, 1)
    assert core.decide_at(115, 116)[:2] == (115, L3)


def test_a_switch_that_was_held_back_may_be_missed() -> None:
    core = switch()
    core.hand_over_at(100)
    core.l3_miss_at(104, 112)
    assert core.decide_at(90, 115) == (-1, L3, 1, 0)
    assert core.decide_at(115, 116) == (-1, L3, 0, 1)


def test_nobody_switches_to_who_has_ended() -> None:
    core = switch()
    core.end_other()
    core.l3_miss_at(100, 300)
    core.pause_at(50)
    assert core.decide_at(90, 100 * QUANTUM)[0] == -1


@pytest.mark.parametrize(
    ("policy", "priority", "switched"),
    [
        ("performance", 0, False),
        ("high-priority", 0, True),
        ("high-priority", 1, False),
        ("fairness", 0, True),  # thread 0 had 100 cycles of the core, thread 1 has had 150 by then
    ],
)
def test_policies_decide_between_equals(policy: str, priority: int, switched: bool) -> None:
    """PAL_SET_HW_POLICY: a tie goes to who has priority, or to who had less of the core."""
    core = switch(f"smt.policy={policy}", f"smt.priority={priority}")
    first = core.hand_over_at(0) if priority else 0  # thread 0 begins in any case
    core.l3_miss_at(100, 1000)
    assert core.decide_at(90, 101)[0] == 100
    assert core.hand_over_at(100) == 1 - first
    core.l3_miss_at(250, 1100)
    assert (core.decide_at(240, 251)[0] >= 0) == switched
    assert core.urgencies() == [4, 4]


def test_exclusive_priority_keeps_the_core() -> None:
    core = switch("smt.policy=exclusive", "smt.priority=0")
    core.l3_miss_at(100, 400)
    assert core.decide_at(90, 50 * QUANTUM)[0] == -1


def test_quanta_add_up() -> None:
    """Two threads that never miss take turns, a quantum each."""
    core, now, ends = switch(), 0, []
    for _ in range(10):
        at, why, _, _ = core.decide_at(now + COST + 5, now + QUANTUM + 1)
        assert why == TIMER
        core.hand_over_at(at)
        ends.append(at)
        now = at
    assert {second - first for first, second in pairwise(ends)} == {QUANTUM}
