"""The signals of processor faults, and their siginfo (Linux for IA-64, trap handling)."""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from pfmon.engine.linux.abi.ia64.ia64_registers import Ia64Registers, previous_slot
from pfmon.engine.linux.abi.linux_abi import ProcessorFault
from pfmon.engine.linux.memory.user_memory import int32
from pfmon.engine.linux.signals.signal_table import SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP
from pfmon.isa.ia64._encodings import Fault

DETAILS = Struct("<iIQ")  # immediate of break, flags, isr
ISR_VALID = 1
MASK = (1 << 64) - 1

ILL_ILLOPC, ILL_ILLOPN, ILL_PRVOPC, ILL_PRVREG, ILL_BADIADDR, ILL_BREAK = 1, 2, 5, 6, 9, 10
SEGV_MAPERR, SEGV_ACCERR, SEGV_PSTKOVF = 1, 2, 4
BUS_ADRALN = 1
TRAP_BRKPT = 1
FPE_INTDIV, FPE_INTOVF, FPE_FLTDIV, FPE_FLTOVF, FPE_FLTUND, FPE_FLTRES, FPE_FLTINV, FPE_FLTSUB = range(1, 9)


class Cause(NamedTuple):
    """Signal, si_code and the text if it kills; at_ip: si_addr is the instruction's address."""

    signal: int
    code: int
    text: str
    at_ip: bool = True


CAUSES: dict[int, Cause] = {
    Fault.FAULT_ILLEGAL_OPERATION: Cause(SIGILL, ILL_ILLOPC, "illegal operation"),
    Fault.FAULT_PRIVILEGED_OPERATION: Cause(SIGILL, ILL_PRVOPC, "privileged operation"),
    Fault.FAULT_PRIVILEGED_REGISTER: Cause(SIGILL, ILL_PRVREG, "privileged register"),
    Fault.FAULT_RESERVED_REGISTER_FIELD: Cause(SIGILL, ILL_ILLOPC, "reserved register or field"),
    Fault.FAULT_REGISTER_NAT_CONSUMPTION: Cause(SIGILL, ILL_ILLOPN, "NaT consumption"),
    Fault.FAULT_NAT_PAGE_CONSUMPTION: Cause(SIGSEGV, SEGV_ACCERR, "NaT page consumption at", False),
    Fault.FAULT_UNALIGNED_REFERENCE: Cause(SIGBUS, BUS_ADRALN, "unaligned reference to", False),
    Fault.FAULT_DATA_PAGE_NOT_PRESENT: Cause(SIGSEGV, SEGV_MAPERR, "no memory at", False),
    Fault.FAULT_DATA_ACCESS_RIGHTS: Cause(SIGSEGV, SEGV_ACCERR, "no right to access", False),
    Fault.FAULT_INST_PAGE_NOT_PRESENT: Cause(SIGSEGV, SEGV_MAPERR, "no memory to execute at", False),
    Fault.FAULT_INST_ACCESS_RIGHTS: Cause(SIGSEGV, SEGV_ACCERR, "no right to execute at", False),
    Fault.FAULT_DISABLED_FP: Cause(SIGILL, ILL_ILLOPC, "disabled floating-point register"),
    Fault.FAULT_UNSUPPORTED_DATA_REFERENCE: Cause(SIGILL, ILL_ILLOPN, "unsupported data reference"),
    Fault.FAULT_ILLEGAL_DEPENDENCY: Cause(SIGILL, ILL_ILLOPC, "illegal dependency"),
    Fault.FAULT_UNIMPLEMENTED_ADDRESS: Cause(SIGILL, ILL_BADIADDR, "unimplemented address"),
    Fault.FAULT_BACKING_STORE: Cause(SIGSEGV, SEGV_MAPERR, "no memory for the register backing store at", False),
}

# break with these immediates (IA-64 software conventions); 5 is Linux's odd pairing.
BREAKS = {
    0: Cause(SIGILL, ILL_ILLOPC, "break 0"),
    1: Cause(SIGFPE, FPE_INTDIV, "integer division by zero"),
    2: Cause(SIGFPE, FPE_INTOVF, "integer overflow"),
    3: Cause(SIGFPE, FPE_FLTSUB, "range check failed"),
    4: Cause(SIGSEGV, SEGV_MAPERR, "null pointer dereference"),
    5: Cause(SIGSEGV, BUS_ADRALN, "misaligned data"),
    6: Cause(SIGFPE, 9, "decimal overflow"),
    7: Cause(SIGFPE, 10, "decimal division by zero"),
    8: Cause(SIGFPE, 11, "packed decimal error"),
    9: Cause(SIGFPE, 12, "invalid ASCII digit"),
    10: Cause(SIGFPE, 13, "invalid decimal digit"),
    11: Cause(SIGSEGV, SEGV_PSTKOVF, "paragraph stack overflow"),
}

# Bits of ISR.code in floating-point faults and traps (SDM volume 2, 8.3), the first that is set decides.
FP_FAULTS = ((0x11, FPE_FLTINV, "invalid operation"), (0x22, FPE_FLTUND, "denormal operand"))
FP_FAULT_ZERO = (0x44, FPE_FLTDIV, "division by zero")
FP_TRAPS = (
    (0x880, FPE_FLTOVF, "overflow"),
    (0x1100, FPE_FLTUND, "underflow"),
    (0x2200, FPE_FLTRES, "inexact result"),
)


def break_cause(immediate: int) -> Cause:
    """The signal of a break instruction that is no system call."""
    if immediate in BREAKS:
        return BREAKS[immediate]
    if immediate < 0x80000:
        return Cause(SIGILL, ILL_BREAK, f"break {immediate:#x}")
    return Cause(SIGTRAP, TRAP_BRKPT, f"break {immediate:#x}")


def cause(kind: int, code: int) -> Cause:
    """The signal of a fault. code: ISR.code; of a break the immediate."""
    if kind == Fault.FAULT_BREAK:
        return break_cause(code)
    if kind in (Fault.FAULT_FP_FAULT, Fault.FAULT_FP_TRAP):
        rows = (*FP_FAULTS, FP_FAULT_ZERO) if kind == Fault.FAULT_FP_FAULT else FP_TRAPS
        for bits, si_code, text in rows:
            if code & bits:
                return Cause(SIGFPE, si_code, f"floating-point {text}")
        return Cause(SIGFPE, FPE_FLTINV, "floating-point exception")
    return CAUSES.get(kind, Cause(SIGILL, ILL_ILLOPC, f"fault {kind}"))


def fault(registers: Ia64Registers, kind: int, address: int, code: int) -> ProcessorFault:
    """The signal of a fault (enum Fault). ``code``: ISR.code, of a break its immediate."""
    found = cause(kind, code)
    is_break = kind == Fault.FAULT_BREAK
    if is_break:  # a break is a fault: it does not retire
        registers.set_ip(previous_slot(registers.ip))
    at = registers.ip if found.at_ip else address
    text = found.text if found.at_ip else f"{found.text} {address:#x}"
    details = DETAILS.pack(int32(code), 0, 0) if is_break else DETAILS.pack(0, ISR_VALID, code & MASK)
    denied = address if kind == Fault.FAULT_DATA_ACCESS_RIGHTS else None
    return ProcessorFault(found.signal, found.code, text, at & MASK, details, denied)
