"""Perf events of other tasks of the run, and those that child processes inherit (Linux 6.1)."""

import errno
from typing import Any

import perf_calls as calls
import pytest
from perf_calls import EXCLUDE_KERNEL, INHERIT, Perf
from perfmon_calls import PID, Perfmon
from stand_in_pmu import Host, StandIn

from pfmon.engine.linux.process import process_exit
from pfmon.engine.linux.process.engine_interface import Exit
from pfmon.engine.linux.signals.signal_table import SIGCHLD, SIGSTOP

TIMES = calls.ENABLED | calls.RUNNING
OFF = EXCLUDE_KERNEL | calls.DISABLED


@pytest.fixture
def perf(guest: Any, pmu: StandIn) -> Perf:
    guest.process.pmu = pmu
    guest.process.system.host = Host()
    return Perf(guest)


def fork(guest: Any) -> Any:
    """A child of the program, which has not run yet."""
    return guest.process.system.processes[guest.call("clone2", SIGCHLD, 0, 0, 0, 0, 0)]


def test_events_of_a_child_count_on_its_pmu_while_it_runs(perf: Perf, guest: Any, pmu: StandIn) -> None:
    child = fork(guest)
    fd = perf.open(task=child.process_id, flags=OFF, read_format=TIMES | calls.ID)
    own = perf.open(read_format=calls.ID)
    assert perf.words(fd) == (0, 0, 0, 1) and perf.words(own) == (0, 2)
    assert perf.ioctl(fd, calls.ENABLE) == 0
    assert child.pmu.steered == (True, None) and child.registers.secure  # nobody there is to read its counters
    child.pmu.count(4, 30)
    child.used.before += 7
    pmu.count(4, 500)
    guest.process.used.before += 100
    assert perf.words(fd) == (30, 7, 7, 1) and perf.words(own) == (500, 2)
    assert perf.ioctl(fd, calls.DISABLE) == 0
    child.pmu.count(4, 30)
    assert perf.words(fd) == (30, 7, 7, 1) and child.pmu.frozen


def test_counts_of_a_child_that_has_ended_can_be_read(perf: Perf, guest: Any) -> None:
    child = fork(guest)
    fd = perf.open(task=child.process_id, read_format=TIMES)
    child.pmu.count(4, 3)
    child.used.before += 2
    process_exit.finish(child, Exit(0))
    assert perf.words(fd) == (3, 2, 2)
    assert perf.open(task=child.process_id) == -errno.ESRCH
    assert perf.ioctl(fd, calls.RESET) == 0 and perf.words(fd) == (0, 2, 2)
    assert guest.call("close", fd) == 0


def test_closing_an_event_of_a_child_gives_its_pmu_back(perf: Perf, guest: Any, perfmon: Perfmon) -> None:
    child = fork(guest)
    fd = perf.open(task=child.process_id)
    child.stop(SIGSTOP)
    context = perfmon.create()
    assert perfmon.load(context, child.process_id) == -errno.EBUSY
    assert guest.call("close", fd) == 0
    assert child.pmu.frozen
    assert perfmon.load(context, child.process_id) == 0
    assert perf.open(task=child.process_id) == -errno.EBUSY


def test_a_group_is_of_one_task(perf: Perf, guest: Any) -> None:
    child = fork(guest)
    leader = perf.open(task=child.process_id)
    assert perf.open(group=leader) == perf.open(group=leader, task=PID) == -errno.EINVAL
    member = perf.open(config=calls.CYCLES, group=leader, task=child.process_id)
    child.pmu.count(5, 4)
    assert member > leader and perf.words(member) == (4,)


def test_samples_of_a_child_come_into_the_ring_of_who_opened_the_event(perf: Perf, guest: Any) -> None:
    child = fork(guest)
    fd = perf.open(task=child.process_id, period=10, sample=3, wakeup=1)
    ring = perf.map(fd, 1)
    child.pmu.count(4, 10, address=0x4000)
    (record,) = calls.records(guest.memory, ring)
    assert record.words == (0x4000, child.process_id | child.process_id << 32)
    assert guest.memory.read(ring + 12, 4) == bytes(4)  # no PMD of who opened it has the count


def test_children_inherit_and_add_to_what_was_opened(perf: Perf, guest: Any, pmu: StandIn) -> None:
    """Those of children that have ended, of those that run, and of theirs."""
    fd = perf.open(flags=EXCLUDE_KERNEL | INHERIT, read_format=TIMES)
    alone = perf.open(config=calls.CYCLES)
    first, second = fork(guest), fork(guest)
    grandchild = first.system.processes[_forked(first)]
    for place, one in enumerate((guest.process, first, second, grandchild)):
        one.pmu.count(4, 10**place)
        one.used.before += 2 * 10**place
    assert perf.words(fd) == (1111, 2222, 2222) and perf.words(alone) == (0,)
    process_exit.finish(first, Exit(0))
    grandchild.pmu.count(4, 3000)
    assert perf.words(fd) == (4111, 2222, 2222)
    process_exit.finish(grandchild, Exit(0))
    assert perf.words(fd) == (4111, 2222, 2222)
    assert perf.ioctl(fd, calls.DISABLE) == 0 and second.pmu.frozen
    second.pmu.count(4, 50)
    assert perf.words(fd)[0] == 4111
    assert perf.ioctl(fd, calls.ENABLE) == 0 and not second.pmu.frozen
    assert guest.call("close", fd) == 0
    assert not second.pmu.frozen  # it has the file, too
    second.files.close(fd)
    assert second.pmu.frozen and not pmu.frozen


def _forked(process: Any) -> int:
    from pfmon.engine.linux.process.clone import fork as fork_process

    child = fork_process(process, lend=False)
    return int(child.process_id)


def test_groups_are_inherited_whole(perf: Perf, guest: Any, pmu: StandIn) -> None:
    everything = calls.GROUP | calls.ID
    flags = EXCLUDE_KERNEL | INHERIT
    leader = perf.open(flags=flags, read_format=everything)
    perf.open(config=calls.CYCLES, flags=flags, group=leader, read_format=everything)
    child = fork(guest)
    for one in (pmu, child.pmu):
        one.count(4, 10)
        one.count(5, 20)
    assert perf.words(leader) == (2, 20, 1, 40, 2)
