"""Every figure of the front end changes something: what random fetches take, or what random branches cost."""

import random
from collections import Counter
from functools import cache

import pytest
from grids import each

from pfmon.machine._machine import L2, InstructionFetch, branch_predictor
from pfmon.machine.config.machine_config import load

FETCH = [
    "l1i.size=16K", "l1i.ways=2", "l1i.line=32", "l1i.replacement=random", "l1i.fills=2", "l1i.prevalidated=false",
    "l1i.streaming_buffer=2", "l1i.stream=1", "l1i.hints=1", "itlb1.ways=1", "itlb1.page=16K",
    "itlb1.replacement=random", "itlb2.ways=1", "itlb2.penalty=9", "itlb2.replacement=random", "vhpt.page=4K",
    "vhpt.walk=40", "vhpt.software=900", "vhpt.format=long",
]  # fmt: skip
BRANCHES = {
    "itanium2": [
        "predictor.loop=dynamic", "predictor.return_stack=2", "predictor.history=2", "predictor.counters=64",
        "predictor.window=1", "predictor.second=16", "predictor.second_ways=1", "predictor.late_bubbles=5",
        "predictor.static_bubbles=9", "predictor.return_bubbles=4", "predictor.indirect_bubbles=7",
        "frontend.taken_bubbles=2", "l1i.latency=2", "l1i.size=8K", "l1i.ways=2",
    ],
    "itanium": [
        "predictor.loop=dynamic", "predictor.return_stack=2", "predictor.history=2", "predictor.counters=64",
        "predictor.ways=1", "predictor.multiway=16", "predictor.multiway_ways=1", "predictor.targets=16",
        "predictor.target_ways=1", "predictor.registers=1", "predictor.rotate_bubbles=7", "predictor.expand_bubbles=9",
        "frontend.taken_bubbles=2", "l1i.latency=2",
    ],
}  # fmt: skip


def fetched(*figures: str) -> Counter[str]:
    """Small caches and TLBs, so that they matter; code over 40 pages with loops, streams and hints."""
    config = load(
        "itanium2", ["l1i.size=4K", "itlb1.entries=16", "itlb1.ways=16", "itlb2.entries=32", "itlb2.ways=32", *figures]
    )
    fetch, draw, now = InstructionFetch(config, L2(config)), random.Random(4), 0
    seen: Counter[str] = Counter()
    address = 0
    for _ in range(4000):
        address += 32
        if draw.random() < 0.2:
            address = draw.randrange(40) * 16384 + draw.randrange(16) * 1088 // 32 * 32
            seen.update(fetch.redirect_at(address, draw.random() < 0.5, now))
            for line in range(draw.randrange(4)):
                seen.update(fetch.hint_at(address + 64 * line, now))
        ready, _, found = fetch.fetch_at(address, now)
        seen.update(found)
        seen["cycles"] += ready - now
        now = ready + draw.randrange(3)
    return seen


@cache
def habits(place: int) -> tuple[int, int, int, int, bool]:
    """Of a branch: its slot, kind and hint, how often it is not taken, and whether others stand beside it."""
    fixed = random.Random(place)
    slot, kind, whether, turn = fixed.randrange(3), fixed.randrange(10), fixed.randrange(4), fixed.randrange(2, 7)
    return slot, kind, whether, turn, fixed.random() < 0.4


def branched(machine: str, *figures: str) -> Counter[str]:
    """300 branches of every kind, hint and habit, with calls that return; more than L1I holds."""
    small = ["l1i.size=2K", "predictor.second=64"] if machine == "itanium2" else ["l1i.size=2K"]
    predictor, draw = branch_predictor(load(machine, [*small, *figures])), random.Random(6)
    seen: Counter[str] = Counter()
    calls: list[int] = []
    for step in range(6000):
        place = draw.randrange(300) if step % 3 else draw.randrange(20)
        slot, kind, whether, turn, multiway = habits(place)
        address = 0x10000 + place * 144 // 16 * 16 + slot + 16 * draw.randrange(2)
        if draw.random() < 0.02:
            predictor.predict_target(address, 0x9000)
        target, taken = 0x9000, step % turn > 0
        if kind == 2 and taken:
            target = calls.pop() if calls else 0x10
        elif kind in (1, 4, 8) and taken:
            calls.append(address // 16 * 16 + 16)
        flags, bubbles, code = predictor.predict(
            address, taken, target, kind=kind, whether=whether, relative=0x9000, multiway=multiway
        )
        seen[f"{flags} {code}"] += 1
        seen["bubbles"] += bubbles
    return seen


@pytest.fixture(scope="module")
def fetched_as_it_is() -> Counter[str]:
    return fetched()


@pytest.mark.slow
@each("figure", FETCH)
def test_figures_of_fetch_change_something(figure: str, fetched_as_it_is: Counter[str]) -> None:
    assert fetched(figure) != fetched_as_it_is


@pytest.mark.slow
@pytest.mark.parametrize("machine", BRANCHES)
def test_figures_of_prediction_change_something(machine: str) -> None:
    as_it_is = branched(machine)
    assert branched(machine) == as_it_is
    assert [figure for figure in BRANCHES[machine] if branched(machine, figure) == as_it_is] == []
