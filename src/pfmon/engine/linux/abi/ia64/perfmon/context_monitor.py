"""A context on the PMU: load, mask, restart, read, unload (Linux up to 5.9, arch/ia64/kernel/perfmon.c)."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable, Mapping

from pfmon.engine.guest_pmu import ProgramPmu
from pfmon.engine.linux.abi.ia64.perfmon.kernel_registers import numbers
from pfmon.engine.linux.abi.ia64.perfmon.perfmon_context import LOADED, MASKED, PerfmonContext
from pfmon.engine.linux.abi.ia64.perfmon.soft_counters import MASK
from pfmon.engine.linux.perf.pmu_ownership import owners_of
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import fail
from pfmon.engine.linux.process.thread import Thread

OverflowHandler = Callable[["ContextMonitor", Iterable[int], int, int], None]
"""Called with a monitor, the PMDs that wrapped together, the instruction's address, and the instructions retired."""


class ContextMonitor:
    """A context that owns the PMU of a process."""

    def __init__(self, process: Process, context: PerfmonContext, handle: OverflowHandler) -> None:
        """``handle`` is called with the monitor at its counters' overflows."""
        self._handle = handle
        self._process = process
        self.context = context
        self._is_here = False
        self._held: Thread | None = None

    @property
    def _pmu(self) -> ProgramPmu:
        assert self._process.pmu
        return self._process.pmu

    @property
    def step(self) -> int:
        """The value at which a hardware counter wraps."""
        return 1 << self._pmu.width

    @property
    def _low(self) -> int:
        return self.step - 1

    # --- loading and unloading

    def load(self) -> None:
        """Load the context onto the PMU. OSError (EINVAL): pfmon cannot count its events."""
        context = self.context
        self._pmu.update_registers()
        self._pmu.freeze(False)
        try:
            self.configure(context.values())
        except OSError:
            self._pmu.freeze(True)
            raise
        context.state, context.running = LOADED, False
        self._load()

    def unload(self) -> None:
        """Unload it: the context keeps the counters' values."""
        self.stop()
        if self._is_here:
            self.save_counters()
        if not self.context.system and self.context.task == self._process.thread.number:
            self._process.abi.allow_monitoring(self._process.registers, False)
        self.context.unload()
        self._resume_task()

    def restore_counters(self) -> None:
        """Take over the registers: the thread runs again."""
        self._pmu.update_registers()
        self._pmu.freeze(False)
        self.configure(self.context.values())
        self._load()

    def move(self, process: Process) -> None:
        """Move to the PMU of another process, which runs from here on."""
        self._process = self.context.target = process
        self.restore_counters()

    def _load(self) -> None:
        context, pmu = self.context, self._pmu
        self._is_here = True
        if context.state == LOADED:
            for number, counter in context.pmds.items():
                self.put(number, counter.value)
        pmu.clear_captures()
        pmu.freeze(context.state == MASKED)
        pmu.set_overflow_handler(self.overflowed)
        self.resume()

    def save_counters(self) -> None:
        """Save the counters in the context: the thread no longer runs."""
        pmu = self._pmu
        pmu.update_registers()
        if self.context.state == LOADED:
            self._save(self.context.registers.all_pmds)
        self._is_here = False
        pmu.set_overflow_handler(None)
        pmu.set_overflow_stops(())
        pmu.freeze(True)
        pmu.commit()
        pmu.set_counting(False, None)

    def configure(self, values: Mapping[str, int]) -> None:
        """Write configuration registers, between `settle` and `resume`. OSError (EINVAL): an event that cannot be
        counted; the registers are then unchanged."""
        pmu = self._pmu
        before = {name: pmu.read(name) for name in values}
        try:
            for name, value in values.items():
                pmu.write(name, value)
            reason = pmu.commit()
        except ValueError as error:
            reason = str(error)
        if reason:
            for name, value in before.items():
                pmu.write(name, value)
            pmu.commit()
            self._process.notice(f"perfmonctl: {reason}; it returns EINVAL")
            fail(errno.EINVAL)

    # --- while it is loaded

    def start(self) -> None:
        """Start counting: PSR.up of the task, or PSR.pp of the processor."""
        if self.context.system:
            self.context.running = True
            self.resume()
        else:
            self._process.abi.set_monitoring(self._process.registers, True)
            self._steer()

    def stop(self) -> None:
        """Stop counting."""
        if self.context.system:
            self.context.running = False
            self._steer()
        else:
            self._process.abi.set_monitoring(self._process.registers, False)
            self._steer()

    def put(self, number: int, value: int) -> None:
        """Write a PMD, between `settle` and `resume`: the hardware has the lower bits of a counter, the context the
        upper ones."""
        counter = self.context.pmds[number]
        if not self._is_here:
            counter.value = value
            return
        if self.context.counts(number):
            counter.value = value & ~self._low & MASK
            self._pmu.write(f"pmd{number}", value & self._low)
            return
        counter.value = value
        self._pmu.write(f"pmd{number}", value)
        self._pmu.clear_captures()

    def read(self, number: int) -> int:
        """The full value of a PMD, after `settle`."""
        held = self._pmu.read(f"pmd{number}")
        if not self.context.counts(number):
            return held
        return (self.context.pmds[number].value + (held & self._low)) & MASK

    def resume(self) -> None:
        """Let the registers take effect at the next instruction."""
        if not self._is_here:
            return
        self._pmu.commit()
        self._pmu.set_overflow_stops(self.context.watched(self._pmu.width) if self.context.state == LOADED else ())
        self._steer()

    def _steer(self) -> None:
        """Enable counting by PSR.up, which the program itself may change, or by PSR.pp."""
        if not self._is_here:
            return
        if self.context.system:
            self._pmu.set_counting(self.context.running, None)
        else:
            self._pmu.set_counting(True, self._process.abi.monitoring(self._process.registers))

    # --- overflow

    def restart(self) -> None:
        """Resume after a notification: overflowed counters get their long reset values."""
        context = self.context
        if context.buffer is not None:
            context.buffer.restart()
        if self._is_here:
            self._pmu.update_registers()
        if context.state == MASKED:
            if self._is_here:
                self._pmu.freeze(False)
                self.configure(context.values())
            context.state = LOADED
            for number in numbers(context.used_pmds):
                self.put(number, context.pmds[number].value)
        self._reset(context.overflowed, long=True)
        context.overflowed = 0
        self.resume()
        self._resume_task()

    def overflowed(self, pmds: Iterable[int], address: int, retired: int) -> None:
        """Handle hardware overflows at the instruction at ``address``; ``retired`` instructions have retired."""
        self._handle(self, pmds, address, retired)

    @property
    def task(self) -> tuple[int, int]:
        """The process and thread that run while it owns the PMU."""
        return self._process.process_id, self._process.thread.number

    def mask(self) -> None:
        """Stop counting until the restart. The context holds the values meanwhile."""
        self._save(self.context.used_pmds)
        self.context.state = MASKED
        self._pmu.freeze(True)
        self._pmu.set_overflow_stops(())

    def _save(self, pmds: int) -> None:
        for number in numbers(pmds):
            self.context.pmds[number].value = self.read(number)

    def _reset(self, pmds: int, long: bool) -> None:
        """Reset overflowed counters, and those in their reset masks."""
        others = 0
        for number in numbers(pmds):
            counter = self.context.pmds[number]
            self.put(number, counter.reset_value(long))
            others |= counter.reset_pmds
        for number in numbers(others):
            self.put(number, self.context.pmds[number].reset_value(long))

    def reset_after(self, pmds: int) -> None:
        """Reset to the short periods, within an overflow."""
        self._reset(pmds, long=False)
        self._pmu.set_overflow_stops(self.context.watched(self._pmu.width))

    def notify(self, pmds: int) -> None:
        """Notify the program. A blocking context stops its task until the restart."""
        self.context.file.overflowed(pmds)
        thread = self._process.thread
        if self.context.blocking and thread.number == self.context.task:
            self._held = thread
            self._process.system.schedule.stop(thread)

    def _resume_task(self) -> None:
        """Resume its task, unless it is stopped for another reason."""
        held, self._held = self._held, None
        if held is not None and not self._process.family.stopped:
            self._process.system.schedule.release(held)


def monitor_of(context: PerfmonContext) -> ContextMonitor:
    """The monitor of a loaded context."""
    monitor = owners_of(context.target).monitors[context]
    assert isinstance(monitor, ContextMonitor)
    return monitor


class SystemWideContext:
    """Moves the system-wide monitor between processes as linux.system.System switches them."""

    def __init__(self, monitor: ContextMonitor, process: Process) -> None:
        self.monitor = monitor
        self._process: Process | None = process

    def runs(self, process: Process | None) -> None:
        """Move to the running process; None: no process runs, and the last one's processor is dropped."""
        if process is self._process:
            return
        if self._process is not None:
            owners_of(self._process).detach(self.monitor)
        self._process = process
        if process is not None:
            owners_of(process).attach(self.monitor)
