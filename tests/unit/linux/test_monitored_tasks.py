"""Contexts on other tasks, which have to be stopped for that; and contexts that hold their task up at overflows."""

import errno
from typing import Any

import perfmon_calls as calls
import pytest
from perfmon_calls import NOTIFY, PID, Perfmon, counter, register
from stand_in_pmu import Host

from pfmon.engine.linux.process import process_exit
from pfmon.engine.linux.process.engine_interface import Exit
from pfmon.engine.linux.signals.signal_table import SIGSTOP

INST = 0x808
SIGCHLD = 17
BLOCKS = 1


@pytest.fixture
def child(guest: Any) -> Any:
    """A child of the program, which has not run yet."""
    guest.process.system.host = Host()
    return guest.process.system.processes[guest.call("clone2", SIGCHLD, 0, 0, 0, 0, 0)]


def stopped(child: Any) -> Any:
    child.stop(SIGSTOP)
    return child


def prepared(perfmon: Perfmon, flags: int = 0, period: int = 1000) -> int:
    fd = perfmon.create(flags)
    assert perfmon.write_pmcs(fd, register(4, INST, flags=NOTIFY)) == perfmon.write_pmds(fd, counter(4, period)) == 0
    return fd


def can_run(guest: Any, child: Any) -> bool:
    """Whether the child's turn comes."""
    schedule = guest.process.system.schedule
    schedule.yield_turn()
    return any(schedule.next() is child.thread or schedule.yield_turn() for _ in range(3))


def test_a_task_has_to_be_stopped(perfmon: Perfmon, guest: Any, child: Any) -> None:
    fd = prepared(perfmon)
    assert perfmon.load(fd, child.process_id) == -errno.EBUSY
    stopped(child)
    assert perfmon.load(fd, child.process_id) == perfmon.command(fd, calls.START) == 0
    assert child.registers.um & 4 and not guest.registers.um & 4
    child.pmu.count(4, 10)
    assert perfmon.read(fd, 4) == [(1 << 64) - 990] and not guest.process.pmu.registers
    child.go_on(report=False)
    for what in (calls.START, calls.STOP, calls.UNLOAD):
        assert perfmon.command(fd, what) == -errno.EBUSY
    assert perfmon.command(fd, calls.READ_PMDS, [register(4)]) == -errno.EBUSY
    stopped(child)
    assert perfmon.command(fd, calls.STOP) == perfmon.command(fd, calls.UNLOAD) == 0
    assert not child.registers.um & 4 and child.pmu.frozen


def test_a_task_has_one_context_and_another_task_another_one(perfmon: Perfmon, child: Any) -> None:
    stopped(child)
    own, of_child, second = (prepared(perfmon) for _ in range(3))
    assert perfmon.load(own, PID) == perfmon.load(of_child, child.process_id) == 0
    assert perfmon.load(second, child.process_id) == -errno.EBUSY
    assert perfmon.load(perfmon.create(calls.SYSTEM_WIDE), PID) == -errno.EBUSY


def test_the_processors_context_goes_with_who_runs(perfmon: Perfmon, guest: Any, child: Any) -> None:
    fd = perfmon.create(calls.SYSTEM_WIDE)
    assert perfmon.load(fd, child.process_id) == -errno.EINVAL
    assert perfmon.write_pmcs(fd, register(4, INST | 1 << 6)) == 0
    assert perfmon.load(fd) == perfmon.command(fd, calls.START) == 0
    guest.process.pmu.count(4, 5)
    child.switch_to(child.thread)
    assert guest.process.pmu.frozen and child.pmu.steered == (True, None) and not child.pmu.frozen
    child.pmu.count(4, 20)
    guest.process.switch_to(guest.process.thread)
    assert child.pmu.frozen and not guest.process.pmu.frozen
    guest.process.pmu.count(4, 100)
    assert perfmon.read(fd, 4) == [125]
    child.switch_to(child.thread)
    process_exit.finish(child, Exit(0))
    guest.process.switch_to(guest.process.thread)
    assert perfmon.read(fd, 4) == [125] and perfmon.command(fd, calls.UNLOAD) == 0 and guest.process.pmu.frozen
    assert perfmon.load(fd) == guest.call("close", fd) == 0 and guest.process.system.everywhere is None


def test_a_task_that_ends_says_so(perfmon: Perfmon, guest: Any, child: Any) -> None:
    fd = prepared(perfmon)
    stopped(child)
    assert perfmon.load(fd, child.process_id) == perfmon.command(fd, calls.START) == 0
    child.pmu.count(4, 7)
    child.owners.unload_all(ended=True)
    assert perfmon.message(fd) == (2, fd, 0) and perfmon.read(fd, 4) == [(1 << 64) - 993]  # PFM_MSG_END


def test_a_context_that_is_closed_lets_its_task_be(perfmon: Perfmon, guest: Any, child: Any) -> None:
    fd = prepared(perfmon)
    stopped(child)
    assert perfmon.load(fd, child.process_id) == perfmon.command(fd, calls.START) == 0
    assert guest.call("close", fd) == 0 and child.pmu.frozen and not child.registers.um & 4
    again = prepared(perfmon)
    assert perfmon.load(again, child.process_id) == 0


def test_a_context_that_blocks_holds_its_task_until_it_is_restarted(perfmon: Perfmon, guest: Any, child: Any) -> None:
    own = prepared(perfmon, BLOCKS)
    assert perfmon.load(own, PID) == -errno.EINVAL
    fd = prepared(perfmon, BLOCKS, period=10)
    stopped(child)
    assert perfmon.load(fd, child.process_id) == perfmon.command(fd, calls.START) == 0
    child.go_on(report=False)
    assert can_run(guest, child)
    child.pmu.count(4, 10)
    assert not can_run(guest, child) and child.pmu.frozen
    assert perfmon.message(fd) == (1, fd, 1 << 4) and perfmon.read(fd, 4) == [0]
    assert perfmon.command(fd, calls.RESTART) == 0
    assert can_run(guest, child) and not child.pmu.frozen and perfmon.command(fd, calls.RESTART) == -errno.EBUSY


@pytest.mark.parametrize("end", ["close", "stop"])
def test_a_task_is_not_held_for_ever(perfmon: Perfmon, guest: Any, child: Any, end: str) -> None:
    fd = prepared(perfmon, BLOCKS, period=10)
    stopped(child)
    assert perfmon.load(fd, child.process_id) == perfmon.command(fd, calls.START) == 0
    child.go_on(report=False)
    child.pmu.count(4, 10)
    if end == "close":
        assert guest.call("close", fd) == 0 and can_run(guest, child)
        return
    # Restarted while it is stopped it runs when it goes on, not before.
    stopped(child)
    assert perfmon.command(fd, calls.RESTART) == 0 and not can_run(guest, child)
    child.go_on(report=False)
    assert can_run(guest, child)
