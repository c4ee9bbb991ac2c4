"""Bursts that fill a queue make the pipeline wait, whatever they consist of: no run is lost for want of room."""

import random

import pytest
from grids import each, sampled
from ia64_assembly import Line
from ia64_machine import DATA
from machine_code import bubbles_of, loop, run_code

from pfmon.machine.config.machine_config import load
from pfmon.machine.config.machine_figures import ITANIUMS
from pfmon.stream._stream import Failure

COLD = DATA + (1 << 14)
HEAD = [
    f"movl r23={COLD:#x}",
    "ld8 r11=[r20]",
    "ld8 r12=[r23]",
    *["nop.m 0"] * 4,
    "adds r24=4096,r23",
    "adds r25=4224,r23",
]

BURSTS = {
    "releases to a line that misses": ["st8.rel [r24]=r20"],
    "releases behind a cold load": ["st8.rel [r20]=r20"],
    "fences": ["mf"],
    "fences and stores": ["mf", "st8 [r24]=r20"],
    "stores of all lines": ["st8 [r24]=r20,128"],
    "floating-point stores": ["stfd [r24]=f0,128"],
    "semaphores": ["fetchadd8.rel r14=[r24],1"],
    "semaphores of all lines": ["fetchadd8.rel r14=[r24],1", "adds r24=128,r24"],
    "prefetches": ["lfetch [r24],128"],
    "prefetches to own": ["lfetch.excl.nta [r24],128"],
    "pairs": ["ldfpd f8,f9=[r24],16", "adds r24=112,r24"],
    "acquires": ["ld8.acq r14=[r24],128"],
    "flushes": ["fc r24", "adds r24=128,r24"],
    "flushes of a line": ["st8 [r24]=r20", "fc r24"],
    "spills": ["st8.spill [r24]=r20,8"],
    "releases and misses": ["st8.rel [r24]=r20,128", "ldfd f8=[r25],128", "ldfd f9=[r25],128", "ldfd f10=[r25],-128"],
}


def behind_a_miss(burst: list[str]) -> list[Line]:
    """A miss with a burst behind it, twice: the second time the code is in the caches."""
    return [*HEAD, *loop(["ldfd f7=[r24]", "adds r24=128,r24", *burst], 2)]


def levels_of(machine: str) -> str:
    return "l2d" if machine == "montecito" else "l2"


@sampled(16)
@each("machine", ITANIUMS)
@each("burst", BURSTS)
def test_a_burst_is_not_lost(burst: str, machine: str) -> None:
    code = [*HEAD, "ldfd f7=[r24]", *BURSTS[burst] * 100, *loop(BURSTS[burst], 100)]
    found = run_code(code, machine)
    assert found.failure == Failure.NO_FAILURE
    assert found.cycles == run_code(code, machine, memo=False).cycles


@each("machine", ITANIUMS)
@each("burst", ["releases behind a cold load", "fences"])
def test_a_burst_that_waits_fills_the_queue_and_stops_the_pipeline(burst: str, machine: str) -> None:
    """As many as the queue takes, of stores as the data buffer and the store buffer take, follow a miss without a wait;
    more make the pipeline stand until it is there."""
    figures = load(machine)
    entries, memory = int(figures[f"{levels_of(machine)}.queue"]), int(figures["memory.latency"])
    if "releases" in burst:
        entries = min(entries, int(figures[f"{levels_of(machine)}.data_buffer"])) + int(figures["l1d.store_buffer"])

    def stood(times: int) -> int:
        found = bubbles_of(run_code(behind_a_miss(BURSTS[burst] * times), machine))
        return found["L1D_L2BPRESS"] + found["L1D_FULLSTBUF"]

    assert stood(entries // 2) == 0
    assert memory - 2 * entries < stood(entries + 4) <= memory


@pytest.mark.parametrize("machine", ITANIUMS)
def test_cycles_with_a_full_queue_are_counted(machine: str) -> None:
    found = run_code(behind_a_miss(["mf"] * 100), machine)
    assert found.levels()["OZQ_FULL"][1] > 0
    assert found.levels()["OZQ_ACQUIRE"][1] >= int(load(machine)["memory.latency"]) - 20


FIGURES = ["queue", "fills", "victims", "data_buffer"]
BELOW = ["l3.queue", "l3.write_buffers", "l1d.fills", "l1d.store_buffer", "l1i.fills"]


def drawn_figures(draw: random.Random, machine: str) -> list[str]:
    """Queues of one entry or of as many as are legal, at random, and times that are far from usual."""
    names = [*(f"{levels_of(machine)}.{figure}" for figure in FIGURES), *BELOW]
    sizes = [f"{name}={draw.choice((1, 2, 64))}" for name in names]
    return [*sizes, f"memory.latency={draw.choice((20, 300, 3000))}", f"bus.request_queue={draw.choice((1, 31))}",
            f"bus.queue={draw.choice((1, 64))}"]  # fmt: skip


@each("seed", range(9))
def test_no_figures_of_queues_lose_a_run(seed: int) -> None:
    draw, machine = random.Random(seed), ITANIUMS[seed % len(ITANIUMS)]
    lines = [line for burst in BURSTS.values() for line in burst]
    body = [*(draw.choice(lines) for _ in range(60)), "adds r24=4096,r23", "adds r25=4224,r23"]
    code: list[Line] = [*HEAD, *loop(body, 40), *(draw.choice(lines) for _ in range(200))]
    figures = drawn_figures(draw, machine)
    found, plain = (run_code(code, machine, figures, memo=memo) for memo in (True, False))
    assert found.failure == plain.failure == Failure.NO_FAILURE
    assert found.cycles == plain.cycles
    assert found.occurrences() == plain.occurrences()
