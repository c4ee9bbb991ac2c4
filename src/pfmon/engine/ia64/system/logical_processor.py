"""A logical processor of a system: its registers, its entry into PAL, and its time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from pfmon.engine.ia64._ia64 import SystemProcessor
from pfmon.engine.ia64.registers.cpuid import cpuid
from pfmon.engine.ia64.system.firmware.pal_call import Pal
from pfmon.engine.ia64.system.firmware.pal_entry import PalEntry
from pfmon.engine.ia64.system.system_clock import SystemClock
from pfmon.engine.ia64.system.translation_sizes import PAGE_SIZES, SIZES
from pfmon.engine.system_settings import ProcessorDescription
from pfmon.stream._stream import Consumer, Mark

RESET_FRAME = 96
"""CFM.sof when firmware begins: all stacked registers are there (volume 2, 11.2.2)."""
PROCESSOR_ID, PAL_PROC, SELF_TEST = 33, 34, 35
"""General registers with the processor's number, PAL's entry point and 0 for a healthy processor (11.2.2)."""
LID, LID_ID_SHIFT = 64, 24
"""The control register, and where the processor's number begins in it (volume 2, 5.8.3.1)."""
PIECE = 1 << 16
"""Cycles of Mark.HALTED_LONG."""


class SharedSystem(Protocol):
    """The system that the processors share. ``policy``: how hardware threads share a core
    (PAL_SET_HW_POLICY)."""

    policy: int

    def shut_down(self) -> None:
        """End the run."""

    def emit_mark(self, kind: Mark, value: int) -> None:
        """Put a mark into the stream of the processor that executes."""

    def copy_code(self, address: int) -> bool:
        """Copy PAL's code to a physical address; False: there is no memory."""

    def has_memory(self, address: int, length: int) -> bool:
        """Whether there is memory at all of these physical addresses."""


class LogicalProcessor:
    """``number``: from 0 on, its id in CR.LID; ``model``: as in cpuid.py; ``pal``: PAL's entry point, and the size of
    its code."""

    def __init__(
        self,
        number: int,
        processor: SystemProcessor,
        description: ProcessorDescription,
        model: str,
        system: SharedSystem,
        pal: tuple[int, int],
    ) -> None:
        self.number, self.processor, self._system = number, processor, system
        self.halted = False
        """Whether it waits for an interrupt."""
        self.parked = False
        """Whether firmware has it, which waits for the interrupt that has it begin."""
        self._unmarked = 0
        """Time that passed while it was halted, and is not in its stream."""
        self._idle = 0
        """Time of ITC that passed while it did not execute."""
        self.clock: SystemClock | None = None
        """None: ITC counts instructions."""
        address, length = pal
        processor.set_cpuid(cpuid(model))
        self._set_geometry(description, model)
        self._reset(address)
        self.pal = PalEntry(Pal(description, SIZES[model], self, length, number), processor)

    def _set_geometry(self, description: ProcessorDescription, model: str) -> None:
        """Translation as the processor has it; its caches are those of the last level."""
        sizes = SIZES[model]
        last = {one.kind: one.entries for one in sorted(description.tlbs, key=lambda one: one.level)}
        self.processor.set_geometry(
            registers=(sizes.itrs, sizes.dtrs),
            cache=(last["instruction"], last["data"]),
            page_sizes=PAGE_SIZES,
            va_msb=sizes.virtual_msb,
            pa_bits=sizes.physical_bits,
            rid_bits=sizes.rid_bits,
        )

    def _reset(self, pal: int) -> None:
        """Set the registers as at reset (volume 2, 11.2.2); the frame has all stacked registers."""
        processor = self.processor
        processor.set_cfm(RESET_FRAME)
        processor.set_gr(PROCESSOR_ID, self.number)
        processor.set_gr(PAL_PROC, pal)
        processor.set_gr(SELF_TEST, 0)
        processor.set_cr(LID, self.number << LID_ID_SHIFT)

    # --- time

    @property
    def time(self) -> int:
        """Its time so far, in steps of ITC: what it has executed, and what passed while it did not."""
        return (self.clock.cycles if self.clock else self.processor.retired) + self._idle

    def resume(self, halted: int, parked: int, time: int) -> None:
        """Go on as another one was, which may have waited; ``time``: its time then."""
        self.halted, self.parked, self._idle = bool(halted), bool(parked), time

    @property
    def waits(self) -> bool:
        """Whether it does not execute."""
        return self.halted or self.parked

    @property
    def timer(self) -> int | None:
        """Its time when ITC matches ITM; None: it does not."""
        match = self.processor.next_timer
        return None if match is None else self.time + max(0, match - self.processor.retired)

    def delay(self, time: int) -> None:
        """Let time pass that it was busy with what is not executed."""
        self._idle += time
        self.processor.advance_time(time)

    def wake(self) -> None:
        """Go on if an interrupt has arrived, whatever PSR.i is."""
        if self.halted and self.processor.interrupt_pending:
            self.halted = False

    def let_pass(self, until: int) -> None:
        """Let time pass without executing, until it wakes or ``until`` is its time."""
        match = self.timer
        passing = min(until, until if match is None else match) - self.time
        if passing > 0:
            self._idle += passing
            self.processor.advance_time(passing)
            if self.halted:
                self._unmarked += passing
        self.wake()

    def catch_up(self, cycles: int) -> None:
        """The machine's cycles are these, of which some may have passed without executing."""
        assert self.clock
        if self.halted:
            self._unmarked += cycles - self.clock.cycles
        self.clock.advance(cycles)
        self.wake()

    @property
    def has_marks(self) -> bool:
        """Whether time that it was halted is not in its stream."""
        return self._unmarked > 0

    def drop_marks(self) -> None:
        """Forget the time that it was halted: its stream begins."""
        self._unmarked = 0

    def mark_halted(self, consumer: Consumer) -> None:
        """Put the time that it was halted into its stream, which is the running one (CYCLES_HALTED)."""
        pieces, rest = divmod(self._unmarked, PIECE)
        self._unmarked = 0
        for kind, value in ((Mark.HALTED_LONG, pieces), (Mark.HALTED, rest)):
            while value:
                part = min(value, PIECE - 1)
                self.processor.emit_mark(consumer, kind, part)
                value -= part

    # --- for PAL

    def halt(self) -> None:
        """Wait for an interrupt."""
        if self.clock:
            self.clock.read()
        self.halted = True
        self.wake()

    def shut_down(self) -> None:
        """End the run: the system has switched itself off."""
        self._system.shut_down()

    def flush_caches(self, kind: int, invalidates: bool) -> None:
        """Put a flush of caches into the stream, for a machine."""
        self._system.emit_mark(Mark.CACHE_FLUSH, kind | invalidates << 3)

    @property
    def policy(self) -> int:
        """How the hardware threads of its core share it."""
        return self._system.policy

    def set_policy(self, policy: int) -> None:
        """Change this, in favour of this processor, for the machine as well."""
        self._system.policy = policy
        self._system.emit_mark(Mark.HW_POLICY, policy)

    def copy_code(self, address: int) -> bool:
        """Copy PAL's code to a physical address."""
        return self._system.copy_code(address)

    def has_memory(self, address: int, length: int) -> bool:
        """Whether there is memory at all of these physical addresses."""
        return self._system.has_memory(address, length)

    def translation_register(self, is_data: bool, number: int) -> tuple[int, int, int, int] | None:
        """A translation register as it was inserted."""
        return self.processor.translation_register(is_data, number)


def next_processor(processors: Sequence[LogicalProcessor], on_idle: Callable[[int], None]) -> LogicalProcessor | None:
    """Return the processor that executes next: of those that do not wait the one whose time is least, the first of
    several. Others let time pass up to there, which may wake one by its timer. If all wait, time passes up to the first
    match of a timer. ``on_idle``: called with the time that is to pass then; it may have an interrupt arrive. None:
    nothing can wake one."""
    while True:
        for one in processors:
            one.wake()
        awake = [one for one in processors if not one.waits]
        if awake:
            chosen = min(awake, key=lambda one: one.time)
            waiting = [one for one in processors if one.waits]
            for one in waiting:
                one.let_pass(chosen.time)
            if all(one.waits for one in waiting):
                return chosen
            continue
        matches = [one.timer for one in processors if one.halted and one.timer is not None]
        if not matches:
            return None
        on_idle(min(matches) - min(one.time for one in processors))
        if not any(one.processor.interrupt_pending for one in processors if one.halted):
            for one in processors:
                one.let_pass(min(matches))
