"""The time of a sample: cycles of the machine where one runs, else instructions."""

from itertools import pairwise
from pathlib import Path

import pytest
from command import pfmon as command
from grids import first_quick
from host_programs import needs

import pfmon

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
IA64 = [str(EXAMPLES / "ia64" / "hashmap"), "60"]
CYCLES = {"itanium": "cpu_cycles", "itanium2": "cpu_cycles", "montecito": "cpu_op_cycles_all"}


def sampled(command: list[str], pmu: str, events: str, periods: str, **options: object) -> pfmon.Run:
    return pfmon.run(command, pmu=pmu, events=events, long_smpl_periods=periods, stdout=pfmon.DEVNULL, **options)


@pytest.mark.parametrize("pmu", CYCLES)
def test_stamps_of_cycles_are_cycles_and_the_kernels(pmu: str) -> None:
    """The n-th sample is of cycle 7n, and of those that the kernel had before, which a user's events do not count."""
    run = sampled(IA64, pmu, CYCLES[pmu], "7")
    kernels = [sample.stamp - 7 * number for number, sample in enumerate(run.samples or (), 1)]
    assert kernels[0] == 0 and kernels == sorted(kernels)
    assert len(set(kernels)) < 40  # it was entered so often


@needs("qemu-x86_64")
def test_stamps_of_cycles_of_x86_programs_are_their_number() -> None:
    run = sampled([str(EXAMPLES / "x86_64" / "sort"), "50"], "intel_v2", "UNHALTED_CORE_CYCLES", "7")
    assert [sample.stamp for sample in run.samples or ()] == [7 * n for n in range(1, len(run.samples or ()) + 1)]


@pytest.mark.parametrize("pmu", first_quick(CYCLES))
def test_instructions_of_a_block_have_the_cycles_that_they_issued_in(pmu: str) -> None:
    """Every instruction and every cycle is sampled: a cycle's sample comes once, in order, beside its instructions,
    which are six at the most."""
    run = sampled(IA64, pmu, f"ia64_inst_retired,{CYCLES[pmu]}", "1,1")
    samples = run.samples or ()
    assert all(one.stamp <= other.stamp for one, other in pairwise(samples))
    of_cycles = [sample.stamp for sample in samples if 5 in sample.overflowed]
    assert all(one < other for one, other in pairwise(of_cycles))
    issued: dict[int, int] = {}
    for sample in samples:
        if sample.overflowed == (4,):
            issued[sample.stamp] = issued.get(sample.stamp, 0) + 1
    assert max(issued.values()) == 6 and set(issued) <= set(of_cycles)
    assert len(samples) == run.counts[0].value + run.counts[1].value


@pytest.mark.slow
@needs("qemu-x86_64")
def test_stamps_of_x86_programs_grow_within_a_block() -> None:
    command = [str(EXAMPLES / "x86_64" / "sort"), "50"]
    run = sampled(command, "intel_v2", "INSTRUCTIONS_RETIRED,UNHALTED_CORE_CYCLES", "1,1")
    samples = run.samples or ()
    assert all(one.stamp <= other.stamp for one, other in pairwise(samples))
    issued: dict[int, int] = {}
    for sample in samples:
        if 32 in sample.overflowed:
            issued[sample.stamp] = issued.get(sample.stamp, 0) + 1
    assert max(issued.values()) >= 4  # retired in a cycle


def test_stamps_go_on_where_nothing_is_counted() -> None:
    """A sample behind a trigger has the time that it has without one."""
    events = f"ia64_inst_retired,{CYCLES['itanium2']}"
    whole = sampled(IA64, "itanium2", events, "1")
    part = sampled(IA64, "itanium2", events, "1", trigger_code_start_addresses="lookup")
    assert part.samples
    behind = (whole.samples or ())[-len(part.samples) :]
    assert [(one.iip, one.stamp) for one in part.samples] == [(one.iip, one.stamp) for one in behind]


def test_stamps_without_a_machine_are_instructions() -> None:
    run = sampled(IA64, "itanium2", "ia64_inst_retired", "10")
    assert [sample.stamp for sample in run.samples or ()] == [10 * n for n in range(1, len(run.samples or ()) + 1)]


@pytest.mark.slow
def test_exports_have_the_time_of_the_machines_clock(tmp_path: Path) -> None:
    """Itanium 2 of 1.5 GHz: 6 cycles are 4 ns."""
    path = tmp_path / "samples"
    words = ["-e", "cpu_cycles", "--long-smpl-periods=6", "--smpl-outfile=/dev/null", f"--export=perf-script:{path}"]
    assert command(*words, "--no-cmd-output", "--set", "machine.frequency=1500 MHz", *IA64).returncode == 0
    assert " 0.000000004: " in path.read_text().splitlines()[0]
