"""What a mispredicted branch, a failed check, a system call, a register spilled or filled cost."""

import pytest
from grids import each
from ia64_machine import UNMAPPED
from machine_code import Cause, bubbles_of, loop, open_bundle, per_pass, run_code
from machine_runs import run_machine

from pfmon.machine._machine import Occurrence
from pfmon.machine.config.machine_config import load

WRONG = [o for o in Occurrence if o.name.startswith("PREDICTED_") and "WRONG" in o.name]
KINDS = ("RELATIVE", "RETURN", "INDIRECT")


def mispredictions(machine) -> int:
    """Each branch is counted once under its kind."""
    wrong = {int(o) for o in WRONG if o.name.split("_")[1] in KINDS}
    wrong |= {int(o) for o in Occurrence if o.name.startswith("PREDICTED_") and o.name.endswith("UNKNOWN_TAKEN")
              and o.name.split("_")[1] in KINDS}  # fmt: skip
    return sum(times for (_, _, occurrence, _), times in machine.occurrences().items() if occurrence in wrong)


@pytest.mark.parametrize(("machine", "penalty"), [("itanium2", 6), ("montecito", 6), ("itanium", 9)])
def test_mispredicted_branch_costs_the_published_cycles(machine, penalty):
    """microarchitecture.md; whatever the branches of the program are, the bubbles are that many for each."""
    found = run_machine("sort", machine)
    bubbles = sum(cycles for _, _, cause, cycles in found.bubbles() if cause == Cause.BRU)
    wrong = mispredictions(found)
    assert wrong > 100
    # A flush that overlaps with a later stall of the front end is shorter for none: each is counted in full.
    assert bubbles == wrong * penalty


def test_penalty_is_a_figure_of_the_machine():
    plain, longer = (run_machine("sort", "itanium2", overrides=over) for over in ([], ["predictor.mispredict=16"]))
    assert longer.cycles - plain.cycles >= 9 * mispredictions(plain)


@pytest.mark.parametrize("machine", ["itanium2", "montecito"])
def test_predicted_branches_cost_nothing(machine):
    """Montecito manual 2.1.2, a "0 cycle branch predictor": a taken branch that the first-level store foresees."""
    cycles, bubbles = per_pass(["nop.m 0"] * 3, machine)
    assert cycles == 4
    assert not bubbles


@each("machine", ["itanium2", "montecito"])
@each("lost", range(0, 9, 2))
def test_front_end_runs_ahead_by_eight_bundles(machine, lost):
    """Montecito manual 2.1.2: an 8-entry queue decouples the front end. It is full behind a stall, and lasts four
    cycles if two bundles leave it in each: so much of what the front end loses at a branch is not felt."""
    stall = ["mov.m r10=ar.itc", "add r11=r10,r0"]
    pairs = [open_bundle("MMI", "", "", ""), ("MFI", "", "", "")] * 5
    usual, longer = (
        per_pass([*stall, *pairs], machine, [f"frontend.taken_bubbles={cycles}"])[0] for cycles in (0, lost)
    )
    assert longer - usual == max(0, lost - 8 // 2)


def test_rse_moves_two_registers_a_cycle():
    """Frames of 90 locals: every call spills what the callee's frame displaces, every return fills it again."""
    depth = 4
    lines = [
        f"addl r9={depth},r0",
        "br.call.sptk.few b0=down",
        "break.i 0",
        "down:",
        "alloc r40=ar.pfs,90,88,0",
        "mov r41=b0",
        "nop.i 0",
        "adds r9=-1,r9",
        "cmp.eq p6,p7=r0,r9",
        "(p6) br.cond.sptk.few up",
        "br.call.sptk.few b0=down",
        "up:",
        "mov b0=r41",
        "mov.i ar.pfs=r40",
        "br.ret.sptk.few b0",
    ]
    found = run_code(lines, "itanium2")
    spilled = sum(n for *_, c, n in found.bubbles() if c == Cause.RSE_OVERFLOW)
    filled = sum(n for *_, c, n in found.bubbles() if c == Cause.RSE_UNDERFLOW)
    stores = sum(n for (_, _, o, _), n in found.occurrences().items() if o == Occurrence.L2_OP_STORE)
    rate = load("itanium2")["rse.rate"]
    assert stores > 150
    # Registers move in bunches, each rounded up to whole cycles.
    assert stores / rate <= spilled <= stores / rate + 2 * depth
    assert spilled - 2 * depth <= filled <= spilled


@pytest.mark.parametrize("gap", range(5))
def test_fill_waits_for_the_unat_bit_of_a_spill(gap):
    """Groups between the two take the place of the wait."""
    window = load("itanium2")["pipeline.unat_window"]
    _, bubbles = per_pass(["st8.spill [r21]=r20", *["nop.m 0"] * gap, "ld8.fill r11=[r20]"], "itanium2")
    assert bubbles["L1D_NATCONF"] == max(0, window - 1 - gap)


def recovery(machine: str) -> float:
    """Cycles that a failed check of a speculative load loses."""
    loads = ["ld8.s r11=[r23]", "nop.m 0"]
    bodies = [*loads, "chk.s.m r11,fix", "nop.m 0", "fix:", "nop.i 0"], [*loads, "nop.m 0", "nop.i 0"]
    lost = []
    for body in bodies:
        few, many = (bubbles_of(run_code([f"movl r23={UNMAPPED:#x}", *loop(body, n)], machine)) for n in (100, 300))
        lost.append((many["XPN"] - few["XPN"]) / 200)
    return lost[0] - lost[1]


def test_montecito_reaches_recovery_code_sooner():
    """Montecito manual 2.1.2: it "decreases the time to reach recovery code when speculation fails"."""
    assert recovery("itanium2") == load("itanium2")["pipeline.failed_check"]
    assert recovery("montecito") == load("montecito")["pipeline.failed_check"]
    assert 0 < recovery("montecito") < recovery("itanium2")
