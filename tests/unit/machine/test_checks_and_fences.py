"""Check loads, loads behind stores, fences, and slow registers, from microbenchmarks."""

from collections import Counter

import pytest
from grids import each
from ia64_machine import DATA
from machine_code import loop, per_pass, run_code

from pfmon.machine._machine import Machine, Occurrence
from pfmon.machine.config.machine_config import load
from pfmon.signals.machine_signals import select

MACHINES = ["itanium", "itanium2", "montecito"]
PASSES = 1000


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def count(found: Machine, signal: str) -> int:
    """A signal's total."""
    members = select(signal, {name: int(number) for name, number in Occurrence.__members__.items()})
    return sum(times for (_, _, occurrence, _), times in found.occurrences().items() if occurrence in members)


# --- check loads


def test_check_loads_that_find_their_entry_read_l1d(machine: str) -> None:
    """Montecito manual 4.8.2: the L1D services integer and RSE loads and check loads. The value is in the register
    already: nothing misses, nobody waits."""
    checks = ["ld8.c.nc r11=[r20]"] * 4
    with_, without = (run_code(["ld8.a r11=[r20]", *loop(body, PASSES)], machine) for body in (checks, ["nop.m 0"] * 4))
    assert count(with_, "l1d_reads") - count(without, "l1d_reads") == 4 * PASSES
    assert count(with_, "l1d_read_misses.all") == count(without, "l1d_read_misses.all")
    assert with_.cycles == without.cycles


def test_floating_point_check_loads_do_not_read_l1d(machine: str) -> None:
    found = run_code(["ldfd.a f11=[r20]", *loop(["ldfd.c.nc f11=[r20]"], PASSES)], machine)
    assert count(found, "l1d_reads") == 0


# --- loads behind stores


def recirculations(cycles: Counter[str]) -> float:
    return cycles["L1D_DCURECIR"] + cycles["L1D_PIPE_RECIRC"]


@pytest.mark.parametrize("between", range(6))
@pytest.mark.parametrize("turn", [0, 1, 2, 7])
def test_pairs_of_a_store_and_a_load_all_conflict_or_none_does(machine: str, between: int, turn: int) -> None:
    """A bundle is a cycle: the load is `between` + 1 behind the store, in one block."""
    figures = load(machine)
    pair = ["st8 [r21]=r20", *["nop.m 0"] * between, "ld8 r11=[r21]", *["nop.m 0"] * turn]
    _, bubbles = per_pass(pair, machine)
    level = "l2d" if "l2d.latency" in figures else "l2"
    wait = int(figures["l1d.conflict"]) - int(figures[f"{level}.latency"])
    assert recirculations(bubbles) == (wait if between + 1 <= int(figures["l1d.store_window"]) else 0)


@pytest.mark.parametrize("between", range(6))
def test_pairs_in_two_blocks_conflict_alike(machine: str, between: int) -> None:
    """A branch that is not taken ends the store's block."""
    figures = load(machine)
    gap = ["nop.m 0"] * between
    border = ["(p6) br.cond.spnt.few loop"]
    one, two = (
        recirculations(per_pass(["st8 [r21]=r20", *first, *second, "ld8 r11=[r21]", "nop.m 0"], machine)[1])
        for first, second in ((border, gap), (gap, border))
    )
    distance = between + 2
    assert (one > 0) == (two > 0) == (distance <= int(figures["l1d.store_window"]))
    assert one == two


# --- fences


def test_a_load_behind_a_fence_waits_for_what_is_before_it(machine: str) -> None:
    """A floating-point load misses everything; the load behind the fence has its line, and waits for both."""
    head = ["ld8 r11=[r20]", f"movl r23={DATA + 0x8000:#x}", "ld8 r12=[r23]", "adds r24=4096,r23", *["nop.m 0"] * 4]
    memory = int(load(machine)["memory.latency"])
    spans = [run_code([*head, "ldfd f9=[r24]", fence, "ld8 r13=[r20]"], machine).cycles for fence in ("nop.m 0", "mf")]
    assert spans[1] - spans[0] >= memory - 20


def test_fences_with_nothing_before_them_take_the_queue_alone(machine: str) -> None:
    figures = load(machine)
    level = "l2d" if "l2d.latency" in figures else "l2"
    cycles, bubbles = per_pass(["mf", "ld8 r11=[r20]"], machine)
    plain, _ = per_pass(["nop.m 0", "ld8 r11=[r20]"], machine)
    assert cycles - plain == bubbles["L1D_LDCONF"] == int(figures[f"{level}.latency"]) - 1


@pytest.mark.parametrize(("access", "waits"), [("st8 [r25]=r20", 1), ("lfetch.excl [r25]", 1), ("nop.m 0", 0)])
def test_what_the_queue_holds_behind_a_fence_waits_for_it(access: str, waits: int, machine: str) -> None:
    """Montecito's MISC_ORDER, the Itanium 2's MFA: stores and line prefetches behind an mf that waits for a miss."""
    times, few, many = 5, 4, 10
    head = ["ld8 r11=[r20]", f"movl r23={DATA + 0x8000:#x}", "adds r24=4096,r23", "adds r25=64,r20", "st8 [r25]=r20"]
    for fence, behind in (("mf", times * waits), ("nop.m 0", 0)):
        body = ["ldfd f9=[r24]", "adds r24=128,r24", fence, *[access] * times]
        runs = [run_code([*head, *loop(body, passes)], machine) for passes in (few, many)]
        for signal in ("l2d_ozq_cancels0.misc_order", "l2_ozq_cancels1.mfa"):
            assert count(runs[1], signal) - count(runs[0], signal) == behind * (many - few)
        assert count(runs[1], "l2d_ozq_cancels0.acq") == 0


# --- application and indirect registers


@each(
    ("move", "latency"),
    [
        ("mov.i r10=ar.ec", 2),
        ("mov.i r10=ar.lc", 2),
        ("mov.m r10=ar.fpsr", 12),
        ("mov.m r10=ar.itc", 35),
        ("mov r10=cpuid[r0]", 35),
    ],
)
@each("kind", ["itanium2", "montecito"])
def test_moves_from_registers_take_the_published_time(move: str, latency: int, kind: str) -> None:
    """Table 2-8, notes 5 and 6: EC and LC 2 cycles, FPSR 10 to 12, the slowest 35; indirect ones 6 to 35, of which
    LREGS, PKR and RR are the fast ones."""
    _, bubbles = per_pass([move, "add r11=r10,r0"], kind)
    assert sum(bubbles.values()) == latency - 1


@pytest.mark.parametrize("register", ["unat", "ccv"])
def test_itanium_moves_from_slow_registers_as_gcc_describes_it(register: str) -> None:
    """GCC, itanium1.md: six cycles from ar.unat and ar.ccv."""
    _, bubbles = per_pass([f"mov.m r10=ar.{register}", "add r11=r10,r0"], "itanium")
    assert sum(bubbles.values()) == 6 - 1
