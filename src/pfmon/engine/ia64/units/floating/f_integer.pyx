"""Integers and bits in floating-point registers: xma (format F2), fselect (F3), merges and moves of parts (F9).

SDM volume 3, xma, fselect, fmerge, fmix, fsxt, fpack, fswap, fand, fpmerge. Results that are integers or pairs
have sign 0 and exponent 0x1003E; NaTVal in a source gives NaTVal.
"""

from libc.stdint cimport int64_t, uint64_t


from pfmon.isa.ia64.encoding_rows import row

cdef enum:
    EXPONENT_MASK = EXPONENT_SPECIAL


cdef inline int deliver_integer(Cpu* cpu, Op* op, uint64_t value) noexcept nogil:
    set_float(&cpu.fr[op.r1], 0, EXPONENT_INTEGER, value)
    return next_op(cpu, op)


cdef inline bint has_natval(Cpu* cpu, Op* op) noexcept nogil:
    return fr_is_natval(cpu, op.r2) or fr_is_natval(cpu, op.r3)


cdef inline bint has_natval3(Cpu* cpu, Op* op) noexcept nogil:
    return has_natval(cpu, op) or fr_is_natval(cpu, op.r4)


cdef int deliver_natval(Cpu* cpu, Op* op) noexcept nogil:
    set_natval(cpu, op.r1)
    return next_op(cpu, op)


cdef int xma_l(Cpu* cpu, Op* op) noexcept nogil:
    if unlikely(has_natval3(cpu, op)):
        return deliver_natval(cpu, op)
    return deliver_integer(
        cpu, op, cpu.fr[op.r3].significand * cpu.fr[op.r4].significand + cpu.fr[op.r2].significand
    )


cdef int xma_hu(Cpu* cpu, Op* op) noexcept nogil:
    cdef u128 product
    if unlikely(has_natval3(cpu, op)):
        return deliver_natval(cpu, op)
    product = <u128>cpu.fr[op.r3].significand * cpu.fr[op.r4].significand + cpu.fr[op.r2].significand
    return deliver_integer(cpu, op, <uint64_t>(product >> 64))


cdef int xma_h(Cpu* cpu, Op* op) noexcept nogil:
    """Signed factors; the addend is zero-extended."""
    cdef uint64_t x = cpu.fr[op.r3].significand
    cdef uint64_t y = cpu.fr[op.r4].significand
    cdef u128 product
    if unlikely(has_natval3(cpu, op)):
        return deliver_natval(cpu, op)
    product = <u128>x * y + cpu.fr[op.r2].significand
    # As unsigned factors they are 2**64 too large where negative.
    return deliver_integer(
        cpu, op, <uint64_t>(product >> 64) - (y if <int64_t>x < 0 else 0) - (x if <int64_t>y < 0 else 0)
    )


cdef int fselect(Cpu* cpu, Op* op) noexcept nogil:
    cdef uint64_t mask = cpu.fr[op.r2].significand
    if unlikely(has_natval3(cpu, op)):
        return deliver_natval(cpu, op)
    return deliver_integer(cpu, op, (cpu.fr[op.r3].significand & mask) | (cpu.fr[op.r4].significand & ~mask))


cdef int fmerge_s(Cpu* cpu, Op* op) noexcept nogil:
    cdef const FloatRegister* source = &cpu.fr[op.r3]
    if unlikely(has_natval(cpu, op)):
        return deliver_natval(cpu, op)
    set_float(&cpu.fr[op.r1], cpu.fr[op.r2].sign, source.exponent, source.significand)
    return next_op(cpu, op)


cdef int fmerge_ns(Cpu* cpu, Op* op) noexcept nogil:
    cdef const FloatRegister* source = &cpu.fr[op.r3]
    if unlikely(has_natval(cpu, op)):
        return deliver_natval(cpu, op)
    set_float(&cpu.fr[op.r1], cpu.fr[op.r2].sign ^ 1, source.exponent, source.significand)
    return next_op(cpu, op)


cdef int fmerge_se(Cpu* cpu, Op* op) noexcept nogil:
    if unlikely(has_natval(cpu, op)):
        return deliver_natval(cpu, op)
    set_float(&cpu.fr[op.r1], cpu.fr[op.r2].sign, cpu.fr[op.r2].exponent, cpu.fr[op.r3].significand)
    return next_op(cpu, op)


cdef int fp_move(Cpu* cpu, Op* op) noexcept nogil:
    """fmerge.s of a register with itself, NaTVal included."""
    copy_float(&cpu.fr[op.r1], &cpu.fr[op.r3])
    return next_op(cpu, op)


# Parts of significands. Each function returns the result's significand from those of f2 and f3.

cdef inline uint64_t low_words(uint64_t high, uint64_t low) noexcept nogil:
    """The low 32 bits of each word, joined."""
    return (high << 32) | (low & 0xFFFFFFFFU)


cdef inline uint64_t sign_word(uint64_t word) noexcept nogil:
    """32 copies of bit 31."""
    return 0xFFFFFFFFU if (word >> 31) & 1 else 0


cdef int fmix_l(Cpu* cpu, Op* op) noexcept nogil:
    if unlikely(has_natval(cpu, op)):
        return deliver_natval(cpu, op)
    return deliver_integer(cpu, op, low_words(cpu.fr[op.r2].significand >> 32, cpu.fr[op.r3].significand >> 32))


cdef int fmix_r(Cpu* cpu, Op* op) noexcept nogil:
    if unlikely(has_natval(cpu, op)):
        return deliver_natval(cpu, op)
    return deliver_integer(cpu, op, low_words(cpu.fr[op.r2].significand, cpu.fr[op.r3].significand))


cdef int fmix_lr(Cpu* cpu, Op* op) noexcept nogil:
    if unlikely(has_natval(cpu, op)):
        return deliver_natval(cpu, op)
    return deliver_integer(cpu, op, low_words(cpu.fr[op.r2].significand >> 32, cpu.fr[op.r3].significand))


cdef int fsxt_l(Cpu* cpu, Op* op) noexcept nogil:
    if unlikely(has_natval(cpu, op)):
        return deliver_natval(cpu, op)
    return deliver_integer(
        cpu, op, low_words(sign_word(cpu.fr[op.r2].significand >> 32), cpu.fr[op.r3].significand >> 32)
    )


cdef int fsxt_r(Cpu* cpu, Op* op) noexcept nogil:
    if unlikely(has_natval(cpu, op)):
        return deliver_natval(cpu, op)
    return deliver_integer(cpu, op, low_words(sign_word(cpu.fr[op.r2].significand), cpu.fr[op.r3].significand))


cdef int fpack(Cpu* cpu, Op* op) noexcept nogil:
    if unlikely(has_natval(cpu, op)):
        return deliver_natval(cpu, op)
    return deliver_integer(cpu, op, low_words(to_single(cpu.fr[op.r2]), to_single(cpu.fr[op.r3])))


cdef int fswap(Cpu* cpu, Op* op) noexcept nogil:
    if unlikely(has_natval(cpu, op)):
        return deliver_natval(cpu, op)
    return deliver_integer(cpu, op, low_words(cpu.fr[op.r3].significand, cpu.fr[op.r2].significand >> 32))


cdef int fswap_nl(Cpu* cpu, Op* op) noexcept nogil:
    if unlikely(has_natval(cpu, op)):
        return deliver_natval(cpu, op)
    return deliver_integer(
        cpu, op, low_words(cpu.fr[op.r3].significand ^ 0x80000000U, cpu.fr[op.r2].significand >> 32)
    )


cdef int fswap_nr(Cpu* cpu, Op* op) noexcept nogil:
    if unlikely(has_natval(cpu, op)):
        return deliver_natval(cpu, op)
    return deliver_integer(
        cpu, op, low_words(cpu.fr[op.r3].significand, (cpu.fr[op.r2].significand >> 32) ^ 0x80000000U)
    )


cdef int fand(Cpu* cpu, Op* op) noexcept nogil:
    if unlikely(has_natval(cpu, op)):
        return deliver_natval(cpu, op)
    return deliver_integer(cpu, op, cpu.fr[op.r2].significand & cpu.fr[op.r3].significand)


cdef int fandcm(Cpu* cpu, Op* op) noexcept nogil:
    if unlikely(has_natval(cpu, op)):
        return deliver_natval(cpu, op)
    return deliver_integer(cpu, op, cpu.fr[op.r2].significand & ~cpu.fr[op.r3].significand)


cdef int f_or(Cpu* cpu, Op* op) noexcept nogil:
    if unlikely(has_natval(cpu, op)):
        return deliver_natval(cpu, op)
    return deliver_integer(cpu, op, cpu.fr[op.r2].significand | cpu.fr[op.r3].significand)


cdef int fxor(Cpu* cpu, Op* op) noexcept nogil:
    if unlikely(has_natval(cpu, op)):
        return deliver_natval(cpu, op)
    return deliver_integer(cpu, op, cpu.fr[op.r2].significand ^ cpu.fr[op.r3].significand)


cdef int fpmerge(Cpu* cpu, Op* op) noexcept nogil:
    """Op.x: the lowest bit of each half that comes from f2 (31 or 23); bit 8: its bits are complemented."""
    cdef uint64_t low = (<uint64_t>0xFFFFFFFFU << (op.x & 31)) & 0xFFFFFFFFU
    cdef uint64_t mask = (low << 32) | low
    cdef uint64_t upper = cpu.fr[op.r2].significand
    if unlikely(has_natval(cpu, op)):
        return deliver_natval(cpu, op)
    if op.x & 256:
        upper = ~upper
    return deliver_integer(cpu, op, (upper & mask) | (cpu.fr[op.r3].significand & ~mask))


def f_integer_rows():
    """The rows of the instructions above (encoding_rows.py)."""
    for name, short, x2, run in (
        ("xma.l", "xmpy.l", 0, <size_t>&xma_l),
        ("xma.h", "xmpy.h", 3, <size_t>&xma_h),
        ("xma.hu", "xmpy.hu", 2, <size_t>&xma_hu),
    ):
        row("F2", f"{name} f1=f3,f4,f2", run, kind=ARITHMETIC, op=14, x=1, x2=x2)
        row("F2", f"{short} f1=f3,f4", run, kind=ARITHMETIC, over=f"{name} f1=f3,f4,f2", op=14, x=1,
            x2=x2, f2=0)

    row("F3", "fselect f1=f3,f4,f2", <size_t>&fselect, kind=ARITHMETIC, op=14, x=0)
    row("F9", "fmerge.s f1=f2,f3", <size_t>&fmerge_s, kind=ARITHMETIC, op=0, x=0, x6=0x10)
    row("F9", "fmerge.ns f1=f2,f3", <size_t>&fmerge_ns, kind=ARITHMETIC, op=0, x=0, x6=0x11)
    row("F9", "fmerge.se f1=f2,f3", <size_t>&fmerge_se, kind=ARITHMETIC, op=0, x=0, x6=0x12)
    row("F9", "mov f1=f3", <size_t>&fp_move, kind=ARITHMETIC,
        over=("fmerge.s f1=f2,f3", "fabs f1=f3"), tie="f2=f3", op=0, x=0, x6=0x10)

    row("F9", "fabs f1=f3", <size_t>&fmerge_s, kind=ARITHMETIC, over="fmerge.s f1=f2,f3", op=0, x=0, x6=0x10, f2=0)
    row("F9", "fneg f1=f3", <size_t>&fmerge_ns, kind=ARITHMETIC,
        over=("fmerge.ns f1=f2,f3", "fnegabs f1=f3"), tie="f2=f3", op=0, x=0, x6=0x11)

    row("F9", "fnegabs f1=f3", <size_t>&fmerge_ns, kind=ARITHMETIC, over="fmerge.ns f1=f2,f3",
        op=0, x=0, x6=0x11, f2=0)

    for name, x6, run in (
        ("fpack", 0x28, <size_t>&fpack),
        ("fand", 0x2C, <size_t>&fand),
        ("fandcm", 0x2D, <size_t>&fandcm),
        ("for", 0x2E, <size_t>&f_or),
        ("fxor", 0x2F, <size_t>&fxor),
        ("fswap", 0x34, <size_t>&fswap),
        ("fswap.nl", 0x35, <size_t>&fswap_nl),
        ("fswap.nr", 0x36, <size_t>&fswap_nr),
        ("fmix.lr", 0x39, <size_t>&fmix_lr),
        ("fmix.r", 0x3A, <size_t>&fmix_r),
        ("fmix.l", 0x3B, <size_t>&fmix_l),
        ("fsxt.r", 0x3C, <size_t>&fsxt_r),
        ("fsxt.l", 0x3D, <size_t>&fsxt_l),
    ):
        row("F9", f"{name} f1=f2,f3", run, kind=ARITHMETIC, op=0, x=0, x6=x6)

    for name, x6, x in (("fpmerge.s", 0x10, 31), ("fpmerge.ns", 0x11, 256 | 31), ("fpmerge.se", 0x12, 23)):
        row("F9", f"{name} f1=f2,f3", <size_t>&fpmerge, kind=ARITHMETIC, op=1, x=0, x6=x6, op_x=x)

    row("F9", "fpabs f1=f3", <size_t>&fpmerge, kind=ARITHMETIC, over="fpmerge.s f1=f2,f3", op=1, x=0,
        x6=0x10, f2=0, op_x=31)

    row("F9", "fpneg f1=f3", <size_t>&fpmerge, kind=ARITHMETIC,
        over=("fpmerge.ns f1=f2,f3", "fpnegabs f1=f3"), tie="f2=f3", op=1, x=0, x6=0x11, op_x=256 | 31)

    row("F9", "fpnegabs f1=f3", <size_t>&fpmerge, kind=ARITHMETIC,
        over="fpmerge.ns f1=f2,f3", op=1, x=0, x6=0x11, f2=0, op_x=256 | 31)
