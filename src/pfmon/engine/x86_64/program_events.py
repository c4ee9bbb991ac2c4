"""The perf events of a program that runs in a process of its own: answers to the requests of its runtime
(runtime/performance/), with the rules and the schedule that the emulated kernel has (engine/linux/perf/).

A request comes when the stream has been read up to it, and the program waits for its answer. So counts are exact, and
nothing that the program sees changes meanwhile: what overflows have to tell it waits for its next request. The program
can write any request into shared memory: all of it is checked here.
"""

from __future__ import annotations

import errno
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from struct import Struct, error
from threading import Event
from typing import Any

from pfmon.engine.guest_pmu import CountedProgram, PmuEvent, ProgramPmu
from pfmon.engine.linux.abi.structures import U64
from pfmon.engine.linux.perf import perf_rules
from pfmon.engine.linux.perf.perf_attributes import PerfEventAttr, read_attributes
from pfmon.engine.linux.perf.perf_control import PerfControl
from pfmon.engine.linux.perf.perf_event import PerfEvent
from pfmon.engine.linux.perf.perf_inherit import inherited
from pfmon.engine.linux.perf.perf_ring import PerfRing
from pfmon.engine.linux.perf.perf_schedule import PerfScheduler
from pfmon.engine.linux.perf.perf_sources import source_of
from pfmon.engine.linux.process.syscall_errors import fail
from pfmon.engine.x86_64.mapped_ring import PAGE, MappedRing
from pfmon.engine.x86_64.program_task import ProgramTask

MAX_EVENTS = 1024
"""At a time; then EMFILE (performance.h, MAX_EVENTS)."""
MAX_RING_BYTES = (516 << 10) + (8 << 20)
"""Of all mappings: kernel.perf_event_mlock_kb, and RLIMIT_MEMLOCK of a process (Linux 6.1); then EPERM."""
MAX_NOTICES = 64
READY = 0x100
"""Code of a notice: the descriptor is readable. Other codes are those of signals (POLL_IN, POLL_HUP)."""
NO_EVENT, BAD_EVENT = -1, -2
"""In place of an event: none is wanted; the descriptor has none."""
SHORT, BEGIN, LONG = 0.0002, 2.0, 60.0
"""Seconds from one look to the next, until a process has begun, and until one is given up."""
PRECISE = 3 << 15
"""Bits of precise_ip in an attribute's flags."""
MASK, NUMBER = (1 << 64) - 1, (1 << 32) - 1


class Ask(IntEnum):
    """The kinds of requests (performance.h, enum pmu_request)."""

    OPEN, CLOSE, READ, CONTROL, MAP, UNMAP, READ_COUNTER, LOOK, SWITCH_ALL, THREAD = range(1, 11)


class RequestMemory:
    """The data of a request, in place of the program's memory; addresses count from its beginning."""

    def __init__(self, data: bytes) -> None:
        self.data = bytearray(data)

    def read(self, address: int, length: int) -> bytes:
        """Bytes of it. OSError: EFAULT."""
        if address < 0 or address + length > len(self.data):
            fail(errno.EFAULT)
        return bytes(self.data[address : address + length])

    def unpack(self, layout: Struct, address: int) -> tuple[Any, ...]:
        """A structure."""
        return layout.unpack(self.read(address, layout.size))

    def pack(self, layout: Struct, address: int, *fields: Any) -> None:
        """Write a structure, which may be longer than the request's data."""
        data = layout.pack(*fields)
        self.data[address : address + len(data)] = data


class EventNotices:
    """The file of an event's descriptor, which the runtime has: notices for it wait for the answer."""

    def __init__(self, number: int, notices: deque[tuple[int, int]]) -> None:
        self._number, self._notices = number, notices

    def ready(self, now: bool) -> None:
        """Make it readable; the runtime itself finds out when it no longer is."""
        if now:
            self._notices.append((self._number, READY))

    def notify_opener(self, code: int) -> None:
        """Send the signal that was asked for."""
        self._notices.append((self._number, code))


def raw_event(attributes: PerfEventAttr) -> PmuEvent:
    """The event of a raw encoding, the fields of an event select register (Linux 6.1, arch/x86/events/core.c,
    X86_RAW_EVENT_MASK; other bits are ignored). OSError: EACCES for AnyThread, which counts other programs."""
    config = attributes.config
    if config >> 21 & 1:
        fail(errno.EACCES)
    return PmuEvent(
        *("", config & 0xFF, config >> 8 & 0xFF, config >> 24 & 0xFF, attributes.levels),
        edge=bool(config >> 18 & 1),
        invert=bool(config >> 23 & 1),
        extra=attributes.config1,
    )


class RunEvents:
    """The events of all processes of a run, and these by the host's numbers."""

    def __init__(self) -> None:
        self.events: dict[int, tuple[PerfControl, ProgramEvents]] = {}
        self.processes: dict[int, ProgramEvents] = {}
        self.by_task: dict[tuple[int, ...], ProgramEvents] = {}
        self.opened = 0


class ProgramEvents:
    """The perf events of one process; ``is_settled``: all that it has written is read, or it is over."""

    def __init__(
        self,
        pmu: ProgramPmu,
        program: CountedProgram,
        notice: Callable[[str], None],
        run: RunEvents,
        is_settled: Callable[[], bool],
    ) -> None:
        self._run = run
        self._is_settled = is_settled
        self.over = Event()
        self._notice = notice
        self._notices: deque[tuple[int, int]] = deque()
        self._task = ProgramTask(pmu, program)
        self._schedule = PerfScheduler(self._task)
        self._events = self._run.events
        self._rings: list[MappedRing] = []
        self._said: set[str] = set()
        self._calls: Mapping[int, Callable[[Sequence[int], RequestMemory], int]] = {
            Ask.OPEN: self._open,
            Ask.CLOSE: self._close,
            Ask.READ: self._read,
            Ask.CONTROL: self._control,
            Ask.MAP: self._map,
            Ask.UNMAP: self._unmap,
            Ask.READ_COUNTER: self._read_counter,
            Ask.LOOK: self._look,
            Ask.SWITCH_ALL: self._switch_all,
            Ask.THREAD: self._thread,
        }

    def answer(
        self, what: int, arguments: tuple[int, ...], clock_offset: int, data: bytes
    ) -> tuple[int, int, Sequence[tuple[int, int]], bool, bytes]:
        """Answer a request: the result, the number of retired instructions at which the program has to ask again (0: it
        need not), notices for its descriptors, whether there are more, and data."""
        memory = RequestMemory(data)
        self._task.stands(clock_offset)
        try:
            self._schedule.rotate_if_due()
            result = self._calls[what](arguments, memory) if what in self._calls else -errno.ENOSYS
        except OSError as refused:
            result = -(refused.errno or errno.EINVAL)
        except (error, OverflowError):  # numbers that no runtime sends
            result = -errno.EINVAL
        stop = self._task.pmu.next_poll() if self._task.pmu else None
        self._task.goes_on()
        notices = [self._notices.popleft() for _ in range(min(len(self._notices), MAX_NOTICES))]
        return result, self._task.stop_at(stop), notices, bool(self._notices), bytes(memory.data)

    def close(self) -> None:
        """The program has ended."""
        for ring in self._rings:
            ring.close()
        self._rings = []

    def _event(self, number: int) -> PerfControl:
        """An event, whose process has been counted as far as it has come."""
        if number not in self._events:
            fail(errno.EBADF)
        for process in list(self._run.processes.values()):
            if process is not self:
                process.settle()
        return self._events[number][0]

    def settle(self) -> None:
        """Wait until the process, which does not run, has been counted as far as it has come."""
        while not (self.over.is_set() or self._is_settled()):
            time.sleep(SHORT)

    def leave(self, ended: bool) -> None:
        """The process has ended, or executes another program."""
        if ended:
            self._schedule.end()
        else:
            self._schedule.leave_program()
        self._task.leave()
        self.over.set()

    def execute(self, pmu: ProgramPmu, program: CountedProgram, is_settled: Callable[[], bool]) -> None:
        """The process executes another program from here on."""
        self.over.wait(LONG)
        self._is_settled = is_settled
        self._task.take(pmu, program)
        self.over.clear()
        self._schedule.begin_program()

    def begin_in_child(self, parent: ProgramEvents) -> None:
        """The process is a child of that one, whose events it may inherit."""
        copies = inherited(parent._schedule, self._schedule, 0)
        if copies:
            self._schedule.begin_in_child(copies)

    def _target(self, task: int) -> ProgramEvents:
        """The process to monitor. OSError: ESRCH."""
        if task <= NUMBER:
            return self
        end = time.monotonic() + BEGIN
        while (found := self._run.processes.get(task & NUMBER)) is None and time.monotonic() < end:
            time.sleep(SHORT)  # a new process has not asked for its files yet
        if found is None or found.over.is_set():
            fail(errno.ESRCH)
        found.settle()
        return found

    def _tell(self, text: str) -> None:
        """Print why an event is refused, once."""
        if text not in self._said and len(self._said) < MAX_EVENTS:
            self._said.add(text)
            self._notice(text)

    # --- requests

    def _open(self, arguments: Sequence[int], memory: RequestMemory) -> int:
        """perf_event_open: the event's number."""
        task, processor, group, flags, number = arguments
        perf_rules.check_flags(flags)
        attributes = read_attributes(memory, 0, most=PAGE)
        perf_rules.check_levels(attributes, flags)
        if len(self._events) >= MAX_EVENTS:
            fail(errno.EMFILE)
        leader = None if group == NO_EVENT else self._event(group).event
        if task == -1 and processor == -1:
            fail(errno.EINVAL)
        if task < -1:
            fail(errno.ESRCH)
        target = self._target(task)
        schedule, pmu = target._schedule, target._task.pmu
        if target is not self:
            task = 0
            if attributes.samples:
                fail(errno.EOPNOTSUPP)
        perf_rules.check_processor(task, processor, 1)
        perf_rules.check_samples(attributes, self._tell)
        leads = None if flags & perf_rules.NO_GROUP else leader
        source = source_of(attributes, raw_event)
        self._task.task = number & NUMBER, self._task.task[1] or number & NUMBER
        thread = task if task > 0 else target._task.task[1]
        event = PerfEvent(self._run.opened + 1, attributes, source, leads, thread, target is self)
        perf_rules.check_group(event, leader, schedule)
        if attributes.flags & PRECISE:
            fail(errno.EOPNOTSUPP)  # the modelled PMU has no precise events (PEBS)
        if event.pmu_event:
            if pmu is None:
                fail(errno.ESRCH)
            perf_rules.check_pmu(pmu, schedule, event, self._tell)
        if flags & perf_rules.OUTPUT and leader:
            event.ring = leader.ring
        event.file = EventNotices(event.id, self._notices)
        self._run.opened = event.id
        control = PerfControl(event, schedule, lambda number: self._event(number).event)
        self._events[event.id] = control, target
        schedule.add(event)
        return event.id

    def _close(self, arguments: Sequence[int], _: RequestMemory) -> int:
        """The last descriptor of an event is closed."""
        control = self._event(arguments[0])
        del self._events[control.event.id]
        control.release()
        self._drop_rings()
        return 0

    def _read(self, arguments: Sequence[int], memory: RequestMemory) -> int:
        """read: the number of bytes."""
        memory.data[:] = self._event(arguments[0]).read(arguments[1] & MASK)
        return len(memory.data)

    def _control(self, arguments: Sequence[int], memory: RequestMemory) -> int:
        """ioctl. Pointers are those of the request's data."""
        number, request, argument = arguments[:3]
        done = self._event(number).ioctl(memory, request & NUMBER, argument & MASK)
        return -errno.ENOTTY if done is None else done

    def _map(self, arguments: Sequence[int], _: RequestMemory) -> int:
        """mmap: the descriptor, in this process, of the memory to map."""
        number, length, offset, shared, writable = arguments
        control = self._event(number)
        control.check_mapping(length & MASK, offset & MASK, bool(shared), PAGE)
        ring = control.event.ring
        memory = self._ring_of(ring)
        if memory is None:
            if sum(one.length for one in self._rings) + length > MAX_RING_BYTES:
                fail(errno.EPERM)
            memory = MappedRing(length, bool(writable))
            self._rings.append(memory)
            control.event.ring = PerfRing(memory)
        memory.mappings += 1
        self._schedule.update()
        return memory.file

    def _ring_of(self, ring: PerfRing | None) -> MappedRing | None:
        """The memory of a ring that is mapped."""
        memory = ring.memory if ring else None
        return memory if isinstance(memory, MappedRing) and memory.is_mapped else None

    def _unmap(self, arguments: Sequence[int], _: RequestMemory) -> int:
        """A mapping is gone."""
        memory = self._ring_of(self._event(arguments[0]).event.ring)
        if memory:
            memory.mappings -= 1
            self._drop_rings()
        return 0

    def _drop_rings(self) -> None:
        """Close what no event writes to, or the program has unmapped."""
        used = [self._ring_of(control.event.ring) for control, _ in self._events.values()]
        for ring in self._rings:
            if ring not in used:
                ring.close()
        self._rings = [ring for ring in self._rings if ring in used]

    def _read_counter(self, arguments: Sequence[int], memory: RequestMemory) -> int:
        """rdpmc, which programs may execute while they have an event mapped. OSError: it faults."""
        if not self._rings:
            fail(errno.EPERM)
        memory.data[:] = U64.pack(self._task.read_counter(arguments[0] & NUMBER) & MASK)
        return 0

    def _look(self, _: Sequence[int], __: RequestMemory) -> int:
        """The program was stopped at the number of instructions of the last answer, or asks for more notices."""
        return 0

    def _switch_all(self, arguments: Sequence[int], _: RequestMemory) -> int:
        """prctl: enable or disable all events."""
        self._schedule.switch_all(bool(arguments[0]))
        return 0

    def _thread(self, arguments: Sequence[int], _: RequestMemory) -> int:
        """Another thread runs from here on."""
        self._task.task = self._task.task[0], arguments[0] & NUMBER
        self._schedule.change()
        return 0
