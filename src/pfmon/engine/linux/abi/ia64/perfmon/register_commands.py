"""perfmonctl's register commands: PMCs, PMDs, breakpoint registers, reset values; and the version."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator

from pfmon.engine.linux.abi.ia64.perfmon.context_monitor import ContextMonitor, monitor_of
from pfmon.engine.linux.abi.ia64.perfmon.kernel_registers import registers_of
from pfmon.engine.linux.abi.ia64.perfmon.perfmon_context import DEBUG_REGISTERS, LOADED, MASKED, PerfmonContext
from pfmon.engine.linux.abi.ia64.perfmon.perfmon_structures import (
    DEBUG_REGISTER,
    FEATURES,
    REGISTER,
    RETURN_EINVAL,
    RETURN_MASK,
    VERSION,
    RegisterArgument,
)
from pfmon.engine.linux.abi.ia64.perfmon.pmc_rules import accepted
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import fail

BREAKPOINT_IS_ON = {"ibr": 1 << 63, "dbr": 3 << 62}
"""Bits of the second register of a pair that would make it a breakpoint: x; r and w (SDM volume 2, table 7-1)."""


def _items(argument: bytearray) -> Iterator[tuple[int, RegisterArgument]]:
    for place in range(0, len(argument), REGISTER.size):
        yield place, RegisterArgument.unpack(bytes(argument[place : place + REGISTER.size]))


def _each(argument: bytearray, take: Callable[[RegisterArgument], RegisterArgument | None]) -> None:
    """Apply ``take`` to the registers in order and write the answers; the first refused one (None) ends with EINVAL."""
    for place, wanted in _items(argument):
        answer = take(wanted)
        if answer is None:
            argument[place : place + REGISTER.size] = wanted.answered(RETURN_EINVAL).pack()
            fail(errno.EINVAL)
        argument[place : place + REGISTER.size] = answer.answered(0).pack()


def _monitor(context: PerfmonContext) -> ContextMonitor | None:
    """The context's monitor; None: it is unloaded, and written values stay in the context."""
    if context.state != LOADED:
        return None
    assert context.target.pmu
    context.target.pmu.update_registers()
    return monitor_of(context)


def write_pmcs(process: Process, context: PerfmonContext, argument: bytearray) -> None:
    """PFM_WRITE_PMCS."""
    monitor, written, before = _monitor(context), {}, dict(context.pmcs)

    def take(wanted: RegisterArgument) -> RegisterArgument | None:
        value = accepted(context, process.processor, wanted)
        if value is None:
            return None
        number, register = wanted.number, context.registers.pmcs[wanted.number]
        if register.counts:
            context.pmds[number].configure(wanted)
            context.use(wanted.reset_pmds[0] | wanted.smpl_pmds[0])
            _is_new(context, number)
        context.use(register.pmds)
        context.pmcs[number] = written[f"pmc{number}"] = value
        return wanted

    try:
        _each(argument, take)
    finally:
        if monitor and written:
            try:
                monitor.configure(written)
            except OSError:
                context.pmcs = before
                raise
            finally:
                monitor.resume()


def write_pmds(process: Process, context: PerfmonContext, argument: bytearray) -> None:
    """PFM_WRITE_PMDS."""
    monitor = _monitor(context)

    def take(wanted: RegisterArgument) -> RegisterArgument | None:
        number = wanted.number
        register = context.registers.pmds.get(number)
        if register is None:
            return None
        context.pmds[number].load(wanted, register.counts)
        context.use(register.pmds | 1 << number)
        _is_new(context, number)
        if monitor:
            monitor.put(number, wanted.value)
        else:
            context.pmds[number].value = wanted.value
        return wanted

    try:
        _each(argument, take)
    finally:
        if monitor:
            monitor.resume()


def _is_new(context: PerfmonContext, number: int) -> None:
    """Exclude a value written while the context is masked from the reset at its restart."""
    if context.state == MASKED and context.counts(number):
        context.overflowed &= ~(1 << number)


def read_pmds(process: Process, context: PerfmonContext, argument: bytearray) -> None:
    """PFM_READ_PMDS: PMDs used by the context. Capture registers have a value only on the PMU."""
    monitor = _monitor(context)

    def take(wanted: RegisterArgument) -> RegisterArgument | None:
        number = wanted.number
        if number not in context.registers.pmds or not context.used_pmds >> number & 1:
            return None
        counter = context.pmds[number]
        if monitor:
            value = monitor.read(number)
        else:
            value = counter.value if context.counts(number) else 0
        return wanted._replace(value=value, last_reset=counter.last)

    _each(argument, take)


def reset_values(process: Process, argument: bytearray, _: bytes) -> None:
    """PFM_GET_PMC_RESET_VAL."""
    pmcs = registers_of(process.processor).pmcs

    def take(wanted: RegisterArgument) -> RegisterArgument | None:
        return wanted._replace(value=pmcs[wanted.number].default) if wanted.number in pmcs else None

    _each(argument, take)


def write_ibrs(process: Process, context: PerfmonContext, argument: bytearray) -> None:
    """PFM_WRITE_IBRS: ranges of code."""
    _write_debug_registers(process, context, argument, "ibr", context.ibrs)


def write_dbrs(process: Process, context: PerfmonContext, argument: bytearray) -> None:
    """PFM_WRITE_DBRS: ranges of data."""
    _write_debug_registers(process, context, argument, "dbr", context.dbrs)


def _write_debug_registers(
    process: Process, context: PerfmonContext, argument: bytearray, file: str, values: list[int]
) -> None:
    """Breakpoint registers are address ranges here, never breakpoints."""
    monitor = _monitor(context)
    first = not context.uses_debug_registers
    context.uses_debug_registers = True
    try:
        for place in range(0, len(argument), DEBUG_REGISTER.size):
            number, event_set, reserved, value, flags, rest = DEBUG_REGISTER.unpack_from(argument, place)
            valid = number < DEBUG_REGISTERS
            flags = flags & ~RETURN_MASK | (0 if valid else RETURN_EINVAL)
            DEBUG_REGISTER.pack_into(argument, place, number, event_set, reserved, value, flags, rest)
            if not valid:
                context.uses_debug_registers = not first
                fail(errno.EINVAL)
            values[number] = value & ~BREAKPOINT_IS_ON[file] if number & 1 else value
    finally:
        if monitor:
            monitor.configure({name: value for name, value in context.values().items() if name.startswith(file)})
            monitor.resume()


def features(process: Process, argument: bytearray, _: bytes) -> None:
    """PFM_GET_FEATURES: the version."""
    FEATURES.pack_into(argument, 0, VERSION, *FEATURES.unpack(argument)[1:])


def debug(process: Process, argument: bytearray, _: bytes) -> None:
    """PFM_DEBUG: switches the kernel's debug messages, which have no effect here."""
