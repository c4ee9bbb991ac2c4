"""What the survey makes ahead of the simulation: order and conflicts are as if accesses were made in turn."""

from collections import Counter

import pytest
from grids import first_quick
from ia64_machine import DATA
from machine_code import bubbles_of, loop, run_code

from pfmon.machine._machine import Machine, Occurrence
from pfmon.machine.config.machine_config import load

MACHINES = ["itanium", "itanium2", "montecito"]
FEW, MANY = 3, 13
PASSES = MANY - FEW
STEP = 4096
# r20: a line that L1D has; r23 goes over lines that nothing has.
WALK = ["ld8 r11=[r20]", f"movl r23={DATA + STEP:#x}", f"movl r25={STEP}"]
REST = ["nop.m 0"] * 400  # longer than a miss of everything


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=[True, False], ids=["memo", "no-memo"])
def memo(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def walk(machine: str, memo: bool, *body: str) -> tuple[int, Counter[str]]:
    """Cycles of the passes behind the first ones, and their bubbles by cause."""
    few, many = (run_code([*WALK, *loop(body, passes)], machine, memo=memo) for passes in (FEW, MANY))
    bubbles = bubbles_of(many)
    bubbles.subtract(bubbles_of(few))
    return many.cycles - few.cycles, bubbles


def count(found: Machine, occurrence: Occurrence) -> int:
    return sum(times for (_, _, kind, _), times in found.occurrences().items() if kind == occurrence)


ACQUIRES = [
    "ld8.acq r12=[r23]",
    "xchg8 r12=[r23],r20",
    "cmpxchg8.acq r12=[r23],r20,ar.ccv",
    "fetchadd8.acq r12=[r23],1",
]
NO_ACQUIRES = ["ld8 r12=[r23]", "cmpxchg8.rel r12=[r23],r20,ar.ccv", "fetchadd8.rel r12=[r23],1"]


@pytest.mark.parametrize("first", first_quick([*ACQUIRES, *NO_ACQUIRES]))
def test_a_load_waits_for_an_acquire_before_it_and_for_no_other_miss(first: str, machine: str, memo: bool) -> None:
    """SDM volume 2, 4.4.7: what is behind an acquire becomes visible after it; xchg always is one."""
    figures = load(machine)
    move = "add r23=r25,r23"
    with_, without = (
        walk(machine, memo, first, *loads, *REST, move)
        for loads in (["ld8 r13=[r20]", "add r14=r13,r0"], ["nop.m 0", "nop.m 0"])
    )
    waited = with_[1]["L1D_LDCONF"] - without[1]["L1D_LDCONF"]
    assert waited >= PASSES * (int(figures["memory.latency"]) - 2) if first in ACQUIRES else waited == 0
    assert with_[0] - without[0] == waited + PASSES * (int(figures["l1d.latency"]) - 1)


@pytest.mark.parametrize("distance", first_quick([1, 2, 3, 4]))
def test_a_load_right_behind_a_store_that_waits_goes_round(distance: int, machine: str, memo: bool) -> None:
    """The line was only read: the store takes it over from L2, so it is not quick; L1D has it for the load."""
    figures = load(machine)
    body = ["ld8 r12=[r23]", *REST, "st8 [r23]=r20", *["nop.m 0"] * (distance - 1)]
    same, other = (walk(machine, memo, *body, f"ld8 r13=[{r}]", "add r23=r25,r23")[1] for r in ("r23", "r20"))
    level = "l2d" if "l2d.latency" in figures else "l2"
    wait = int(figures["l1d.conflict"]) - int(figures[f"{level}.latency"])
    cycles = [bubbles["L1D_DCURECIR"] + bubbles["L1D_PIPE_RECIRC"] for bubbles in (same, other)]
    assert cycles == [PASSES * wait if distance <= int(figures["l1d.store_window"]) else 0, 0]


def test_every_load_reads_l1d_once(machine: str, memo: bool) -> None:
    body = ["ld8 r12=[r23],r25", "ld8 r13=[r20]", "ld8 r14=[r20]", "ld8 r15=[r23]"]
    found = run_code([*WALK, *loop(body, MANY)], machine, memo=memo)
    assert count(found, Occurrence.L1D_READ) == len(body) * MANY + 1


def test_every_window_reads_l1i_once_and_a_line_is_waited_for_once(machine: str, memo: bool) -> None:
    """Two bundles are a window; all code is cold."""
    bundles = 64
    few, many = (run_code(["nop.m 0"] * number, machine, memo=memo) for number in (bundles, 2 * bundles))
    assert count(many, Occurrence.L1I_READ) - count(few, Occurrence.L1I_READ) == bundles // 2
    missed = count(many, Occurrence.L1I_DEMAND_MISS) - count(few, Occurrence.L1I_DEMAND_MISS)
    assert missed == bundles * 16 // int(load(machine)["l1i.brought"])
