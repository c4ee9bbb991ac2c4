"""Samples of captures are the same whether the machine repeats what blocks did before or simulates every one."""

from functools import cache
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from captured import CYCLES, Program, example, sampled
from grids import diagonal, few, first_quick
from guests import EXAMPLES
from ia64_fuzz import Fuzz

import pfmon
from pfmon.stream._stream import Recorder

PMUS = tuple(CYCLES)
EVENTS = {
    "itanium": ("DATA_EAR_CACHE_LAT4", "DATA_EAR_TLB_L2", "DATA_EAR_TLB_SW", "INSTRUCTION_EAR_CACHE_LAT4"),
    "itanium2": ("DATA_EAR_CACHE_LAT4", "DATA_EAR_TLB_ALL", "DATA_EAR_ALAT", "L1I_EAR_CACHE_LAT0", "L1I_EAR_TLB_ALL"),
}
EVENTS["montecito"] = EVENTS["itanium2"]
SMALL = {
    "arrays": "1", "branchy": "300", "chase": "64 500", "dispatch": "20", "epic": "", "fib": "8", "hashmap": "50",
    "lz": "100", "matmul": "4", "nbody": "1", "noploop": "500", "queens": "4", "sha256": "1", "sort": "60",
    "stream": "1 1", "strings": "30",
}  # fmt: skip


@cache
def fuzzed(seed: int) -> Program:
    """Random code, its loops run again and again."""
    fuzz, recorder = Fuzz(Random(seed), trace=True), Recorder()
    fuzz.tally = recorder
    for _ in range(3):
        fuzz.new_program()
        fuzz.run(4000)
    return Program(fuzz.cpu, recorder, [])


def check(run: Program, pmu: str, seed: int) -> int:
    """Compare for every kind of capture; how many samples there were."""
    pick, samples = Random(seed), 0
    for event in (*EVENTS[pmu], "BRANCH_EVENT"):
        period = pick.choice((1, 3, 17))
        one, other = (sampled(run, pmu, [event, CYCLES[pmu]], [period, None], memo=memo) for memo in (True, False))
        assert one == other, event
        samples += len(one.samples)
    return samples


@pytest.mark.parametrize("pmu", first_quick(PMUS))
def test_captures_are_the_same_with_and_without_the_memo(pmu: str) -> None:
    assert check(example("matmul", "4"), pmu, 1) > 50


@pytest.mark.slow
@pytest.mark.parametrize(("name", "pmu"), few(product(SMALL, PMUS), 6))
def test_captures_of_every_example_are_the_same(name: str, pmu: str) -> None:
    assert check(example(name, *SMALL[name].split()), pmu, 2) > 10


@pytest.mark.slow
@diagonal
@pytest.mark.parametrize("pmu", PMUS)
@pytest.mark.parametrize("seed", few(range(12), 4))
def test_captures_of_random_code_are_the_same(seed: int, pmu: str) -> None:
    check(fuzzed(seed), pmu, seed)


@pytest.mark.slow
@pytest.mark.parametrize("pmu", PMUS)
def test_captures_of_runs_and_recordings_are_the_same(pmu: str, tmp_path: Path) -> None:
    path, command = tmp_path / "recording", [str(EXAMPLES / "ia64" / "hashmap"), "50"]
    samples = 0
    for event in (*EVENTS[pmu], "BRANCH_EVENT"):
        options: dict[str, Any] = {"events": f"{event},{CYCLES[pmu]}", "long_smpl_periods": "2,"}
        direct = pfmon.record(path, command, pmu=pmu, stdout=pfmon.DEVNULL, **options)
        again = pfmon.replay(path, pmu=pmu, **options)
        plain = pfmon.run(command, pmu=pmu, stdout=pfmon.DEVNULL, **options)
        assert direct.samples is not None
        assert direct.samples == again.samples == plain.samples
        below = sampled(example("hashmap", "50"), pmu, [event, CYCLES[pmu]], [2, None]).samples
        for one, other in zip(direct.samples, below, strict=True):
            assert (one.iip, one.retired) == (other.iip, other.stamp)
            assert dict(one.pmds).items() <= other.pmds.items()
        samples += len(direct.samples)
        path.unlink()
    assert samples > 20
