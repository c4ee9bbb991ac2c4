"""Shared parts of F-unit handlers: copies of registers, NaTVal, delivery of faults and traps."""

from libc.stdint cimport uint32_t

from pfmon.stream._stream cimport FLOAT, FP_OPERATION, Mark

cdef enum:
    ARITHMETIC = FLOAT | FP_OPERATION    # the kinds of F-unit arithmetic


cdef inline bint fr_is_natval(const Cpu* cpu, int number) noexcept nogil:
    cdef const FloatRegister* register = &cpu.fr[number]
    return register.exponent == EXPONENT_NATVAL and register.significand == 0 and register.sign == 0


cdef inline void copy_float(FloatRegister* target, const FloatRegister* source) noexcept nogil:
    set_float(target, source.sign, source.exponent, source.significand)


cdef inline void set_natval(Cpu* cpu, int number) noexcept nogil:
    set_float(&cpu.fr[number], 0, EXPONENT_NATVAL, 0)


cdef inline bint qualifies(Cpu* cpu, Op* op) noexcept nogil:
    """Whether the qualifying predicate is 1, for handlers that test it themselves."""
    return (cpu.pr >> op.qp) & 1


# The end of an operation on registers: 0, or the ISR.code of its fault or (TRAPPED set) of its trap.
cdef enum:
    TRAPPED = 1 << 31


cdef inline uint32_t ending(const FpOutcome* out) noexcept nogil:
    """ISR.code of a scalar operation (SDM volume 2, 8.3, floating-point fault and trap vectors)."""
    if out.faults:
        return out.faults
    return TRAPPED | 1 | (out.traps << 11) if out.traps else 0


cdef inline uint32_t ending_pair(const FpOutcome* high, const FpOutcome* low) noexcept nogil:
    """ISR.code of a parallel operation: the high half has the bits of a scalar operation."""
    if high.faults or low.faults:
        return high.faults | (low.faults << 4)
    return TRAPPED | 1 | (high.traps << 11) | (low.traps << 7) if high.traps | low.traps else 0


cdef inline void clear(FpOutcome* out) noexcept nogil:
    out.flags = 0
    out.faults = 0
    out.traps = 0
    out.predicate = False
    out.tiny = 0


cdef inline void note_tiny(Cpu* cpu, Op* op, const FpOutcome* out) noexcept nogil:
    """Mark a tiny result, for the events that count flushes to zero."""
    if unlikely(out.tiny != 0):
        mark_at(cpu, op, Mark.FLUSH_TO_ZERO, out.tiny - 1)


cdef inline int interrupt(Cpu* cpu, Op* op, uint32_t code) noexcept nogil:
    """Leave the block with the floating-point fault or trap of this operation."""
    cpu.fault_code = <int>(code & ~<uint32_t>TRAPPED)
    return fault(cpu, op, FAULT_FP_TRAP if code & TRAPPED else FAULT_FP_FAULT)


cdef inline int then_go(Cpu* cpu, Op* op, uint32_t code) noexcept nogil:
    """Continue after an operation that ended with `code`."""
    if unlikely(code != 0):
        return interrupt(cpu, op, code)
    return next_op(cpu, op)
