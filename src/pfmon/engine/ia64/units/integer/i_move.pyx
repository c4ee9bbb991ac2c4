"""I unit: moves between register files, speculation checks, nop, hint, break (SDM volume 3, 4.3.3 to 4.3.9; formats
I18 to I28)."""

from libc.stdint cimport uint64_t

from pfmon.isa.ia64._encodings cimport Effect, as_int
from pfmon.stream._stream cimport Ia64Kind, Kind

from pfmon.isa.ia64.encoding_rows import row

cdef int nop(Cpu* cpu, Op* op) noexcept nogil:
    return next_op(cpu, op)


cdef int break_(Cpu* cpu, Op* op) noexcept nogil:
    cpu.fault_info = <uint64_t>op.imm
    cpu.fault_op = op
    return STATUS_BREAK


# --- I20: control speculation check ------------------------------------------------------------------------------

cdef int chk_s_i(Cpu* cpu, Op* op) noexcept nogil:
    if get_nat(cpu, op.r2):
        cpu.ip = <uint64_t>op.imm
        cpu.fault_op = op
        return STATUS_CUT
    return next_op(cpu, op)


# --- I21, I22: branch registers ----------------------------------------------------------------------------------

cdef int mov_to_br(Cpu* cpu, Op* op) noexcept nogil:
    cpu.br[op.r1] = cpu.gr[op.r2]
    return next_op(cpu, op)


cdef int mov_from_br(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = cpu.br[op.r2]
    return next_op(cpu, op)


# --- I23 to I25: predicates, instruction pointer -----------------------------------------------------------------

cdef int mov_to_pr(Cpu* cpu, Op* op) noexcept nogil:
    # Bit 16 of the mask covers all rotating predicates: the immediate is sign-extended from there.
    cdef uint64_t mask = <uint64_t>op.imm
    set_unrenamed_predicates(cpu, (unrenamed_predicates(cpu) & ~mask) | (cpu.gr[op.r2] & mask))
    return next_op(cpu, op)


cdef int mov_to_pr_rot(Cpu* cpu, Op* op) noexcept nogil:
    set_unrenamed_predicates(cpu, (cpu.pr & 0xFFFF) | <uint64_t>op.imm)
    return next_op(cpu, op)


cdef int mov_from_ip(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = <uint64_t>op.imm
    return next_op(cpu, op)


cdef int mov_from_pr(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = unrenamed_predicates(cpu)
    return next_op(cpu, op)


# --- I26 to I28: application registers ---------------------------------------------------------------------------
# The I unit reaches ar.pfs, ar.lc and ar.ec. AR 48-63 and 112-127 are ignored: writes do nothing and reads give 0.
# Any other is an illegal operation there (SDM volume 1, 3.1.8: table "Application Registers").

cdef enum:
    # Fields of ar.pfs that are reserved: bits 51:38 and 61:58 (SDM volume 1, 3.1.8.10).
    PFS_RESERVED = 0x3C0FFFC000000000
    EC_BITS = 0x3F               # the rest of ar.ec is ignored


cdef inline bint ar_is_ignored(unsigned int number) noexcept nogil:
    return 48 <= number < 64 or 112 <= number


cdef inline int write_pfs(Cpu* cpu, Op* op, uint64_t value) noexcept nogil:
    if value & <uint64_t>PFS_RESERVED:
        return fault(cpu, op, FAULT_RESERVED_REGISTER_FIELD)
    cpu.pfs = value
    return next_op(cpu, op)


cdef int mov_to_pfs(Cpu* cpu, Op* op) noexcept nogil:
    return write_pfs(cpu, op, cpu.gr[op.r2])


cdef int mov_to_pfs_immediate(Cpu* cpu, Op* op) noexcept nogil:
    return write_pfs(cpu, op, <uint64_t>op.imm)


cdef int mov_to_lc(Cpu* cpu, Op* op) noexcept nogil:
    cpu.lc = cpu.gr[op.r2]
    return next_op(cpu, op)


cdef int mov_to_lc_immediate(Cpu* cpu, Op* op) noexcept nogil:
    cpu.lc = <uint64_t>op.imm
    return next_op(cpu, op)


cdef int mov_to_ec(Cpu* cpu, Op* op) noexcept nogil:
    cpu.ec = cpu.gr[op.r2] & EC_BITS
    return next_op(cpu, op)


cdef int mov_to_ec_immediate(Cpu* cpu, Op* op) noexcept nogil:
    cpu.ec = <uint64_t>op.imm & EC_BITS
    return next_op(cpu, op)


cdef int mov_to_other_ar(Cpu* cpu, Op* op) noexcept nogil:
    if ar_is_ignored(op.r3):
        return next_op(cpu, op)
    return fault(cpu, op, FAULT_ILLEGAL_OPERATION)


cdef int mov_from_pfs(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = cpu.pfs
    return next_op(cpu, op)


cdef int mov_from_lc(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = cpu.lc
    return next_op(cpu, op)


cdef int mov_from_ec(Cpu* cpu, Op* op) noexcept nogil:
    cpu.gr[op.r1] = cpu.ec
    return next_op(cpu, op)


cdef int mov_from_other_ar(Cpu* cpu, Op* op) noexcept nogil:
    if ar_is_ignored(op.r3):
        cpu.gr[op.r1] = 0
        return next_op(cpu, op)
    return fault(cpu, op, FAULT_ILLEGAL_OPERATION)


def i_move_rows():
    """The rows of the instructions above (encoding_rows.py)."""
    row("I18", "nop.i imm21", <size_t>&nop, kind=as_int(Kind.NOP), op=0, x3=0, x6=0x01, y=0)
    row("I18", "hint.i imm21", <size_t>&nop, kind=as_int(Kind.NOP), effect=as_int(Effect.EFFECT_PAUSE),
         op=0, x3=0, x6=0x01, y=1)
    row("I19", "break.i imm21", <size_t>&break_, kind=as_int(Kind.SYSTEM), emit="break", op=0, x3=0, x6=0x00)
    row("I20", "chk.s.i r2,tgt25", <size_t>&chk_s_i, isa_kind=as_int(Ia64Kind.CHECK_NAT), nat="own", emit="check",
        op=0, x3=1)
    # The hint predicts the branch through b1 at the tag's address; wh = 1 is no hint, and then a plain mov has no tag.
    # wh = 3 is unused: a hint without a meaning.
    for x, ret in enumerate(("", ".ret")):
        for ih, importance in enumerate(("", ".imp")):
            for wh, how in {0: ".sptk", 1: "", 2: ".dptk", 3: ".d3"}.items():
                tag = "" if wh == 1 and not ih and not x else ",tag13"
                row("I21", f"mov{ret}{how}{importance} b1=r2{tag}", <size_t>&mov_to_br, nat="consume",
                    op=0, x3=7, x=x, ih=ih, wh=wh)

    row("I22", "mov r1=b2", <size_t>&mov_from_br, op=0, x3=0, x6=0x31)
    row("I23", "mov pr=r2,mask17", <size_t>&mov_to_pr, effect=as_int(Effect.EFFECT_ALL_PREDICATES), nat="consume",
        writes="pr", op=0, x3=3)

    row("I24", "mov pr.rot=imm44", <size_t>&mov_to_pr_rot, effect=as_int(Effect.EFFECT_ALL_PREDICATES), writes="pr.rot",
        op=0, x3=2)

    row("I25", "mov r1=ip", <size_t>&mov_from_ip, ip=True, op=0, x3=0, x6=0x30)
    row("I25", "mov r1=pr", <size_t>&mov_from_pr, reads="pr", op=0, x3=0, x6=0x33)
    row("I26", "mov.i ar3=r2", <size_t>&mov_to_other_ar, nat="consume", op=0, x3=0, x6=0x2A)
    row("I27", "mov.i ar3=imm8", <size_t>&mov_to_other_ar, op=0, x3=0, x6=0x0A)
    row("I28", "mov.i r1=ar3", <size_t>&mov_from_other_ar, op=0, x3=0, x6=0x32)
    for name, (ar3, write, write_immediate, read) in {
        "ar.pfs": (64, <size_t>&mov_to_pfs, <size_t>&mov_to_pfs_immediate, <size_t>&mov_from_pfs),
        "ar.lc": (65, <size_t>&mov_to_lc, <size_t>&mov_to_lc_immediate, <size_t>&mov_from_lc),
        "ar.ec": (66, <size_t>&mov_to_ec, <size_t>&mov_to_ec_immediate, <size_t>&mov_from_ec),
    }.items():
        row("I26", f"mov.i {name}=r2", write, nat="consume", writes=name, over="mov.i ar3=r2",
            op=0, x3=0, x6=0x2A, ar3=ar3)
        row("I27", f"mov.i {name}=imm8", write_immediate, writes=name, over="mov.i ar3=imm8",
            op=0, x3=0, x6=0x0A, ar3=ar3)
        row("I28", f"mov.i r1={name}", read, reads=name, over="mov.i r1=ar3", op=0, x3=0, x6=0x32, ar3=ar3)
