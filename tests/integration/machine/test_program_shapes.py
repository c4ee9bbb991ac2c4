"""Programs show the machine: cache sizes as steps, the predictor, the order of loops."""

import pytest
from machine_code import bubbles_of, run_code
from machine_runs import cycles_by_function, run_machine, run_with_guest

from pfmon.machine.config.machine_config import load

STEPS = (60_000, 120_000)


def cycles_of_a_step(kib: int, machine: str) -> float:
    """Cycles of a dependent load over ``kib`` KiB, by the difference of two runs."""
    few, many = (run_machine("chase", machine, arguments=[str(kib), str(steps)]).cycles for steps in STEPS)
    return (many - few) / (STEPS[1] - STEPS[0])


@pytest.mark.slow
@pytest.mark.parametrize("machine", ["itanium", "itanium2", "montecito"])
def test_chase_steps_at_the_cache_sizes(machine):
    config = load(machine)
    second = config.get("l2.size") or config["l2d.size"]
    latency = config.get("l2.latency") or config["l2d.latency"]
    sizes = {
        "l1d": config["l1d.size"] // 2048,
        "l2": second // 2048,
        "l3": second * 4 // 1024,
        "memory": max(config["l3.size"] // 1024 * 2, 8192),
    }
    found = {level: cycles_of_a_step(kib, machine) for level, kib in sizes.items()}
    to_address = config["latency.load.address"]
    # Within a level: a load to the address of the next one. Beyond L1 the data TLB misses now and then.
    assert found["l1d"] == pytest.approx(config["l1d.latency"] + to_address, abs=0.1)
    assert latency + to_address <= found["l2"] < latency + to_address + 4
    assert config["l3.latency"] * 0.7 < found["l3"] < config["l3.latency"] * 2
    assert config["memory.latency"] * 0.5 < found["memory"] < config["memory.latency"] * 2
    assert found["l1d"] < found["l2"] < found["l3"] < found["memory"]


def coin(percent: int, machine: str) -> float:
    """Mispredictions of a branch that is taken with this probability, per execution (its loop's are none).

    A linear congruential generator decides: x = 6364136223846793005 x + 1442695040888963407 (Knuth), high bits.
    """
    times = 4000
    lines = [
        "movl r16=0x5851f42d4c957f2d",
        "movl r17=0x14057b7ef767814f",
        f"movl r18={percent * (2**32 - 1) // 100:#x}",
        "setf.sig f6=r16",
        "setf.sig f7=r17",
        "setf.sig f8=r17",
        f"addl r9={times - 1},r0",
        "mov.i ar.lc=r9",
        "loop:",
        "xma.l f8=f8,f6,f7",
        "getf.sig r10=f8",
        "shr.u r11=r10,32",
        "cmp.ltu p6,p7=r11,r18",
        "(p6) br.cond.dptk.few taken",
        "nop.m 0",
        "nop.m 0",
        "taken:",
        "nop.m 0",
        "br.cloop.sptk.few loop",
    ]
    machine_run = run_code(lines, machine)
    return bubbles_of(machine_run)["BRU"] / load(machine)["predictor.mispredict"] / times


@pytest.mark.parametrize("machine", ["itanium", "itanium2", "montecito"])
def test_predictor_learns_sure_branches_and_no_coins(machine):
    assert coin(0, machine) < 0.01
    assert coin(100, machine) < 0.01
    assert 0.4 < coin(50, machine) < 0.6
    assert 0.05 < coin(10, machine) < 0.25


@pytest.mark.slow
def test_matmul_is_slower_where_its_inner_loop_walks_columns():
    """N = 128: a column is 128 lines of an L2 of 64 KB, 1 KB apart: in 8 sets of 8 ways they push each other out."""
    # Without banks: in the other loop the rows' loads of neighbours meet in them.
    found, guest = run_with_guest("matmul", "itanium2", arguments=["128"], overrides=["l2.banks=0", "l2.size=64K"])
    cycles = cycles_by_function(found, guest, "matmul")
    assert cycles["multiply_ijk"] > 1.1 * cycles["multiply_ikj"]
