"""Instruction-based sampling of ops: what is sampled by what the program does, sources by the events of them."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from command import pfmon as pfmon_command
from grids import each
from lone_loads import BEFORE, LOOP, TIMES, built
from x86_64_host import MARKS

import pfmon
from pfmon.errors import PfmonError
from pfmon.pmu import get
from pfmon.pmu.capture.captures import captures_of
from pfmon.pmu.capture.data_capture import DataCapture
from pfmon.pmu.capture.precise_loads import precise_load_values
from pfmon.pmu.capture.sampled_ops import SampledOps, load_record, sampled_op_values
from pfmon.pmu.target import IBS_OP_DATA3, IBS_OP_RIP
from pfmon.report.exports.perf_captures import load_of, load_source

pytestmark = MARKS

ZEN3 = get("zen3")
FILLS = {"L2": "LCL_L2", "L3": "INT_CACHE", "RAM": "MEM_IO_LOCAL"}
WALKS = "LS_L1_D_TLB_MISS.TLB_RELOAD_4K_L2_MISS"


def sampled(made: Path, period: int, event: str = "ibs_op", **options: Any) -> list[tuple[Any, DataCapture]]:
    """The samples of a program, with their loads."""
    samples = pfmon.run([str(made)], pmu="zen3", events=event, long_smpl_periods=period, **options).samples
    assert samples
    return [(sample, SampledOps.capture(dict(sample.pmds))) for sample in samples]


def test_every_load_has_its_address_and_no_other_op_has_one() -> None:
    """Of seven instructions of the loop the second one loads; sample by sample, op by op."""
    _, made, load, table = built(64)
    loads = 0
    for sample, capture in sampled(made, 1):
        held = dict(sample.pmds)
        assert held[IBS_OP_RIP] == sample.iip and load_record(held) is SampledOps
        turn, place = divmod(sample.retired - BEFORE - 1, LOOP + 2)
        is_load = place == 1 and 0 <= turn < TIMES
        assert capture.valid == is_load == (sample.iip == load)
        if is_load:
            assert (capture.instruction, capture.address) == (load, table + 64 * turn)
            loads += 1
    assert loads == TIMES


@pytest.mark.slow
@each("period", [11, 13, 101])
def test_a_sample_is_taken_after_so_many_ops(period: int) -> None:
    """The loop has six macro-operations, which a period without a common factor reaches all."""
    _, made, _, _ = built(64)
    (ops,) = (count.value for count in pfmon.run([str(made)], pmu="zen3", events="ex_ret_ops").counts)
    samples = sampled(made, period)
    assert len(samples) == int(ops or 0) // period
    assert any(capture.valid for _, capture in samples) and not all(capture.valid for _, capture in samples)


@pytest.mark.slow
@each("stride", [8, 64, 4096, 8256])
def test_sources_are_those_that_events_count(stride: int) -> None:
    _, made, _, _ = built(stride)
    loads = [(sample, capture) for sample, capture in sampled(made, 1) if capture.valid]
    levels = Counter(capture.level for _, capture in loads)
    walks = sum(SampledOps.walked(dict(sample.pmds)) for sample, _ in loads)
    names = [*(f"LS_DMND_FILLS_FROM_SYS.{source}" for source in FILLS.values()), WALKS]
    counted = [one.value for one in pfmon.run([str(made)], pmu="zen3", events=names, unlimited=True).counts]
    assert [*(levels[level] for level in FILLS), walks] == counted
    for _, capture in loads:
        assert bool(capture.latency) == (capture.level != "L1")


@each(
    ("source", "level", "walked", "locked"),
    [(1, "L1", 0, 0), (2, "LFB", 0, 0), (3, "L2", 16, 0), (4, "L3", 0, 32), (12, "RAM", 16, 32)],
)
def test_registers_say_what_served_a_load(source: int, level: str, walked: int, locked: int) -> None:
    values = sampled_op_values((0x401000, False, 0x7000, 90, source | walked | locked), 0x401000)
    capture = SampledOps.capture(values)
    latency = 0 if level == "L1" else 90
    assert capture == DataCapture(True, 0x7000, 0x401000, latency, False, level)
    assert (SampledOps.walked(values), SampledOps.locked(values)) == (bool(walked), bool(locked))
    of_intel = precise_load_values((0x401000, False, 0x7000, 90, source | walked | locked))
    assert load_source(load_of(values), values) == load_source(load_of(of_intel), of_intel)
    other = sampled_op_values(None, 0x401004)
    assert not SampledOps.capture(other).valid and other[IBS_OP_DATA3] == 0


def test_cycles_sample_ops_too() -> None:
    _, made, load, _ = built(4096)
    samples = sampled(made, 97, "ibs_op_cycles")
    assert all((sample.iip == load) == capture.valid for sample, capture in samples)


@pytest.mark.slow
def test_the_histogram_of_loads_takes_them() -> None:
    _, made, load, _ = built(64)
    options = ("--pmu=zen3", "--no-cmd-output", "-e", "ibs_op", "--long-smpl-periods=1", "--smpl-module=dear-hist")
    text = pfmon_command(*options, str(made)).stdout
    assert "samples without a capture" in text and f"{TIMES} 100.00% 100.00%" in text and f"{load:#x}" in text


def test_samples_of_other_events_have_no_op() -> None:
    _, made, _, _ = built(64)
    run = pfmon.run([str(made)], pmu="zen3", events="ibs_op,ex_ret_instr", long_smpl_periods=[1009, 50])
    assert run.samples
    for sample in run.samples:
        held = dict(sample.pmds)
        assert held[IBS_OP_RIP] == (sample.iip if 32 in sample.overflowed else 0)


def test_samples_of_ops_have_no_skid() -> None:
    _, made, _, _ = built(64)
    with pytest.raises(PfmonError, match="samples of ops have no skid"):
        sampled(made, 50, smpl_skid=3)


@pytest.mark.parametrize("events", [["ibs_op", "ibs_op_cycles"], ["ibs_op", "ibs_op"]])
def test_one_op_is_sampled_at_a_time(events: list[str]) -> None:
    with pytest.raises(PfmonError, match="no counters left"):
        ZEN3.program(events)


@pytest.mark.slow
def test_sampling_is_switched_on_by_its_register() -> None:
    made = ZEN3.program(["IBS_OP", "EX_RET_INSTR"])
    assert made.writes == {"ibs_op_ctl": 0xA0000, "perf_ctl0": 0x5100C0}
    assert isinstance(captures_of(ZEN3, made.writes).data, SampledOps)
    assert captures_of(ZEN3, {"perf_ctl0": 0x5100C0}).data is None
    with pytest.raises(PfmonError, match="takes no threshold"):
        ZEN3.program([pfmon.pmu.EventRequest("IBS_OP", threshold=3)])
