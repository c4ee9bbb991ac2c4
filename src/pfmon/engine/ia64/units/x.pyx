"""X unit: instructions that take two slots (SDM volume 3, 4.7; formats X1, X2, X5). Long branches: b.pyx."""

from libc.stdint cimport uint64_t

from pfmon.isa.ia64._encodings cimport Effect, as_int
from pfmon.stream._stream cimport Kind

from pfmon.isa.ia64.encoding_rows import row
from pfmon.isa.ia64.encoding_rows import guarded


cdef int movl(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = <uint64_t>op.imm
    return next_op(cpu, op)

cdef int movl_guarded(Cpu* cpu, Op* op) noexcept nogil:
    return write_if_qualified(cpu, op, <uint64_t>op.imm)


cdef int nop_x(Cpu* cpu, Op* op) noexcept nogil:
    return next_op(cpu, op)


cdef int break_x(Cpu* cpu, Op* op) noexcept nogil:
    cpu.fault_info = <uint64_t>op.imm
    cpu.fault_op = op
    return STATUS_BREAK


def x_rows():
    """The rows of the instructions above (encoding_rows.py)."""
    row("X2", "movl r1=imm64", <size_t>&movl, op=6, vc=0)
    guarded(<size_t>&movl, <size_t>&movl_guarded)
    row("X5", "nop.x imm62", <size_t>&nop_x, kind=as_int(Kind.NOP), op=0, x3=0, x6=0x01, y=0)
    row("X5", "hint.x imm62", <size_t>&nop_x, kind=as_int(Kind.NOP), effect=as_int(Effect.EFFECT_PAUSE),
         op=0, x3=0, x6=0x01, y=1)
    row("X1", "break.x imm62", <size_t>&break_x, kind=as_int(Kind.SYSTEM), emit="break", op=0, x3=0, x6=0x00)
