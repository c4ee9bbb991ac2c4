"""Contexts and perf events are of threads: each counts while its thread runs. Children, and programs that are executed,
have no PMU."""

import errno
from typing import Any

import perf_calls
import perfmon_calls as calls
from perf_calls import Perf
from perfmon_calls import INST, NOPS, NOTIFY, PID, Perfmon, counter, register
from stand_in_pmu import StandIn

from pfmon.engine.linux.process.clone import OF_THREADS

STACK = 0x80000


def new_thread(guest: Any) -> Any:
    number = guest.call("clone2", OF_THREADS, guest.scratch + STACK, 0x10000, 0, 0, 0)
    return guest.process.threads[number]


def counting(perfmon: Perfmon, value: int, task: int, period: int = 1000) -> int:
    """A context that counts in PMD4 for the running thread."""
    fd = perfmon.create()
    assert perfmon.write_pmcs(fd, register(4, value, flags=NOTIFY)) == perfmon.write_pmds(fd, counter(4, period)) == 0
    assert perfmon.load(fd, task) == perfmon.command(fd, calls.START) == 0
    return fd


def test_each_thread_has_the_pmu_while_it_runs(perfmon: Perfmon, guest: Any, pmu: StandIn) -> None:
    first, second = guest.process.thread, new_thread(guest)
    one = counting(perfmon, INST, PID)
    pmu.count(4, 10)
    guest.process.switch_to(second)
    assert pmu.frozen and pmu.steered == (False, None) and pmu.told is None
    assert guest.registers.secure and not guest.registers.um & 4
    two = counting(perfmon, NOPS, second.number)
    assert pmu.registers["pmc4"] & 0xFFFF == NOPS | 1 << 5
    pmu.count(4, 20)
    assert perfmon.read(two, 4) == [(1 << 64) - 980]
    guest.process.switch_to(first)
    assert pmu.registers["pmc4"] & 0xFFFF == INST | 1 << 5
    assert pmu.steered == (True, True) and not guest.registers.secure and pmu.watched == [4]
    pmu.count(4, 5)
    assert perfmon.read(one, 4) == [(1 << 64) - 985]
    assert perfmon.command(one, calls.UNLOAD) == 0
    guest.process.switch_to(second)
    assert perfmon.read(two, 4) == [(1 << 64) - 980]


def test_commands_on_a_context_of_another_thread_want_it_stopped(perfmon: Perfmon, guest: Any, pmu: StandIn) -> None:
    first, second = guest.process.thread, new_thread(guest)
    fd = counting(perfmon, INST, PID, 10)
    guest.process.switch_to(second)
    for what in (calls.START, calls.STOP, calls.UNLOAD, calls.RESTART):
        assert perfmon.command(fd, what) == -errno.EBUSY
    assert perfmon.command(fd, calls.READ_PMDS, [register(4)]) == -errno.EBUSY
    guest.process.switch_to(first)
    pmu.count(4, 10)
    guest.process.switch_to(second)
    # Masked, it is the kernel's alone.
    assert perfmon.message(fd) == (1, fd, 1 << 4) and perfmon.read(fd, 4) == [0]
    assert perfmon.command(fd, calls.RESTART) == 0
    guest.process.switch_to(first)
    assert not pmu.frozen and perfmon.read(fd, 4) == [(1 << 64) - 10]


def test_loading_onto_another_thread_or_twice(perfmon: Perfmon, guest: Any) -> None:
    second = new_thread(guest)
    fd = counting(perfmon, INST, PID)
    other = perfmon.create()
    assert perfmon.load(other, second.number) == -errno.EBUSY
    assert perfmon.load(perfmon.create(calls.SYSTEM_WIDE), PID) == -errno.EBUSY
    guest.process.switch_to(second)
    assert perfmon.load(other, second.number) == 0
    assert guest.call("close", fd) == 0


def test_a_thread_that_ends_gives_its_pmu_back_and_says_so(perfmon: Perfmon, guest: Any, pmu: StandIn) -> None:
    first, second = guest.process.thread, new_thread(guest)
    guest.process.switch_to(second)
    fd = counting(perfmon, INST, second.number)
    pmu.count(4, 3)
    guest.call("exit", 0)
    assert pmu.frozen
    guest.process.system.schedule.next()
    guest.process.switch_to(first)
    assert perfmon.message(fd) == (2, fd, 0)  # PFM_MSG_END
    assert perfmon.read(fd, 4) == [(1 << 64) - 997]


def test_new_threads_are_not_monitored(perfmon: Perfmon, guest: Any) -> None:
    counting(perfmon, INST, PID)
    assert guest.registers.um & 4 and not guest.registers.secure
    guest.process.switch_to(new_thread(guest))
    assert not guest.registers.um & 4 and guest.registers.secure


def test_the_processors_context_counts_all_threads(perfmon: Perfmon, guest: Any, pmu: StandIn) -> None:
    fd = perfmon.create(calls.SYSTEM_WIDE)
    assert (
        perfmon.write_pmcs(fd, register(4, INST | 1 << 6)) == perfmon.load(fd) == perfmon.command(fd, calls.START) == 0
    )
    guest.process.switch_to(new_thread(guest))
    assert pmu.steered == (True, None) and not pmu.frozen
    pmu.count(4, 9)
    assert perfmon.read(fd, 4) == [9] and perfmon.command(fd, calls.STOP) == 0


def test_perf_events_are_of_their_thread_unless_they_are_inherited(perfmon: Perfmon, guest: Any, pmu: StandIn) -> None:
    perf, first, second = Perf(guest), guest.process.thread, new_thread(guest)
    times = perf_calls.ENABLED | perf_calls.RUNNING
    own = perf.open(kind=perf_calls.RAW, config=8, read_format=times)
    flags = perf_calls.EXCLUDE_KERNEL | perf_calls.INHERIT
    everyone = perf.open(kind=perf_calls.RAW, config=0x50, flags=flags)
    pmu.count(4, 10)
    pmu.count(5, 1)
    guest.process.used.before += 50
    guest.process.switch_to(second)
    pmu.count(4, 2)  # the only event now, in the first counter
    guest.process.used.before += 50
    assert perf.words(own) == (10, 50, 50) and perf.words(everyone) == (3,)
    guest.process.switch_to(first)
    guest.process.used.before += 1
    assert perf.words(own) == (10, 51, 51)
    other = perf.open(kind=perf_calls.RAW, config=8, task=second.number, read_format=times)
    assert perf.words(other) == (0, 0, 0)
    guest.process.switch_to(second)
    pmu.count(5, 7)
    guest.process.used.before += 5
    assert perf.words(other) == (7, 5, 5) and perf.words(own) == (10, 51, 51)
    assert perf.open(task=4242) == -errno.ESRCH
