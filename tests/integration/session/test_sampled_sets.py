"""Samples of several event sets, and with triggers."""

from pathlib import Path

import pytest
from grids import diagonal

import pfmon
from pfmon.errors import PfmonError
from pfmon.program.symbols import SymbolTable

EXAMPLE = str(Path(__file__).resolve().parents[3] / "examples" / "ia64" / "hashmap")
COMMAND = [EXAMPLE, "300"]


def stamp(nth: int, period: int, turn: int, number: int, sets: int) -> int:
    """When an event set's counter of instructions overflows for the ``nth`` time, in instructions of the run, if the
    sets take turns after ``turn`` instructions."""
    counted = nth * period - 1
    return (counted // turn * sets + number) * turn + counted % turn + 1


@pytest.mark.slow
@diagonal
@pytest.mark.parametrize("event", ["ia64_inst_retired", "ia64_inst_retired,cpu_cycles"], ids=["exact", "machine"])
@pytest.mark.parametrize(("period", "turn", "sets"), [(700, 1000, 2), (1, 37, 3), (1001, 250, 2)])
def test_each_set_is_sampled_while_it_is_its_turn(event: str, period: int, turn: int, sets: int) -> None:
    run = pfmon.run(
        COMMAND,
        events=[event.split(",")] * sets,
        switch_timeout=turn / 1e6,
        long_smpl_periods=[[period]] * sets,
        stdout=pfmon.DEVNULL,
    )
    whole = run.retired
    wanted = [
        (at, number)
        for number in range(sets)
        for nth in range(1, whole // period + 2)
        if (at := stamp(nth, period, turn, number, sets)) <= whole
    ]
    assert [(sample.retired, sample.set) for sample in run.samples] == sorted(wanted)
    active = [
        sum(min(turn, whole - begin) for begin in range(number * turn, whole, sets * turn)) for number in range(sets)
    ]
    counts = [count for count in run.counts if count.name == "IA64_INST_RETIRED"]
    assert [count.estimate.raw for count in counts if count.estimate] == active


@pytest.mark.slow
def test_nothing_is_sampled_before_a_trigger_starts_counting() -> None:
    symbol = SymbolTable(Path(EXAMPLE).read_bytes()).find("lookup")
    assert symbol
    whole = pfmon.run(COMMAND, events="ia64_inst_retired", long_smpl_periods=1, stdout=pfmon.DEVNULL)
    begin = next(number for number, sample in enumerate(whole.samples) if sample.iip == symbol.address)
    for events in ("ia64_inst_retired", "ia64_inst_retired,cpu_cycles"):
        run = pfmon.run(
            COMMAND,
            events=events,
            long_smpl_periods=7,
            trigger_code_start_addresses=["lookup"],
            smpl_stacks=True,
            stdout=pfmon.DEVNULL,
        )
        assert [(one.iip, one.retired) for one in run.samples] == [
            (one.iip, one.retired) for one in whole.samples[begin + 6 :: 7]
        ]


@pytest.mark.slow
def test_the_truth_beside_samples_begins_with_the_trigger() -> None:
    run = pfmon.run(
        COMMAND,
        events="cpu_cycles",
        long_smpl_periods=1,
        smpl_truth=True,
        trigger_code_start_addresses=["lookup"],
        stdout=pfmon.DEVNULL,
    )
    assert run.exact
    assert sum(run.exact.values()) == len(run.samples)


def test_what_one_set_captures_is_not_sampled_in_another() -> None:
    run = pfmon.run(
        COMMAND,
        events=[["data_ear_cache_lat4"], ["branch_event"]],
        switch_timeout=0.001,
        long_smpl_periods=[[3], [50]],
        stdout=pfmon.DEVNULL,
    )
    registers = {0: {2, 3, 17}, 1: set(range(8, 17))}
    assert {sample.set for sample in run.samples} == {0, 1}
    assert all({number for number, _ in sample.pmds} == registers[sample.set] for sample in run.samples)


def test_the_truth_of_several_sets_is_refused() -> None:
    with pytest.raises(PfmonError, match="smpl-truth"):
        pfmon.run(
            COMMAND,
            events=[["cpu_cycles"], ["loads_retired"]],
            switch_timeout=0.1,
            long_smpl_periods=[[100], [100]],
            smpl_truth=True,
        )
