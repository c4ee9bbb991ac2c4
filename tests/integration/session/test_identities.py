"""What the manuals say of sums of events holds exactly, in every run: every example on every machine."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import pytest
from grids import each
from guests import SMALL, guest, quiet
from totals import machine_totals, signal_totals

from pfmon.counting._counting import Tally
from pfmon.counting.totals.record_query import RecordQuery, query_of
from pfmon.machine._machine import Cause, Machine
from pfmon.machine.config.machine_config import load
from pfmon.machine.config.machine_figures import ITANIUMS
from pfmon.session.run.machine_run import MachineRun
from pfmon.session.run.monitoring import nothing_is_lost
from pfmon.signals.machine_signals import meanings, named
from pfmon.stream._stream import BlockTable

QUICK = ("epic", "sort", "matmul")
RUNS = [
    pytest.param(name, machine, marks=() if name in QUICK else pytest.mark.slow)
    for name in sorted(SMALL)
    for machine in ITANIUMS
]
EVERYWHERE = ((0, 0),)
OF_DATA = ("l1d_reads", "l1d_read_misses.all", "l1d_read_misses.rse_fill", "l2d_references.writes", "l2dtlb_misses")
BY_CYCLE = (
    "inst_retired",
    "nops_retired",
    "predicate_squashed",
    "loads_retired",
    "stores_retired",
    "data_references",
    "fp_ops_retired",
    "branches.all",
    "rse_references.all",
)
EXACT = ("branches.iprel", "branches.return", "branches.nretind", *BY_CYCLE)
HITS_AND_MISSES = {
    "l3_reads.all": ("l3_reads.data_read", "l3_reads.inst_fetch"),
    "l3_writes.all": ("l3_writes.data_write", "l3_writes.l2_wb"),
}


class Run(NamedTuple):
    """Totals by signal, of the machine and of architecture; L+X pairs that retired; cycles, and those that retired
    something."""

    machine: dict[str, int]
    exact: dict[str, int]
    pairs: int
    cycles: int
    retiring: int
    ranged: dict[str, int]
    by_cycle: dict[str, int]
    kernel: int


@cache
def run(
    name: str, machine: str, threaded: bool = True, memo: bool = True, ranges: tuple[tuple[int, int], ...] = ()
) -> Run:
    """An example's small run."""
    program = guest(name, SMALL[name], trace=True)
    processor = program.processor
    tally = Tally(processor.table, traced=True)
    figures = load(machine)
    on = MachineRun(figures, program.table, ranges, memo, threaded=threaded)
    consumer = on.feed(beside=tally)
    with quiet(), on:
        program.run(consumer)
    program.close()
    nothing_is_lost([program.table.failure, tally.failure, *on.failures])
    found, rate = on.machine, int(figures["rse.rate"])
    signals = [
        signal
        for signal, meaning in meanings().items()
        if meaning.kind not in ("level", "per_cycle", "qualified", "stops") and "CLOCK" not in named(signal)
    ]
    totals = summed(signals, [query_of(signal, 0, False, None) for signal in signals], program.table, found, rate)
    ranged = summed(OF_DATA, [query_of(signal, 0, True, None) for signal in OF_DATA], program.table, found, rate)
    totals |= {f"level {name}": sum(cycles) for name, cycles in found.levels().items()}
    by_cycle = summed(BY_CYCLE, [cycle_by_cycle(signal) for signal in BY_CYCLE], program.table, found, rate)
    blocks = range(processor.block_count())
    pairs = sum(tally.runs(n) * sum(one.slots - 1 for one in processor.block(n).instructions) for n in blocks)
    retiring = sum(cycles for *_, cycles in found.records.dispersal())
    kernel = sum(cycles for *_, cause, cycles in found.bubbles() if cause == Cause.KERNEL)
    exact = signal_totals(EXACT, program.table, tally)
    return Run(totals, exact, pairs, found.cycles, retiring, ranged, by_cycle, kernel)


def summed(
    signals: Sequence[str], queries: Sequence[RecordQuery], table: BlockTable, machine: Machine, rate: int
) -> dict[str, int]:
    return dict(zip(signals, machine_totals(queries, table, machine, rate), strict=True))


def cycle_by_cycle(signal: str) -> RecordQuery:
    """A look that adds up what each cycle adds to a signal that architecture decides, without a threshold."""
    return query_of(signal, 1, False, None)._replace(threshold=0)


@each(("name", "machine"), RUNS)
def test_every_cycle_retires_something_or_is_a_bubble_of_one_kind(name: str, machine: str) -> None:
    """Montecito manual section 4.6."""
    found = run(name, machine)
    bubbles = found.machine["back_end_bubble.all"]
    assert found.machine["cpu_op_cycles.all"] == found.cycles - found.kernel == bubbles + found.retiring
    parts = ("be_rse_bubble", "be_exe_bubble", "be_l1d_fpu_bubble", "be_flush_bubble")
    assert bubbles == sum(found.machine[f"{part}.all"] for part in parts) + found.machine["back_end_bubble.fe"]


@each(("name", "machine"), RUNS)
def test_a_cycle_that_is_not_stalled_accounts_for_six_syllables(name: str, machine: str) -> None:
    """Montecito manual section 4.4."""
    found = run(name, machine).machine
    left = found["syll_not_dispersed.all"] - found["syll_overcount.all"]
    assert 6 * (found["cpu_op_cycles.all"] - found["disp_stalled"]) == found["inst_dispersed"] + left
    reasons = ("expl", "impl", "fe", "mlx")
    assert found["syll_not_dispersed.all"] == sum(found[f"syll_not_dispersed.{reason}"] for reason in reasons)


@each(("name", "machine"), RUNS)
def test_every_syllable_that_retired_was_dispersed_once(name: str, machine: str) -> None:
    """Wrong paths are not simulated; of an L+X pair one syllable is dispersed, the other is lost to MLX."""
    found = run(name, machine)
    assert found.machine["inst_dispersed"] == found.exact["inst_retired"]
    assert found.machine["syll_not_dispersed.mlx"] == found.pairs


@each(("name", "machine"), RUNS)
def test_references_are_hits_and_misses_at_each_level(name: str, machine: str) -> None:
    found = run(name, machine).machine
    assert found["l2d_references.all"] == found["l2d_insert_hits"] + found["l2d_insert_misses"]
    assert found["l2d_references.all"] == found["l2d_references.reads"] + found["l2d_references.writes"]
    for kind in ("all", "dmnd", "pftch"):
        assert found[f"l2i_reads.all_{kind}"] == found[f"l2i_reads.hit_{kind}"] + found[f"l2i_reads.miss_{kind}"]
    for whole, parts in HITS_AND_MISSES.items():
        for signal in (whole, *parts):
            assert found[f"{signal}_all"] == found[f"{signal}_hit"] + found[f"{signal}_miss"]
        assert found[f"{whole}_all"] == sum(found[f"{part}_all"] for part in parts)
    assert found["l3_references"] == found["l3_reads.all_all"] + found["l3_writes.all_all"]
    assert found["l1d_read_misses.rse_fill"] <= found["l1d_read_misses.all"] <= found["l1d_reads"]
    assert found["l2d_misses"] <= found["l2d_insert_misses"]


@each(("name", "machine"), RUNS)
def test_what_leaves_a_level_arrives_at_the_next(name: str, machine: str) -> None:
    found = run(name, machine).machine
    sent = found["l2d_misses"] + found["l2i_reads.miss_all"]
    assert sent == found["l3_reads.all_all"] + found["l3_writes.data_write_all"]
    assert found["l2i_reads.all_all"] == found["l2i_demand_reads"] + found["l2i_prefetches"]
    missed = found["l3_reads.all_miss"] + found["l3_writes.data_write_miss"]
    assert missed == found["bus_mem_read.brl_self"] + found["bus_mem_read.bril_self"]
    assert found["l3_inserts"] <= missed + found["l3_writes.l2_wb_miss"]
    assert found["l3_lines_replaced"] <= found["l3_inserts"]


@each(("name", "machine"), RUNS)
def test_every_branch_is_in_one_class_of_each_prediction_event(name: str, machine: str) -> None:
    found = run(name, machine)
    classes = ("correct_pred", "wrong_path", "wrong_target")
    for kind, exact in {"all": "all", "iprel": "iprel", "return": "return", "nretind": "nretind"}.items():
        assert (
            sum(found.machine[f"br_mispred_detail.{kind}_{one}"] for one in classes) == found.exact[f"branches.{exact}"]
        )
        paths = [f"br_path_pred.{kind}_{hit}_{way}" for hit in ("okpred", "mispred") for way in ("taken", "nottaken")]
        assert sum(found.machine[path] for path in paths) == found.exact[f"branches.{exact}"]
    if machine == "itanium":
        stages = [f"branch_path.all.{way}.{hit}" for way in ("tk", "nt") for hit in ("correct", "wrong")]
        assert sum(found.machine[stage] for stage in stages) == found.exact["branches.all"]
        predictions = ("correct_predictions", "wrong_path", "wrong_target")
        whole = sum(found.machine[f"branch_predictor.all_{one}"] for one in predictions)
        assert whole == found.exact["branches.all"]


@each(("name", "machine"), RUNS)
def test_every_level_stands_for_every_cycle_of_the_program(name: str, machine: str) -> None:
    """The operating system's cycles are of level 0 (Montecito manual section 3.2.3.2)."""
    found = run(name, machine)
    levels = {signal: cycles for signal, cycles in found.machine.items() if signal.startswith("level ")}
    assert len(levels) > 10
    assert {signal for signal, cycles in levels.items() if cycles != found.cycles - found.kernel} == set()


@pytest.mark.slow
@each(("name", "machine"), RUNS)
def test_results_do_not_depend_on_threads_nor_on_the_memo(name: str, machine: str) -> None:
    assert run(name, machine, threaded=False) == run(name, machine) == run(name, machine, memo=False)


@each(("name", "machine"), RUNS)
def test_to_watch_data_ranges_changes_nothing(name: str, machine: str) -> None:
    watched = run(name, machine, ranges=EVERYWHERE)
    assert watched._replace(ranged={}) == run(name, machine)._replace(ranged={})


@each(("name", "machine"), RUNS)
def test_a_range_of_all_addresses_holds_every_access(name: str, machine: str) -> None:
    """Instructions, walks for them, and write-backs that fetches cause have no data address."""
    watched = run(name, machine, ranges=EVERYWHERE)
    assert watched.ranged == {signal: watched.machine[signal] for signal in OF_DATA}


@each(("name", "machine"), RUNS)
def test_what_cycles_add_is_what_architecture_counts(name: str, machine: str) -> None:
    """Cycle by cycle without a threshold: the increments of all cycles are the exact totals."""
    found = run(name, machine)
    assert found.by_cycle == {signal: found.exact[signal] for signal in found.by_cycle}


@each(("name", "machine"), RUNS)
def test_itaniums_cycle_events_account_for_every_cycle_once(name: str, machine: str) -> None:
    """Flushes, memory, dependencies and cycles without a stall of the back end; the rest are parts of these."""
    found = run(name, machine).machine
    parts = ("unstalled_backend_cycle", "pipeline_backend_flush_cycle", "memory_cycle", "dependency_all_cycle")
    assert found["cpu_cycles"] == sum(found[part] for part in parts)
    assert found["data_access_cycle"] <= found["memory_cycle"]
    assert found["dependency_scoreboard_cycle"] <= found["dependency_all_cycle"]
    assert found["inst_access_cycle"] <= found["unstalled_backend_cycle"]
