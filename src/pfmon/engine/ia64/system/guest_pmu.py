"""The PMU of a system that programs it (`--guest-pmu`), connected with its processor (volume 2, 7.2)."""

from __future__ import annotations

from pfmon.engine.guest_pmu import SystemPmu
from pfmon.engine.ia64._ia64 import SystemProcessor

PSR_SP = 1 << 20


class GuestPmu:
    """Connects the PMU with the processor."""

    def __init__(self, pmu: SystemPmu, processor: SystemProcessor) -> None:
        self._pmu = pmu
        self._processor = processor
        self._stop: int | None = None
        pmu.set_interrupt(processor.raise_pmi)
        processor.set_guest_pmu(True)

    def next_stop(self) -> int | None:
        """The number of retired instructions at which a counter may overflow, and the processor has to stop exactly;
        None: none may."""
        self._stop = self._pmu.next_stop()
        return self._stop

    def returned(self) -> None:
        """The processor has returned: at such a stop, or before."""
        if self._stop is not None and self._processor.retired >= self._stop:
            self._pmu.update_registers()

    def access(self) -> None:
        """Do what the next instruction asks for, which then executes, unless an overflow interrupts first."""
        processor = self._processor
        self._pmu.update_registers()
        if processor.interrupt_due:
            return
        kind, number, value = processor.pmu_access
        secure = bool(processor.psr & PSR_SP)
        processor.answer_pmd(self._pmu.access(kind, number, value, cpl=processor.level, secure=secure))
