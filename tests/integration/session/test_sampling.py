"""Samples: at the exact event, after the right periods, with the right registers; whoever counts beside them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest
from example_counts import examples
from grids import each, sampled
from guests import EXAMPLES, guest, quiet
from hypothesis import given
from hypothesis import strategies as st
from plain_sampler import next_random

import pfmon
from pfmon.session.sampling.sampling_period import Sample
from pfmon.stream._stream import Ia64Kind, Kind, Recorder

PROGRAM, ARGUMENT = "queens", "5"
COMMAND = [str(EXAMPLES / "ia64" / PROGRAM), ARGUMENT]
PMUS = ("itanium", "itanium2", "montecito")
EVENTS = "ia64_inst_retired,loads_retired"
CYCLES = {"montecito": "cpu_op_cycles_all"}


@cache
def log() -> tuple[list[int], list[bool]]:
    """The address of every instruction that retired, in order, and whether it was a load that executed."""
    program, recorder = guest(PROGRAM, [ARGUMENT]), Recorder()
    with quiet():
        program.run(recorder)
    addresses, loads = [], []
    for word in recorder.words():
        if word >> 63:
            continue
        for ins in program.table.block(word & 0xFFFFFFFF).instructions:
            executed = ins.condition is None or word >> 32 + ins.condition & 1
            addresses.append(ins.address)
            check = ins.isa_kind & Ia64Kind.LOAD_CHECK  # of these only those that fail count, and here none does
            loads.append(bool(ins.kind & Kind.LOAD and executed and not check))
    program.close()
    return addresses, loads


def test_a_run_without_periods_has_no_samples() -> None:
    assert sampled_run().samples is None


def test_samples_are_an_array_and_a_table() -> None:
    pytest.importorskip("pandas")
    samples = sampled_run(long_smpl_periods=100).samples
    assert samples is not None
    array, table = samples.to_numpy(), samples.to_pandas()
    assert array.dtype.names == tuple(table.columns) == ("iip", "stamp", "overflowed", "last_val", "set", "pmd5")
    assert len(array) == len(table) == len(samples) == 27
    for row, sample in zip(array, samples, strict=True):
        assert tuple(row) == (sample.iip, sample.stamp, 1 << 4, 100, 0, sample.pmds[0][1])
    assert (table.to_records(index=False) == array).all()
    assert [one["iip"] for one in samples.to_dict()] == [sample.iip for sample in samples]
    assert len(sampled_run(long_smpl_periods=10**9).samples.to_numpy()) == 0


def sampled_run(events: str = EVENTS, pmu: str = "itanium2", **options: object) -> pfmon.Run:
    return pfmon.run(COMMAND, events=events, pmu=pmu, stdout=pfmon.DEVNULL, **options)


@each("pmu", PMUS)
@each("period", [1, 2, 97, 1000])
def test_a_sample_is_of_the_instruction_that_ended_the_period(pmu: str, period: int) -> None:
    addresses, loads = log()
    run = sampled_run(pmu=pmu, long_smpl_periods=period)
    assert len(run.samples) == len(addresses) // period
    for number, sample in enumerate(run.samples, 1):
        assert sample.iip == addresses[number * period - 1]
        assert (sample.stamp, sample.last) == (number * period, period)
        ((_, beside),) = sample.pmds
        assert beside == sum(loads[: number * period])


def test_with_period_one_a_histogram_is_the_exact_counts() -> None:
    _, loads = log()
    run = sampled_run("loads_retired", long_smpl_periods=1)
    exact = Counter(address for address, load in zip(log()[0], loads, strict=True) if load)
    assert Counter(sample.iip for sample in run.samples) == exact


@sampled(8)
@each("pmu", PMUS)
@each("events", [EVENTS, "CYCLES,ia64_inst_retired", "loads_retired,CYCLES"])
@each("period", [3, 1000])
def test_counts_are_those_of_a_run_without_samples(pmu: str, events: str, period: int) -> None:
    events = events.replace("CYCLES", CYCLES.get(pmu, "cpu_cycles"))
    plain = sampled_run(events, pmu)
    run = sampled_run(events, pmu, long_smpl_periods=f"{period},", smpl_periods_random="0xf:5")
    assert [count.value for count in run.counts] == [count.value for count in plain.counts]
    both = sampled_run(events, pmu, long_smpl_periods=[period, period + 1])
    assert [count.value for count in both.counts] == [count.value for count in plain.counts]


def test_samples_of_cycles_end_their_periods() -> None:
    run = sampled_run("cpu_cycles", long_smpl_periods=500)
    total = run.counts["cpu_cycles"].value
    assert isinstance(total, int) and len(run.samples) == total // 500
    assert {sample.iip for sample in run.samples} <= {0, *log()[0]}


@pytest.mark.slow
@given(
    st.integers(1, 300),
    st.one_of(st.none(), st.integers(1, 300)),
    st.integers(0, 255),
    st.integers(1, 2**31 - 2),
    st.integers(1, 40),
)
@examples(40)
def test_periods_are_those_that_were_asked_for(
    long: int, short: int | None, mask: int, seed: int, entries: int
) -> None:
    more = {} if short is None else {"short_smpl_periods": short}
    run = sampled_run(
        "ia64_inst_retired",
        long_smpl_periods=long,
        smpl_periods_random=f"{mask}:{seed}",
        smpl_entries=entries,
        **more,
    )

    def expected() -> Iterator[int]:
        number, random = 0, seed
        while True:
            base = long if number and number % entries == 0 else short or long
            yield base + (random & mask)
            random = random * 16807 % (2**31 - 1)
            number += 1

    periods = expected()
    at = 0
    for sample in run.samples:
        assert sample.last == next(periods)
        at += sample.last
        assert sample.stamp == at
    assert at + next(periods) > run.retired


def test_the_random_numbers_are_the_minimal_standard() -> None:
    seed = 1
    for _ in range(10_000):
        seed = next_random(seed)
    assert seed == 1043618065  # Park and Miller, Communications of the ACM 31(10), 1988, page 1195


def test_counters_without_a_period_may_begin_again_with_every_sample() -> None:
    _, loads = log()
    run = sampled_run(long_smpl_periods=100, reset_non_smpl_periods=True)
    for number, sample in enumerate(run.samples):
        assert sample.pmds[0][1] == sum(loads[number * 100 : number * 100 + 100])


def test_counters_that_begin_again_are_counted_in_all() -> None:
    plain = sampled_run()
    run = sampled_run(long_smpl_periods=100, reset_non_smpl_periods=True)
    assert [count.value for count in run.counts] == [count.value for count in plain.counts]


def test_a_saturated_buffer_takes_no_more_and_says_so() -> None:
    run = sampled_run(long_smpl_periods=100, smpl_entries=7, saturate_smpl_buffer=True)
    assert len(run.samples) == 7
    assert run.notes == (f"--saturate-smpl-buffer: {run.retired // 100 - 7} samples more were not taken",)


@pytest.mark.parametrize("events", [EVENTS, "cpu_cycles,loads_retired"])
def test_a_recording_gives_the_same_samples(events: str, tmp_path: Path) -> None:
    path = tmp_path / "recording"
    direct = pfmon.record(path, COMMAND, events=events, long_smpl_periods=77, stdout=pfmon.DEVNULL)
    again = pfmon.replay(path, events=events, long_smpl_periods=77)
    assert direct.samples == again.samples == sampled_run(events, long_smpl_periods=77).samples
    assert len(direct.samples) > 30


@pytest.mark.parametrize("irange", ["place", "main"])
def test_samples_obey_ranges(irange: str) -> None:
    run = sampled_run("ia64_inst_retired", irange=irange, long_smpl_periods=1)
    plain = sampled_run("ia64_inst_retired", irange=irange)
    assert len(run.samples) == plain.counts["ia64_inst_retired"].value


def test_samples_come_buffer_by_buffer() -> None:
    buffers: list[Sequence[Sample]] = []
    prepared = pfmon.prepare(
        COMMAND, events="ia64_inst_retired", long_smpl_periods=50, smpl_entries=16, stdout=pfmon.DEVNULL
    )
    run = prepared.run(on_samples=buffers.append)
    assert run.samples is not None and len(run.samples) == 0
    assert [len(buffer) for buffer in buffers[:-1]] == [16] * (len(buffers) - 1) and 0 < len(buffers[-1]) <= 16
    assert sum(map(len, buffers)) == run.retired // 50


def test_what_takes_samples_may_fail() -> None:
    def fail(_: Sequence[Sample]) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        pfmon.prepare(
            COMMAND, events="ia64_inst_retired", long_smpl_periods=50, smpl_entries=1, stdout=pfmon.DEVNULL
        ).run(on_samples=fail)


# --- samples beside the truth


def error(
    name: str, arguments: Sequence[str], period: int, mask: int, event: str = "ia64_inst_retired"
) -> tuple[float, int]:
    """Half the sum of what the shares of instructions in samples and in truth differ by; how many samples."""
    run = pfmon.run(
        [str(EXAMPLES / "ia64" / name), *arguments],
        events=event,
        long_smpl_periods=period,
        smpl_periods_random=f"{mask}:11",
        smpl_truth=True,
        stdout=pfmon.DEVNULL,
    )
    assert run.exact is not None
    seen = Counter(sample.iip for sample in run.samples)
    total = sum(run.exact.values())
    places = {*seen, *run.exact}
    return sum(abs(seen[at] / len(run.samples) - run.exact.get(at, 0) / total) for at in places) / 2, len(run.samples)


@pytest.mark.parametrize(
    "event", ["ia64_inst_retired", "loads_retired", "data_ear_cache_lat4", "l1i_ear_cache_lat0", "branch_event"]
)
def test_with_period_one_samples_are_the_truth(event: str) -> None:
    assert error("queens", ["5"], 1, 0, event)[0] == 0


@each("pmu", PMUS)
@each("event", ["ia64_inst_retired", "CYCLES", "loads_retired"])
def test_the_truth_is_what_is_counted(pmu: str, event: str) -> None:
    event = event.replace("CYCLES", CYCLES.get(pmu, "cpu_cycles"))
    run = sampled_run(event, pmu, long_smpl_periods=100, smpl_truth=True)
    assert run.exact is not None
    ((_, value),) = [(count.name, count.value) for count in run.counts]
    assert isinstance(value, int) and 0 <= value - sum(run.exact.values()) <= value // 20  # cycles of no instruction


def test_a_period_that_fits_the_loop_sees_one_instruction_and_randomisation_cures_it() -> None:
    loop = 6  # instructions: two bundles a turn
    fixed, samples = error("noploop", ["20000"], 100 * loop, 0)
    random, others = error("noploop", ["20000"], 100 * loop, 0x3F)
    assert samples > 150 and others > 150
    assert fixed > 0.8 and random < 0.15


LONG_RUNS = {
    "arrays": ["8"], "branchy": ["20000"], "chase": ["64", "60000"], "dispatch": ["4000"], "fib": ["18"],
    "hashmap": ["2000"], "lz": ["5000"], "matmul": ["16"], "nbody": ["60"], "noploop": ["60000"], "queens": ["6"],
    "sha256": ["40"], "sort": ["2000"], "stream": ["20", "40"], "strings": ["3000"],
}  # fmt: skip
TOO_SHORT = {"epic"}


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG_RUNS)
def test_the_error_falls_with_the_root_of_the_number_of_samples(name: str) -> None:
    few, number = error(name, LONG_RUNS[name], 1500, 0x3FF)
    many, more = error(name, LONG_RUNS[name], 15, 0xF)
    # 16 times as many or more: a quarter of the error, or less; chance is given a factor of two.
    assert more > 16 * number > 16
    assert many < 2 * few * (number / more) ** 0.5


def test_every_example_is_sampled() -> None:
    assert {path.name for path in (EXAMPLES / "ia64").iterdir()} == {*LONG_RUNS, *TOO_SHORT}
