"""Runs in several threads at once count what each of them counts alone."""

from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import pytest
from command import example

import pfmon

PROGRAMS = (["hashmap", "200"], ["sort", "200"], ["fib", "10"], ["queens", "5"], ["strings", "100"], ["noploop", "500"])
OPTIONS: tuple[dict[str, Any], ...] = (
    {"pmu": "itanium", "events": ["cpu_cycles", "ia64_inst_retired"]},
    {"pmu": "itanium2", "events": ["cpu_cycles", "l2_misses", "loads_retired"]},
    {"pmu": "itanium2", "events": ["loads_retired"], "irange": "main", "per_function": True},
    {"pmu": "montecito", "events": ["cpu_op_cycles_all", "ia64_inst_retired"], "per_block": True},
    {"pmu": "montecito", "events": [["loads_retired"], ["nops_retired"]], "switch_timeout": 0.005},
    {"report": "cpi"},
    {"events": ["ia64_inst_retired"], "print_interval": 0.01},
)


def one(job: tuple[int, int]) -> dict[str, Any]:
    """What a run comes to, its output with it."""
    (name, *arguments), options = PROGRAMS[job[0]], OPTIONS[job[1]]
    done = pfmon.run([example(name), *arguments], capture=True, **options)
    return {**done.to_dict(), "seconds": None, "output": done.output}


@pytest.mark.slow
def test_four_threads_count_as_single_runs() -> None:
    jobs = [(program, options) for program in range(len(PROGRAMS)) for options in range(len(OPTIONS))]
    alone = {job: one(job) for job in jobs}
    shuffled = jobs * 2
    Random(4).shuffle(shuffled)
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(one, shuffled))
    assert all(made == alone[job] for job, made in zip(shuffled, together, strict=True))
    assert {made["exit_status"] for made in together} == {0}


def test_a_program_that_sets_its_umask_does_not_set_that_of_others(tmp_path: Any) -> None:
    from ia64_program import EXIT, write_program

    path = write_program(
        tmp_path / "umask", ["alloc r33=ar.pfs,8,0,0", "addl r32=63,r0", "addl r15=1067,r0", "break.m 0x100000", *EXIT]
    )
    before = (tmp_path / "before").open("w")
    assert pfmon.run(path).status == 0
    after = (tmp_path / "after").open("w")
    with before, after:
        assert (tmp_path / "before").stat().st_mode == (tmp_path / "after").stat().st_mode
