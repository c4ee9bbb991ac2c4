"""AR.ITC by the cycles of the machine that runs the processor's stream (``--itc=cycles``).

The machine is read before each instruction that accesses ITC or ITM, when the processor halts, and on the way to a
match of ITM: at each stop a sixteenth of the cycles that are left is the number of instructions to the next stop, so
that the stops come closer, down to single instructions. The interrupt pends at the first stop at which ITC has reached
ITM: that is the first instruction boundary, unless instructions take more than sixteen cycles each from one stop to the
next.
"""

from __future__ import annotations

from collections.abc import Callable

from pfmon.engine.ia64._ia64 import SystemProcessor

PIECES = 16


class SystemClock:
    """The clock of one processor. ``cycles_before``: the machine's cycles until the instruction at an address, which is
    the next one to execute; None: they are known between two parts of the stream (coupled_turns.py), and `advance` is
    called there."""

    def __init__(self, processor: SystemProcessor, cycles_before: Callable[[int], int] | None = None) -> None:
        self._processor = processor
        self._cycles_before = cycles_before
        self.cycles = 0
        """The machine's, when they were last known."""
        self._stop: int | None = None
        self.awaited = False
        """Whether an access to ITC or ITM waits for them."""
        processor.use_external_clock()

    def read(self) -> None:
        """Bring ITC up to the next instruction, if that is possible now."""
        if self._cycles_before:
            self.advance(self._cycles_before(self._processor.ip))

    def advance(self, cycles: int) -> None:
        """Bring ITC up to the next instruction, before which these are the machine's cycles."""
        processor = self._processor
        processor.pass_time(cycles - self.cycles)
        self.cycles = cycles
        timer, retired = processor.next_timer, processor.retired
        self._stop = None if timer is None else retired + max(1, (timer - retired) // PIECES)

    def next_stop(self) -> int | None:
        """The number of retired instructions at which the processor has to stop exactly; None: it need not."""
        return self._stop

    @property
    def is_due(self) -> bool:
        """Whether the machine's cycles are needed before the processor executes on."""
        return self.awaited or (self._stop is not None and self._processor.retired >= self._stop)

    def returned(self) -> None:
        """The processor has returned: at such a stop, or before."""
        if self.is_due:
            self.read()

    def access(self) -> None:
        """Do what an access to ITC or ITM waits for, now or when the cycles are known."""
        self.awaited = True
        if self._cycles_before:
            self.read()
            self.answer()

    def answer(self) -> None:
        """Let an access that waits execute next, unless the timer interrupts first."""
        processor = self._processor
        if self.awaited and not processor.interrupt_due:
            processor.answer_pmd(0)
            _, _, writes = processor.pmu_access
            if writes:
                self._stop = processor.retired + 1
        self.awaited = False
