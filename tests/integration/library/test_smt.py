"""Two programs on one core, as objects: each counts what is its own, and they share what a core has once."""

from collections.abc import Sequence
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from command import example
from grids import each
from ia64_program import EXIT, write_program

import pfmon
from pfmon.session.sampling.sampling_period import Sample

HASHMAP, SORT, FIB = [example("hashmap"), "50"], [example("sort"), "50"], [example("fib"), "8"]
PAIR = (HASHMAP, SORT)
EXACT = ["ia64_inst_retired", "loads_retired", "nops_retired"]


def smt(commands: Sequence[Any] = PAIR, **options: Any) -> Any:
    return pfmon.smt(commands, **{"capture": True, **options})


def values(run: pfmon.Run) -> dict[str, Any]:
    return {count.name: count.value for count in run.counts}


def test_what_architecture_decides_is_as_if_each_were_alone() -> None:
    both = smt(events=EXACT)
    for run, command in zip(both.threads, PAIR, strict=True):
        alone = pfmon.run(command, pmu="montecito", events=EXACT, capture=True)
        assert values(run) == values(alone)
        assert (run.output, run.retired, run.status) == (alone.output, alone.retired, 0)


def test_every_cycle_of_the_core_is_counted_by_one_thread() -> None:
    both = smt(events=["cpu_op_cycles_all", "thread_switch_cycle_total", "thread_switch_events_all"], levels="uk")
    counted = [values(run) for run in both.threads]
    assert sum(one["CPU_OP_CYCLES_ALL"] for one in counted) == both.core_cycles
    for one, cycles in zip(counted, both.cycles, strict=True):
        assert one["CPU_OP_CYCLES_ALL"] == cycles.active
        assert one["THREAD_SWITCH_CYCLE_TOTAL"] == cycles.switching
        assert one["THREAD_SWITCH_EVENTS_ALL"] == sum(cycles.switches.values()) - cycles.switches["low_power"]
    assert both.cycles[0].background == both.cycles[1].active


def test_registers_in_use_are_those_of_the_cycles_in_the_foreground() -> None:
    both = smt(events=["rse_current_regs_2_to_0"])
    for run, cycles in zip(both.threads, both.cycles, strict=True):
        low_bits = values(run)["RSE_CURRENT_REGS_2_TO_0"]
        assert 0 < low_bits <= 7 * cycles.active


def test_runs_repeat_to_the_last_digit() -> None:
    events = ["cpu_op_cycles_all", "l2d_misses", "l3_misses", "be_flush_bubble_all"]
    first, second = smt(events=events), smt(events=events)
    assert first.cycles == second.cycles
    assert [values(run) for run in first.threads] == [values(run) for run in second.threads]


@pytest.mark.parametrize("event", ["L2D_REFERENCES_ALL", "ER_MEM_READ_OUT_LO", "L3_MISSES", "BUS_ALL_SELF"])
def test_all_threads_counts_both_and_each_alone_does_not(event: str) -> None:
    own = [values(run)[event] for run in smt(events=[event]).threads]
    both = [values(run)[event] for run in smt(events=[event], all_threads=True).threads]
    assert all(own) and both == [sum(own)] * 2


def test_two_recordings_count_as_the_programs_did(tmp_path: Path) -> None:
    events = [*EXACT, "cpu_op_cycles_all", "l3_misses", "thread_switch_events_l3miss"]
    path = tmp_path / "pair"
    ran = smt(events=events, record=path)
    recordings = [f"{path}.0", f"{path}.1"]
    replayed = pfmon.smt(replays=recordings, events=events)
    one_of_them = smt([None, SORT], replays=[recordings[0], None], events=events)
    for again in (replayed, one_of_them):
        assert again.cycles == ran.cycles
        assert [values(run) for run in again.threads] == [values(run) for run in ran.threads]
        assert [run.command for run in again.threads] == [tuple(command) for command in PAIR]


def test_who_has_priority_is_a_figure_of_the_machine() -> None:
    both = [smt(set={"smt.policy": "exclusive", "smt.priority": first}, events=EXACT) for first in (0, 1)]
    assert both[0].cycles[0].switches["low_power"] == both[1].cycles[1].switches["low_power"] == 1
    assert sum(sum(one.switches.values()) for one in both[0].cycles) == 1


def test_each_thread_has_counters_that_overflow_by_themselves() -> None:
    sampled = {"events": EXACT, "long_smpl_periods": [1000]}
    both = smt([FIB, SORT], **sampled)
    for run, command in zip(both.threads, (FIB, SORT), strict=True):
        alone = pfmon.run(command, pmu="montecito", capture=True, **sampled)
        assert run.samples and [one._replace(stamp=0) for one in run.samples] == [
            one._replace(stamp=0) for one in alone.samples
        ]
        stamps = [one.stamp for one in run.samples]  # cycles of the core
        assert stamps == sorted(stamps)
        assert len(run.samples) == run.retired // 1000
    assert len(both.threads[0].samples) != len(both.threads[1].samples)


def test_samples_go_to_who_wants_those_of_a_thread() -> None:
    taken: tuple[list[Sample], list[Sample]] = [], []
    kept = smt(events=EXACT, long_smpl_periods=[700])
    smt(events=EXACT, long_smpl_periods=[700], smpl_entries=4, on_samples=[one.extend for one in taken])
    assert [list(run.samples) for run in kept.threads] == [*taken]


def test_registers_of_a_range_are_those_of_each_program() -> None:
    both = smt(events=["ia64_inst_retired"], irange="main")
    for run, command in zip(both.threads, PAIR, strict=True):
        alone = pfmon.run(command, pmu="montecito", events=["ia64_inst_retired"], irange="main", capture=True)
        assert values(run) == values(alone)
    programmed = [run.programming.to_dict()["programming"][0]["pmus"][0]["registers"] for run in both.threads]
    assert programmed[0] != programmed[1]


def test_results_are_objects() -> None:
    pandas = pytest.importorskip("pandas")
    both = smt(events=EXACT)
    table = both.to_pandas()
    assert isinstance(table, pandas.DataFrame)
    assert list(table["thread 1"]) == [count.value for count in both.threads[1].counts]
    found = both.to_dict()
    assert found["core"]["cycles"] == both.core_cycles
    assert found["threads"][1]["instructions"] == both.threads[1].retired


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"events": [["loads_retired"], ["nops_retired"]], "switch_timeout": 1}, "several event sets"),
    ({"events": EXACT, "print_interval": 1}, "--print-interval"),
    ({"events": EXACT, "insecure": True}, "--insecure"),
    ({"events": EXACT, "trigger_event": "loads_retired:10"}, "--trigger"),
    ({"guest_pmu": True}, "--guest-pmu"),
    ({"report": "html"}, "--report=html"),
    ({"events": EXACT, "pmu": "itanium2"}, "itanium2 has one hardware thread"),
    ({"events": EXACT, "machine": "itanium2"}, "one hardware thread"),
    ({"events": ["l3_misses"] * 7}, "banked_counters_count_active_events_only"),
    ({"events": ["l2d_references_all"], "all_threads": True, "long_smpl_periods": [9]}, "--all-threads"),
    ({"commands": [HASHMAP]}, "for each of two threads"),
    ({"commands": [HASHMAP, None]}, "for each of two threads"),
    ({"commands": [HASHMAP, "/nonexistent"]}, "/nonexistent"),
]


@each(("options", "said"), REFUSED, ids=lambda one: one if isinstance(one, str) else "")
def test_what_cannot_be_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(pfmon.PfmonError, match=said) as caught:
        smt(**options)
    assert "\n" not in str(caught.value)


def test_rules_of_counters_can_be_lifted() -> None:
    both = smt(events=["l3_misses"] * 7, no_smt_rules=True)
    assert [count.pmd for count in both.threads[0].counts] == list(range(4, 11))


@pytest.mark.slow
def test_both_end_when_one_of_them_is_to() -> None:
    both = smt([[example("noploop"), "100000000000"], [example("noploop"), "100000000000"]], events=EXACT, timeout=0.3)
    assert {run.stopped for run in both.threads} == {"timeout"}
    assert all(run.retired > 1000 for run in both.threads)


def test_what_a_taker_of_samples_raises_ends_both() -> None:
    def fail(_: Sequence[Sample]) -> None:
        raise ZeroDivisionError("mine")

    forever = [example("noploop"), "100000000000"]
    with pytest.raises(ZeroDivisionError, match="mine"):
        smt([forever, forever], events=EXACT, long_smpl_periods=[1000], smpl_entries=2, on_samples=[None, fail])


def test_a_thread_whose_session_fails_leaves_no_one_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    from pfmon.session.run.monitored_run import Session

    right = Session._run

    def wrong(self: Session, *arguments: Any) -> Any:
        if self.plan.hardware_thread and self.plan.hardware_thread.number == 1:
            raise MemoryError("none left")
        return right(self, *arguments)

    monkeypatch.setattr(Session, "_run", wrong)
    with pytest.raises(MemoryError, match="none left"):
        smt([[example("hashmap"), "3000"], SORT], events=EXACT)


@pytest.mark.parametrize("sampled", [{}, {"long_smpl_periods": [100]}])
def test_a_program_that_reads_counters_reads_nothing(tmp_path: Path, sampled: dict[str, Any]) -> None:
    read = ["alloc r33=ar.pfs,8,0,0", "adds r9=4,r0", "mov r32=pmd[r9]", "adds r15=1025,r0", "break.m 0x100000"]
    path = write_program(tmp_path / "read", read)
    both = smt([path, SORT], events=["loads_retired", "ia64_inst_retired", "l3_misses"], **sampled)
    assert both.threads[0].status == 0 and both.threads[0].retired > 4


def test_a_damaged_recording_ends_both(tmp_path: Path) -> None:
    path = tmp_path / "run"
    pfmon.record(path, [example("hashmap"), "2000"], capture=True)
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 3 // 4])
    with pytest.raises(pfmon.PfmonError, match=r"run: "):
        smt([None, [example("noploop"), "100000000000"]], replays=[path, None], events=EXACT)


def test_a_program_may_end_long_before_the_other(tmp_path: Path) -> None:
    short = write_program(tmp_path / "short", EXIT)
    alone = [pfmon.run(command, capture=True).retired for command in (short, SORT)]
    for commands in ([short, SORT], [SORT, short]):
        both = smt(commands, events=EXACT)
        assert sorted(run.retired for run in both.threads) == alone
        assert sum(one.switches["low_power"] for one in both.cycles) == 1


@pytest.mark.slow
def test_a_run_can_be_stopped_from_any_thread() -> None:
    from pfmon.library.keywords import options_of
    from pfmon.library.preparing.coupled_programs import PreparedCore
    from pfmon.library.preparing.standard_streams import DEVNULL, Files

    forever = [example("noploop"), "100000000000"]
    files = [Files(DEVNULL, DEVNULL, DEVNULL) for _ in range(2)]
    prepared = PreparedCore(options_of({"events": EXACT}), [forever, forever], files)
    Timer(0.2, prepared.stop).start()
    assert {run.stopped for run in prepared.run().threads} == {"stop"}
