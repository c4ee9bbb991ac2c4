"""Counters of a PMU that code programs, register by register, and that cannot be counted.

Between two of its writes a register may say what it is not meant to, so nothing is refused until a count is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator

from pfmon.counting.totals.countable import check_divided, check_monitor, counts_timing_model
from pfmon.counting.totals.system_events import check_happens_to_programs, in_system
from pfmon.errors import PfmonError
from pfmon.pmu.model.monitors import read_counters
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.model.programming import Monitor
from pfmon.pmu.registers.register_file import RegisterFile


class Refusals:
    """Why counters cannot be counted as they are programmed now, by PMD. ``machine``: there is one."""

    def __init__(self, machine: bool) -> None:
        self.machine = machine
        self.reasons: dict[int, str] = {}

    def countable(self, model: PmuModel, registers: RegisterFile) -> Iterator[Monitor]:
        """Decode the registers anew: return the counters that can be counted."""
        reading = read_counters(model, registers)
        self.reasons = {
            one.pmd: f"{one.register}: event code 0x{one.code:x} with unit mask 0x{one.umask:x}: {one.reason}"
            for one in reading.unknown
        }
        for monitor in reading.monitors:
            try:
                self._check(model, registers, monitor)
            except PfmonError as error:
                self.reasons[monitor.pmd] = str(error)
            else:
                yield monitor

    def _check(self, model: PmuModel, registers: RegisterFile, monitor: Monitor) -> None:
        check_monitor(model, monitor)
        check_divided(monitor, registers)
        check_happens_to_programs(in_system(monitor))
        if counts_timing_model(in_system(monitor)) and not self.machine:
            raise PfmonError(f"{monitor.event.name}: a machine decides this, and none runs")
