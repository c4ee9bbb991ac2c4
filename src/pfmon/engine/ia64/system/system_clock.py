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
    the next one to execute."""

    def __init__(self, processor: SystemProcessor, cycles_before: Callable[[int], int]) -> None:
        self._processor = processor
        self._cycles_before = cycles_before
        self.cycles = 0
        """The machine's, when it was last read."""
        self._stop: int | None = None
        processor.use_external_clock()

    def read(self) -> None:
        """Bring ITC up to the next instruction."""
        processor = self._processor
        now = self._cycles_before(processor.ip)
        processor.pass_time(now - self.cycles)
        self.cycles = now
        timer, retired = processor.next_timer, processor.retired
        self._stop = None if timer is None else retired + max(1, (timer - retired) // PIECES)

    def next_stop(self) -> int | None:
        """The number of retired instructions at which the processor has to stop exactly; None: it need not."""
        return self._stop

    def returned(self) -> None:
        """The processor has returned: at such a stop, or before."""
        if self._stop is not None and self._processor.retired >= self._stop:
            self.read()

    def access(self) -> None:
        """Do what an access to ITC or ITM waits for. It executes next, unless the timer interrupts first."""
        self.read()
        processor = self._processor
        if not processor.interrupt_due:
            processor.answer_pmd(0)
            _, _, writes = processor.pmu_access
            if writes:
                self._stop = processor.retired + 1
