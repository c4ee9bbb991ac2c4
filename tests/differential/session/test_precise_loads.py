"""Precise loads: addresses and instructions by what the program does, sources by the events that count them."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from grids import diagonal, each
from lone_loads import BEFORE, LOOP, TIMES, built
from x86_64_host import MARKS

import pfmon
from pfmon.machine._machine import LoadSource
from pfmon.pmu.capture.captures import captures_of
from pfmon.pmu.capture.data_capture import DataCapture
from pfmon.pmu.capture.precise_loads import LEVELS, LOCKED, STLB_MISS, PreciseLoads
from pfmon.session.sampling.sampling_period import Sample

pytestmark = MARKS

ALL = {"nehalem": "mem_inst_retired.latency_above_threshold_0"}
SLOW = {"skylake": "mem_trans_retired.load_latency_gt_4", "icelake": "mem_trans_retired.load_latency_gt_8"}
SLOW |= {"nehalem": "mem_inst_retired.latency_above_threshold_4"}
WALKS = {"skylake": "dtlb_load_misses.miss_causes_a_walk", "icelake": "dtlb_load_misses.walk_completed"}


def sampled(made: Path, pmu: str, events: str, period: int = 1, **options: Any) -> pfmon.Run:
    return pfmon.run([str(made)], pmu=pmu, events=events, long_smpl_periods=period, **options)


def captured(samples: list[Sample]) -> Iterator[tuple[Sample, DataCapture]]:
    for sample in samples:
        yield sample, PreciseLoads.capture(dict(sample.pmds))


def test_every_load_of_a_threshold_of_nothing_is_captured_in_order() -> None:
    _, made, load, table = built(64)
    samples = sampled(made, "nehalem", ALL["nehalem"]).samples
    assert samples and len(samples) == TIMES
    for number, (sample, capture) in enumerate(captured(samples)):
        assert sample.iip == capture.instruction == load
        assert capture.address == table + 64 * number
        assert sample.retired == BEFORE + (LOOP + 2) * number + 2


@diagonal
@each("pmu", SLOW)
@each("stride", [8, 64, 4096, 8256])
def test_sources_are_those_that_events_count(pmu: str, stride: int) -> None:
    _, made, load, table = built(stride)
    samples = sampled(made, pmu, SLOW[pmu]).samples
    assert samples is not None
    found = [capture for _, capture in captured(samples)]
    assert all(one.instruction == load and one.latency is not None and one.latency > 4 for one in found)
    assert all(one.address is not None and not (one.address - table) % stride for one in found)
    assert len({one.address for one in found}) == len(found)
    levels = Counter(one.level for one in found)
    walks = sum(PreciseLoads.walked(dict(sample.pmds)) for sample in samples)
    if pmu == "nehalem":
        (misses,) = (one.value for one in pfmon.run([str(made)], pmu=pmu, events="L1-dcache-load-misses").counts)
        assert levels["L2"] + levels["L3"] + levels["RAM"] == misses
        return
    events = ["l2_hit", "l3_hit", "l3_miss", "fb_hit"]
    names = ",".join([*(f"mem_load_retired.{one}" for one in events), WALKS[pmu]])
    counted = [one.value for one in pfmon.run([str(made)], pmu=pmu, events=names, unlimited=True).counts]
    assert [levels["L2"], levels["L3"], levels["RAM"], levels["LFB"], walks] == counted


@each("pmu", ["skylake", "icelake"])
def test_loads_that_hit_l1d_are_faster_than_the_least_threshold(pmu: str) -> None:
    _, made, _, _ = built(8)
    run = pfmon.run([str(made)], pmu=pmu, events=f"{SLOW[pmu]},mem_load_retired.l1_hit", unlimited=True)
    slow, hits = (one.value for one in run.counts)
    assert slow == TIMES - hits and hits and slow


@pytest.mark.parametrize("threshold", [64, 256])
def test_thresholds_are_exceeded(threshold: int) -> None:
    _, made, _, _ = built(8256)
    every = sampled(made, "skylake", SLOW["skylake"]).samples
    some = sampled(made, "skylake", f"mem_trans_retired.load_latency_gt_{threshold}").samples
    assert every is not None and some is not None
    latencies = [capture.latency or 0 for _, capture in captured(every)]
    assert [capture.latency for _, capture in captured(some)] == [one for one in latencies if one > threshold]


def test_last_branches_stand_beside_loads() -> None:
    _, made, load, _ = built(64)
    samples = sampled(made, "skylake", SLOW["skylake"], branch_filter="any").samples
    model = pfmon.pmu.get("skylake")
    buffer = captures_of(model, model.program([SLOW["skylake"]], last_branches=["any"]).writes).branches
    assert samples and buffer
    for sample in samples[1:]:
        held = dict(sample.pmds)
        assert PreciseLoads.capture(held).instruction == load
        assert {edge.source - edge.target for edge in buffer.edges(held)} == {
            next(iter(buffer.edges(held))).source - next(iter(buffer.edges(held))).target
        }


def test_numbers_of_sources_are_those_of_the_machine() -> None:
    assert {**LEVELS, STLB_MISS: "walk", LOCKED: "locked"} == {
        LoadSource.SOURCE_L1: "L1",
        LoadSource.SOURCE_FILL_BUFFER: "LFB",
        LoadSource.SOURCE_L2: "L2",
        LoadSource.SOURCE_L3: "L3",
        LoadSource.SOURCE_L3_SNOOP_MISS: "L3",
        LoadSource.SOURCE_L3_SNOOP_HIT: "L3",
        LoadSource.SOURCE_L3_SNOOP_HITM: "L3",
        LoadSource.SOURCE_MEMORY: "RAM",
        LoadSource.SOURCE_STLB_MISS: "walk",
        LoadSource.SOURCE_LOCKED: "locked",
    }
