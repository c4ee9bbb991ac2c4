"""Last branch records in samples against a plain model of them, over the host's single steps of the program."""

from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from grids import diagonal, each
from guests import EXAMPLES
from plain_last_branches import FILTERS, Taken, last_branches, last_calls, taken_branches
from qemu_guests import compile_c
from x86_64_host import MARKS
from x86_64_steps import Step, stepped

import pfmon
from pfmon.engine.replay.replay_engine import ReplayEngine
from pfmon.pmu.capture.captures import captures_of
from pfmon.pmu.capture.last_branches import LastBranchStack
from pfmon.session.sampling.sampling_period import Sample
from pfmon.stream._stream import Mark, Recorder

pytestmark = MARKS

DEPTHS = {"core2": 4, "nehalem": 16, "skylake": 32, "skylake_8": 32, "icelake": 32, "zen4": 16}
"""Entries (SDM volume 3, tables 17-4, 17-10 and 17-16; of Zen 4 CPUID Fn8000_0022 EBX 9:4)."""
EVENT = {"core2": "INST_RETIRED.ANY_P"}
PERIOD = 17

THREADS = """
#include <pthread.h>
static void *work(void *argument) {
    volatile long i, sum = 0;
    for (i = 0; i < 2000; i++)
        sum += i % 3 ? (long)argument : i;
    return 0;
}
int main(void) {
    pthread_t threads[2];
    long i;
    for (i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, (void *)i);
    for (i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
"""


@cache
def log(name: str, size: str) -> tuple[list[Step], list[Taken]]:
    """A program's instructions, and its taken branches."""
    with TemporaryDirectory() as directory:
        steps = stepped([EXAMPLES / "x86_64" / name, size], Path(directory))
    return steps, list(taken_branches(steps))


def sampled(name: str, size: str, pmu: str, filters: str, events: str = "instructions", **options: Any) -> pfmon.Run:
    command = [str(EXAMPLES / "x86_64" / name), size]
    return pfmon.run(
        command,
        pmu=pmu,
        events=events,
        branch_filter=filters,
        stdout=pfmon.DEVNULL,
        **{"long_smpl_periods": PERIOD, **options},
    )


def stack(pmu: str, filters: str) -> LastBranchStack:
    """What decodes the branches of samples."""
    model = pfmon.pmu.get(pmu)
    made = model.program(["instructions"], last_branches=filters.split(","))
    buffer = captures_of(model, made.writes).branches
    assert isinstance(buffer, LastBranchStack)
    return buffer


def records(pmu: str, filters: str, sample: Sample) -> list[tuple[int, int]]:
    """The branches of a sample, the oldest first."""
    return [(edge.source, edge.target) for edge in stack(pmu, filters).edges(dict(sample.pmds))]


def calls_of(branches: list[Taken]) -> tuple[int, ...]:
    """The calls that recorded calls and returns leave, the latest first."""
    left: list[int] = []
    for one in branches:
        left = left[:-1] if one.kind == "ret" else [*left, one.source]
    return tuple(left[::-1])


def check(name: str, size: str, pmu: str, filters: str) -> None:
    steps, branches = log(name, size)
    samples = sampled(name, size, pmu, filters).samples
    assert samples is not None and len(samples) == len(steps) // PERIOD
    for number, sample in enumerate(samples, 1):
        retired = number * PERIOD - 1
        assert sample.iip == steps[retired].ip
        if filters == "stack":
            held = last_calls(branches, retired, DEPTHS[pmu])
            assert records(pmu, filters, sample) == held
            assert sample.calls == tuple(source for source, _ in reversed(held))
        else:
            expected = last_branches(branches, retired, DEPTHS[pmu], filters.split(","))
            assert records(pmu, filters, sample) == [(one.source, one.target) for one in expected]
            assert sample.calls == (calls_of(expected) if filters == "any_call,any_ret" else ())


@each("pmu", DEPTHS)
def test_depth_is_that_of_the_processor(pmu: str) -> None:
    check("queens", "3", pmu, "any")


@diagonal
@each("filters", ["any", "ind_jmp", "cond,any_ret"])
@each("name", ["queens", "dispatch"])
def test_exact_edges_are_those_of_the_log(name: str, filters: str) -> None:
    _, branches = log(name, "5")
    kinds = set().union(*(FILTERS[one] for one in filters.split(",")))
    for events in ("instructions", "instructions,branch-misses"):
        run = sampled(name, "5", "skylake", filters, events, smpl_truth=True)
        assert run.exact_edges == Counter((one.source, one.target) for one in branches if one.kind in kinds)


NAMES = [
    "any",
    "any_call",
    "any_ret",
    "call",
    "cond",
    "ind_call",
    "ind_jmp",
    "cond,any_ret",
    "any_call,any_ret",
    "stack",
]


@pytest.mark.slow
@each("filters", NAMES)
def test_filters_let_through_what_perf_says(filters: str) -> None:
    check("dispatch", "5", "skylake", filters)


@pytest.mark.slow
@diagonal
@each("filters", NAMES)
@each("name", ["fib", "queens", "hashmap"])
def test_filters_let_through_what_perf_says_in_each_program(name: str, filters: str) -> None:
    check(name, "5", "skylake", filters)


def test_programs_have_every_kind_of_branch() -> None:
    kinds = {one.kind for name in ("queens", "dispatch") for one in log(name, "5")[1]}
    assert kinds == {"jcc", "jmp", "indirect jmp", "call", "indirect call", "ret"}


@pytest.mark.slow
@each("pmu", ["core2", "nehalem", "skylake", "icelake", "zen4"])
def test_mispredicted_branches_are_those_that_the_counter_counts(pmu: str) -> None:
    run = pfmon.run(
        [str(EXAMPLES / "x86_64" / "queens"), "4"],
        pmu=pmu,
        events="instructions,branch-misses",
        long_smpl_periods=1,
        branch_filter="any",
        stdout=pfmon.DEVNULL,
    )
    assert run.samples
    model = pfmon.pmu.get(pmu)
    buffer = captures_of(model, model.program(["instructions"], last_branches=["any"]).writes).branches
    assert buffer
    counter = next(number for number, _ in run.samples[0].pmds)
    missed = [0, *(dict(sample.pmds)[counter] for sample in run.samples)]
    checked = 0
    for number in range(1, len(run.samples)):
        newest = buffer.edges(dict(run.samples[number].pmds))[-1:]
        if newest and newest[0].source == run.samples[number - 1].iip:
            counted = missed[number] - missed[number - 1] > 0
            assert newest[0].mispredicted == (counted and pmu != "core2")
            checked += counted
    assert checked > 10


@pytest.mark.slow
def test_each_thread_has_its_own_records(tmp_path: Path) -> None:
    """By a recording's blocks and marks of threads: a branch's target is the next block of its thread."""
    program = compile_c(tmp_path, THREADS, "-pthread")
    recording = tmp_path / "recording"
    pfmon.record(recording, [str(program)], pmu="skylake", events="none", quantum=50)
    options: dict[str, Any] = {
        "pmu": "skylake",
        "events": "instructions",
        "long_smpl_periods": 997,
        "branch_filter": "any",
    }
    samples = pfmon.replay(recording, **options).samples
    engine, recorder = ReplayEngine(str(recording)), Recorder()
    engine.run(recorder)
    held: dict[int, list[tuple[int, int]]] = {}
    left: dict[int, int] = {}
    thread = retired = 0
    due = iter(samples or ())
    sample = next(due)
    for word in recorder.words():
        if word >> 63:
            thread = word & 0xFFFFFFFF if word >> 56 & 0x7F == Mark.THREAD else thread
            continue
        block = engine.table.block(word & 0xFFFFFFFF)
        if thread in left:
            held.setdefault(thread, []).append((left.pop(thread), block.ip))
        one = block.instructions[-1]
        for _ in block.instructions:
            retired += 1
            if sample and retired == sample.retired:
                assert records("skylake", "any", sample) == held.get(thread, [])[-32:]
                sample = next(due, None)
        if one.branch and (one.condition is None or word >> (32 + one.condition) & 1):
            left[thread] = one.address
    assert sample is None and len(held) == 3


def test_cycles_between_branches_add_up_to_those_of_the_run() -> None:
    _, branches = log("queens", "4")
    run = sampled("queens", "4", "skylake", "any", "instructions,cycles", long_smpl_periods=1)
    buffer = stack("skylake", "any")
    assert run.samples
    newest: dict[int, int] = {}
    for sample in run.samples:
        held = dict(sample.pmds)
        for one in buffer.entries(held)[-1:]:
            assert one.cycles is not None
            newest[sum(branch.before < sample.retired for branch in branches)] = one.cycles
    cycles = next(value for number, value in run.samples[-1].pmds if number < 0x40)
    assert len(newest) == len(branches)
    assert 0 <= cycles - sum(newest.values()) < 300  # those behind the last branch


@pytest.mark.slow
@each("pmu", ["core2", "nehalem", "zen4"])
def test_processors_without_infos_have_no_cycles(pmu: str) -> None:
    run = sampled("queens", "3", pmu, "any", "instructions,branch-misses")
    buffer = stack(pmu, "any")
    assert run.samples and all(one.cycles is None for one in buffer.entries(dict(run.samples[-1].pmds)))
