"""fsetc, fclrf, fchkf, break.f, nop.f, hint.f (formats F12 to F16; SDM volume 3)."""

from libc.stdint cimport uint32_t, uint64_t

from pfmon.isa.ia64._encodings cimport Effect, as_int
from pfmon.stream._stream cimport Ia64Kind, Kind

from pfmon.isa.ia64.encoding_rows import row
cdef enum:
    CONTROLS = 0x7F              # ftz, wre, pc, rc, td
    PC_RESERVED = 1
    TD = 1 << 6


cdef int fsetc(Cpu* cpu, Op* op) noexcept nogil:
    """Set a field's controls from sf0's: and-mask, then or-mask. pc = 1 and sf0.td are reserved."""
    cdef int shift = field_shift(op.x)
    cdef uint64_t controls = ((cpu.fpsr >> field_shift(0)) & <uint64_t>op.imm) | <uint64_t>op.y
    if (controls >> 2) & 3 == PC_RESERVED or (op.x == 0 and controls & TD):
        return fault(cpu, op, FAULT_RESERVED_REGISTER_FIELD)
    cpu.fpsr = (cpu.fpsr & ~(<uint64_t>CONTROLS << shift)) | (controls << shift)
    return next_op(cpu, op)


cdef int fclrf(Cpu* cpu, Op* op) noexcept nogil:
    cpu.fpsr &= ~(<uint64_t>0x3F << (field_shift(op.x) + 7))
    return next_op(cpu, op)


cdef int fchkf(Cpu* cpu, Op* op) noexcept nogil:
    """Branch if the field has a flag that is enabled, or that sf0 does not have."""
    cdef uint32_t flags = <uint32_t>(cpu.fpsr >> (field_shift(op.x) + 7)) & 0x3F
    cdef uint32_t main = <uint32_t>(cpu.fpsr >> (field_shift(0) + 7)) & 0x3F
    if flags & ~<uint32_t>cpu.fpsr or flags & ~main:
        cpu.ip = <uint64_t>op.imm
        cpu.fault_op = op
        return STATUS_CUT
    return next_op(cpu, op)


cdef int break_f(Cpu* cpu, Op* op) noexcept nogil:
    cpu.fault_info = <uint64_t>op.imm
    cpu.fault_op = op
    return STATUS_BREAK


cdef int nop_f(Cpu* cpu, Op* op) noexcept nogil:
    return next_op(cpu, op)


def f_status_rows():
    """The rows of the instructions above (encoding_rows.py)."""
    for sf in range(4):
        row("F12", f"fsetc.s{sf} amask7,omask7", <size_t>&fsetc, kind=as_int(Kind.FLOAT), reads="ar.fpsr",
            writes="ar.fpsr",
            op=0, x=0, x6=4, sf=sf, op_x=sf)
        row("F13", f"fclrf.s{sf}", <size_t>&fclrf, kind=as_int(Kind.FLOAT), reads="ar.fpsr", writes="ar.fpsr", op=0,
            x=0,
            x6=5,
            sf=sf, op_x=sf)
        row("F14", f"fchkf.s{sf} tgt25", <size_t>&fchkf, kind=as_int(Kind.FLOAT), isa_kind=as_int(Ia64Kind.CHECK_FLAGS),
            reads="ar.fpsr",
            emit="check", op=0, x=0, x6=8, sf=sf, op_x=sf)

    row("F15", "break.f imm21", <size_t>&break_f, kind=as_int(Kind.SYSTEM), emit="break", op=0, x=0, x6=0)
    row("F16", "nop.f imm21", <size_t>&nop_f, kind=as_int(Kind.NOP), op=0, x=0, x6=1, y=0)
    row("F16", "hint.f imm21", <size_t>&nop_f, kind=as_int(Kind.NOP), effect=as_int(Effect.EFFECT_PAUSE),
         op=0, x=0, x6=1, y=1)
