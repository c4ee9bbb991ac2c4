"""Looking at a run while it runs changes nothing of it, and what is seen is part of what it comes to."""

from __future__ import annotations

from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest
from command import EXAMPLES, example
from grids import diagonal, first_quick

import pfmon
from pfmon.errors import PfmonError
from pfmon.library.keywords import options_of
from pfmon.library.preparing.plan import RunContext
from pfmon.library.preparing.prepared_run import Prepared, prepare_run
from pfmon.library.preparing.standard_streams import Files
from pfmon.library.run_monitor import RunMonitor
from pfmon.report.run_snapshot import RunSnapshot

if TYPE_CHECKING:
    from pfmon.engine.guest_pmu import PerformanceData
    from pfmon.session.run.monitored_run import Session
    from pfmon.stream._stream import Consumer

HASHMAP = [example("hashmap"), "30000"]
EVENTS = {
    "exact": ["ia64_inst_retired", "loads_retired"],
    "modelled": ["cpu_cycles", "ia64_inst_retired", "l2_misses", "back_end_bubble_all"],
    "formula": ["ia64_ipc", "nops_retired"],
}
MONTECITO = {"cpu_cycles": "cpu_op_cycles_all", "l2_misses": "l2d_misses"}


class Eager(RunMonitor):
    """Looks at every buffer that there is to look at, so that what is seen does not depend on the host's time."""

    def __init__(self, session: Session, functions: bool) -> None:
        super().__init__(session, functions)
        self.seen: list[RunSnapshot] = []

    def began(self, consumer: Consumer, data: PerformanceData | None) -> Consumer:
        probe = super().began(consumer, data)
        self.request_snapshot()
        return probe

    def _take_snapshot(self) -> None:
        super()._take_snapshot()
        self.seen.append(self.so_far)
        self.request_snapshot()


def watched(command: list[str], functions: bool = False, **options: object) -> tuple[pfmon.Run, list[RunSnapshot]]:
    """A run and what was seen of it, a buffer at a time."""
    prepared = prepare(command, options)
    watch = Eager(prepared.session, functions)
    return prepared.run(), watch.seen


def prepare(command: list[str], options: dict[str, object]) -> Prepared:
    return prepare_run(options_of(options), command, RunContext(Files(capture=True), watched=True))


def values(run: pfmon.Run) -> dict[str, object]:
    return {count.name: count.value for count in run.counts}


@diagonal
@pytest.mark.parametrize("events", first_quick(EVENTS.values()), ids=EVENTS)
@pytest.mark.parametrize("machine", first_quick(["itanium2", "montecito"]))
def test_counts_are_those_of_a_run_that_nobody_looks_at(events: list[str], machine: str) -> None:
    if machine == "montecito":
        events = [MONTECITO.get(event, event) for event in events]
    run, seen = watched(HASHMAP, events=events, machine=machine)
    alone = pfmon.run(HASHMAP, events=events, machine=machine, capture=True)
    assert values(run) == values(alone) and run.retired == alone.retired
    assert len([one for one in seen if one.counts]) >= 3


def test_another_thread_asks_while_the_program_runs() -> None:
    prepared = prepare([example("noploop"), "100000000000"], {"events": EVENTS["exact"], "timeout": 60})
    watch, ended, seen = RunMonitor(prepared.session), Event(), []

    def look() -> None:
        while not ended.wait(0.002) and len(seen) < 3:
            watch.request_snapshot()
            if (one := watch.so_far).counts and one.counts not in seen:
                seen.append(one.counts)
        prepared.stop()

    thread = Thread(target=look)
    thread.start()
    try:
        run = prepared.run()
    finally:
        ended.set()
        thread.join()
    assert run.stopped == "stop" and len(seen) == 3
    rows = [[value for _, value in counts] for counts in [*seen, tuple(values(run).items())]]
    assert rows == sorted(rows)


@pytest.mark.slow
def test_what_is_seen_grows_up_to_what_the_run_comes_to() -> None:
    run, seen = watched(HASHMAP, events=EVENTS["modelled"], functions=True)
    looks = [one for one in seen if one.counts]
    assert_grows(looks, values(run))
    for one in looks:
        for place, (_, total) in enumerate(one.counts):
            assert sum(row.values[place] for row in one.functions) == total
    assert [one.seconds for one in looks] == sorted(one.seconds for one in looks)
    assert all(one.memory > 1 << 20 for one in seen)


def assert_grows(looks: list[RunSnapshot], end: dict[str, object]) -> None:
    rows = [dict(one.counts) for one in looks]
    for before, after in zip(rows, [*rows[1:], end], strict=True):
        assert before.keys() == end.keys()
        assert all(before[name] <= after[name] for name in end)
    assert rows[0] != rows[-1]


@pytest.mark.parametrize(
    "events",
    first_quick([["INSTRUCTIONS_RETIRED"], ["UNHALTED_CORE_CYCLES", "INSTRUCTIONS_RETIRED", "LLC_MISSES"]]),
    ids=len,
)
def test_programs_under_qemu_are_seen_alike(events: list[str]) -> None:
    command = [f"{EXAMPLES}/x86_64/hashmap", "60000"]
    try:
        run, seen = watched(command, events=events)
    except PfmonError as error:
        pytest.skip(str(error))
    assert values(run) == values(pfmon.run(command, events=events, capture=True))
    assert_grows([one for one in seen if one.counts], values(run))


@pytest.mark.slow
def test_a_recording_and_intervals_are_seen(tmp_path: object) -> None:
    path = f"{tmp_path}/run"
    pfmon.record(path, HASHMAP, capture=True)
    prepared = pfmon.prepare(HASHMAP, events=["cpu_cycles"], capture=True, print_interval=1)
    watch = RunMonitor(prepared.session)
    looked: list[RunSnapshot] = []

    def look(_: object) -> None:
        watch.request_snapshot()
        looked.append(watch.so_far)

    run = prepared.run(look)
    assert len(looked) > 3 and looked[-1].counts[0][1] <= run.counts["cpu_cycles"].value
    assert values(run) == values(pfmon.replay(path, events=["cpu_cycles"]))


def test_an_error_of_a_look_does_not_end_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = []

    def fail(self: object) -> None:
        failed.append(self)
        raise ValueError("a look that fails")

    monkeypatch.setattr(RunMonitor, "_take_snapshot", fail)
    run, seen = watched(HASHMAP, events=["ia64_inst_retired"])
    assert run.status == 0 and not seen
    assert len(failed) == 1  # nobody may look again
