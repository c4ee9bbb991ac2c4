"""Perf events on the PMU: which groups are scheduled, and their counts (Linux 6.1, kernel/events/core.c).

Groups that do not fit together are multiplexed, a tick each: pinned ones first, the others in rotation. Equal events
share a counter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pfmon.engine.guest_pmu import PmuEvent, ProgramPmu
from pfmon.engine.linux.perf.monitored_process import MonitoredProcess
from pfmon.engine.linux.perf.perf_attributes import ENABLE_ON_EXEC, INHERIT, WATERMARK
from pfmon.engine.linux.perf.perf_event import PerfEvent, inherited_ended
from pfmon.engine.linux.perf.perf_ring import MappedCounter
from pfmon.engine.linux.perf.perf_samples import sample
from pfmon.engine.linux.signals.fasync import POLL_HUP, POLL_IN
from pfmon.errors import PfmonError

TICK = 1_000_000
"""Nanoseconds between two rotations of multiplexed groups."""


class CounterSlot(NamedTuple):
    """The event of one counter, and the perf events that it serves: several, unless one samples."""

    counts: PmuEvent
    events: list[PerfEvent]


class PerfScheduler:
    """The perf events of a process."""

    def __init__(self, process: MonitoredProcess) -> None:
        self._process = process
        self.events: list[PerfEvent] = []
        self._slots: dict[int, CounterSlot] = {}
        self._bases: dict[int, int] = {}
        self._order: list[PerfEvent] = []
        self._tick: int | None = None
        self._known: dict[tuple[PmuEvent, ...], tuple[dict[str, int], list[int]] | None] = {}

    @property
    def uses_pmu(self) -> bool:
        """Whether an event needs a counter."""
        return any(event.pmu_event for event in self.events)

    @property
    def _pmu(self) -> ProgramPmu:
        assert self._process.pmu
        return self._process.pmu

    # --- adding and removing events

    def add(self, event: PerfEvent) -> None:
        """Add an event, which counts if enabled. Its group fits (`fits`)."""
        event.start_clock(self._process.used(), self._process.now())
        self.events.append(event)
        if event.leader is event:
            self._order.append(event)
        else:
            event.leader.siblings.append(event)
        if event.pmu_event and self.uses_pmu:
            self._pmu.set_overflow_handler(self.overflowed)
        self.change()

    def remove(self, event: PerfEvent) -> None:
        """Remove a closed event: its members become groups of their own."""
        if event not in self.events:
            return
        used = self.uses_pmu
        self.update()
        self.events.remove(event)
        if event.leader is event:
            self._order.remove(event)
            for sibling in event.siblings:
                sibling.leader = sibling
                self._order.append(sibling)
        else:
            event.leader.siblings.remove(event)
        if used:
            self.change()
        if used and not self.uses_pmu and self._process.pmu:
            self._pmu.set_overflow_handler(None)

    def end(self) -> None:
        """Stop all counting at process exit."""
        self.update()
        for event in self.events:
            event.counter = None
            if not event.own:
                event.file.ready(True)
        inherited_ended(self.events)
        self.events, self._order, self._slots = [], [], {}

    def leave_program(self) -> None:
        """Give up the processor and PMU: the process executes another program."""
        self.update()
        for event in self.events:
            event.counter = None
        self._slots, self._known, self._tick = {}, {}, None

    def begin_program(self) -> None:
        """Take the processor and PMU of the executed program."""
        for event in self.events:
            event.is_on |= bool(event.attributes.flags & ENABLE_ON_EXEC)
        if self.uses_pmu and self._process.pmu:
            self._pmu.set_overflow_handler(self.overflowed)
        self.change()

    def begin_in_child(self, events: list[PerfEvent]) -> None:
        """Start a child process with its inherited groups, leaders first."""
        for event in events:
            event.start_clock(self._process.used(), self._process.now())
            self.events.append(event)
            if event.leader is event:
                self._order.append(event)
        if self.uses_pmu:
            self._pmu.set_overflow_handler(self.overflowed)
        self.change()

    def in_order(self) -> Iterable[PerfEvent]:
        """The leaders of groups, in scheduling order."""
        return tuple(self._order)

    def switch_all(self, on: bool) -> None:
        """Enable or disable every event of the task (prctl)."""
        self.update()
        for event in self.events:
            event.is_on = on
        self.change()

    def fits(self, events: Iterable[PerfEvent]) -> bool:
        """Whether events can count together."""
        return self._assigned(_slots(events)) is not None

    # --- time

    def update(self) -> None:
        """Update counts and times to the next instruction."""
        if self._slots:
            self._pmu.update_registers()
            for counter in self._slots:
                self._collect(counter)
        self._pass_time(self._process.used())

    def change(self) -> None:
        """Reschedule after a change of enabled events or of the running thread."""
        self.update()
        if self.uses_pmu and not self._process.pmu:
            return  # between two programs
        thread = self._process.task[1]
        for event in self.events:
            event.runs = event.thread == thread or bool(event.attributes.flags & INHERIT)
        for event in self.events:
            event.counter = None
        slots: list[CounterSlot] = []
        writes: dict[str, int] = {}
        counters: list[int] = []
        waiting = False
        for leader in sorted(self._order, key=lambda one: not one.is_pinned):
            wanted = [one for one in leader.group if one.wants_time and one.pmu_event]
            if not wanted:
                continue
            tried = _slots((event for slot in slots for event in slot.events), wanted)
            found = self._assigned(tried)
            if found is not None:
                slots, (writes, counters) = tried, found
            elif leader.is_pinned:
                leader.failed = True
            else:
                waiting = True
        self._program(dict(zip(counters, slots, strict=True)), writes)
        self._tick = self._process.used() + TICK if waiting else None
        if self.uses_pmu:
            self._pmu.set_timer(None if self._tick is None else self._process.instructions_until(self._tick))

    def rotate_if_due(self) -> None:
        """Rotate groups, if due, when the program is stopped."""
        if self._tick is not None and self._process.used() >= self._tick:
            pinned = [one for one in self._order if one.is_pinned]
            others = [one for one in self._order if not one.is_pinned]
            self._order = [*pinned, *others[1:], *others[:1]]
            self.change()

    def _pass_time(self, now: int) -> None:
        for event in self.events:
            event.pass_time(now)
            self._describe(event)

    def _describe(self, event: PerfEvent) -> None:
        """Update the event's first page, if it is mapped."""
        if event.ring is None:
            return
        total, counter = event.total, event.counter if event.own else None
        offset, shown = total.value, None
        if counter is not None:
            offset, shown = offset - self._bases[counter], self._process.read_index(counter)
        readable = event.own and event.pmu_event is not None
        page = MappedCounter(shown, offset, total.enabled, total.running, self._process.clock, readable)
        self._process.report(lambda: self._show(event, page))

    def _show(self, event: PerfEvent, page: MappedCounter) -> None:
        if event.ring:
            event.ring.describe(page, self._width)

    @property
    def _width(self) -> int:
        return self._process.pmu.width if self._process.pmu else 0

    # --- counters

    def _assigned(self, slots: Sequence[CounterSlot]) -> tuple[dict[str, int], list[int]] | None:
        """Registers that make these slots count, and the counters; None: they do not fit."""
        if not slots:
            return {}, []
        wanted = tuple(slot.counts for slot in slots)
        if wanted not in self._known:
            try:
                self._known[wanted] = self._pmu.assign(wanted)
            except PfmonError:
                self._known[wanted] = None
        return self._known[wanted]

    def _program(self, slots: dict[int, CounterSlot], writes: dict[str, int]) -> None:
        """Count with these counters, and no others, from here on."""
        if not slots and not self._slots:
            return
        self._slots = slots
        pmu = self._pmu
        pmu.freeze(not slots)
        if slots:
            for name, value in self._process.all_registers(writes).items():
                pmu.write(name, value)
        for counter, slot in slots.items():
            for event in slot.events:
                event.counter = counter
            self._load(counter)
        pmu.commit()
        pmu.set_overflow_stops([counter for counter, slot in slots.items() if _samples(slot)])
        pmu.set_counting(bool(slots), None)
        own = any(event.own for slot in slots.values() for event in slot.events)
        self._process.allow_reads(own)
        self._pass_time(self._process.used())

    def _load(self, counter: int) -> None:
        """Load a counter: a sampling one with its period, others with 0."""
        (first, *_), low = self._slots[counter].events, (1 << self._width) - 1
        self._bases[counter] = -first.left & low if first.attributes.samples else 0
        self._pmu.write_counter(counter, self._bases[counter])

    def _collect(self, counter: int) -> None:
        """Add a counter's increase since the last call."""
        held = self._pmu.read_counter(counter)
        passed = (held - self._bases[counter]) & (1 << self._width) - 1
        self._bases[counter] = held
        for event in self._slots[counter].events:
            event.count += passed
            event.left -= passed if event.attributes.samples else 0

    # --- overflow

    def overflowed(self, counters: Sequence[int], address: int, retired: int) -> None:
        """Handle counters that overflowed together; ``retired`` instructions have retired."""
        behind = self._process.time_since(retired)
        now = self._process.now() - behind
        for counter in self._slots:
            self._collect(counter)
        self._pass_time(self._process.used() - behind)
        stopped = False
        for counter in counters:
            slot = self._slots.get(counter)
            if slot and _samples(slot):
                (event,) = slot.events
                stopped |= self._sample(event, address, now)
                self._load(counter)
                self._describe(event)
        if stopped:
            self._stop_within()

    def _sample(self, event: PerfEvent, address: int, now: int) -> bool:
        """Take a sample; returns whether it was the last one."""
        record = sample(event, self._process.task, address, now)
        event.next_period(now)
        last = event.limit == 1
        event.limit = max(0, event.limit - 1)
        self._process.report(lambda: self._report(event, record, POLL_HUP if last else POLL_IN))
        if last:
            event.is_on = False
        return last

    def _report(self, event: PerfEvent, record: bytes, code: int) -> None:
        """Tell the program of a sample."""
        if event.ring and event.ring.size:
            event.lost += not event.ring.put(record, event.id)
            self._wake(event)
        event.file.notify_opener(code)

    def _wake(self, event: PerfEvent) -> None:
        """Wake pollers: after a number of samples or bytes, or when half of the ring is full."""
        ring, attributes = event.ring, event.attributes
        assert ring
        if attributes.flags & WATERMARK:
            due = ring.due(attributes.wakeup or ring.size // 2)
        elif attributes.wakeup:
            event.unseen += 1
            due = event.unseen >= attributes.wakeup
            event.unseen = 0 if due else event.unseen
        else:
            due = ring.due(ring.size // 2)
        if due:
            event.file.ready(True)

    def _stop_within(self) -> None:
        """Stop the counter of an event disabled by its overflow, from the next instruction on."""
        for counter, slot in list(self._slots.items()):
            if not any(event.wants_time for event in slot.events):
                self._process.stop_counter(counter)
                for event in slot.events:
                    event.counter = None
                del self._slots[counter]
        self._pmu.set_overflow_stops([counter for counter, slot in self._slots.items() if _samples(slot)])


def _samples(slot: CounterSlot) -> bool:
    return slot.events[0].attributes.samples


def _slots(*several: Iterable[PerfEvent]) -> list[CounterSlot]:
    """A slot for each event; equal events that do not sample share one."""
    slots: list[CounterSlot] = []
    for events in several:
        for event in events:
            counts = event.pmu_event
            if counts is None:
                continue
            same = [slot for slot in slots if slot.counts == counts and not _samples(slot)]
            if same and not event.attributes.samples:
                same[0].events.append(event)
            else:
                slots.append(CounterSlot(counts, [event]))
    return slots
