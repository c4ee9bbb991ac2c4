"""The kernel's handling of counter overflows (Linux up to 5.9, arch/ia64/kernel/perfmon.c, pfm_overflow_handler)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pfmon.engine.linux.abi.ia64.perfmon.context_monitor import ContextMonitor
from pfmon.engine.linux.abi.ia64.perfmon.default_format import FormatEntry, SamplingBuffer
from pfmon.engine.linux.abi.ia64.perfmon.kernel_registers import numbers
from pfmon.engine.linux.abi.ia64.perfmon.soft_counters import MASK


class OverflowOutcome(NamedTuple):
    """Result of an overflow: counters reset at once, whether the program is notified, whether monitoring stops."""

    reset: int
    notify: bool
    mask: bool


def handle(monitor: ContextMonitor, pmds: Iterable[int], address: int, retired: int) -> None:
    """Handle hardware overflows: counters that wrapped all 64 bits are sampled, reported or reset."""
    context = monitor.context
    overflowed = _carry(monitor, pmds)
    if not overflowed:
        return
    wanted = sum(1 << pmd for pmd in numbers(overflowed) if context.pmds[pmd].notifies)
    if context.buffer is not None:
        outcome = _sample(monitor, context.buffer, overflowed, address, retired)
        overflowed &= ~outcome.reset
    else:
        outcome = OverflowOutcome(0, True, True) if wanted else OverflowOutcome(overflowed, False, False)
    if outcome.reset:
        monitor.reset_after(outcome.reset)
    if wanted and outcome.notify:
        context.overflowed = overflowed
    if outcome.mask:
        monitor.mask()
    if wanted and outcome.notify:
        monitor.notify(wanted)


def _carry(monitor: ContextMonitor, pmds: Iterable[int]) -> int:
    """Add the hardware's overflows to the upper bits; returns the counters whose 64 bits overflowed."""
    overflowed = 0
    for pmd in pmds:
        counter = monitor.context.pmds[pmd]
        value = counter.value + monitor.step
        counter.value = value & MASK
        if value > MASK:
            overflowed |= 1 << pmd
    return overflowed


def _sample(
    monitor: ContextMonitor, buffer: SamplingBuffer, overflowed: int, address: int, retired: int
) -> OverflowOutcome:
    """Write a sample for each overflowed counter, until the buffer is full: then the program is notified, if that
    counter notifies, and monitoring stops in any case."""
    reset = 0
    for pmd in numbers(overflowed):
        counter = monitor.context.pmds[pmd]
        values = [monitor.read(number) for number in numbers(counter.smpl_pmds)]
        if buffer.add(FormatEntry(monitor.task, pmd, counter.last, address, retired, values)):
            return OverflowOutcome(reset, counter.notifies, True)
        reset |= 1 << pmd
    return OverflowOutcome(reset, False, False)
