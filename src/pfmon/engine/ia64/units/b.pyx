"""The branch unit: formats B1-B9, and the long branches X3, X4 (SDM volume 3, 4.5 and 4.7).

Every branch ends a block. ``op.imm`` is its Exit, ``op.y`` the bit of the block word that records it as taken.
"""

from libc.stdint cimport uint64_t

from pfmon.isa.ia64._encodings cimport BranchType, Effect, Whether, as_int
from pfmon.stream._stream cimport Ia64Kind, Kind

from pfmon.isa.ia64.encoding_rows import row
PREFETCH = {0: "few", 1: "many"}
WHETHER = {0: "sptk", 1: "spnt", 2: "dptk", 3: "dpnt"}
WHETHER_CALL = {1: "sptk", 3: "spnt", 5: "dptk", 7: "dpnt"}
MEANING = {
    "sptk": as_int(Whether.STATIC_TAKEN), "spnt": as_int(Whether.STATIC_NOT_TAKEN),
    "dptk": as_int(Whether.DYNAMIC_TAKEN), "dpnt": as_int(Whether.DYNAMIC_NOT_TAKEN),
}
DEALLOCATE = {0: "", 1: ".clr"}
IMPORTANCE = {0: "", 1: ".imp"}


def branch_rows(layout, text, run, kind, branch, whether=WHETHER, **given):
    """The rows of one branch (of kinds ``kind`` and ``branch``) with all its hints, in place of ``{hints}`` in the
    text."""
    for wh, prediction in whether.items():
        for p, prefetch in PREFETCH.items():
            for d, deallocate in DEALLOCATE.items():
                hints = f"{prediction}.{prefetch}{deallocate}"
                row(layout, text.replace("{hints}", hints), run, kind=as_int(Kind.BRANCH) | kind,
                    branch=branch, whether=MEANING[prediction], many=p == 1, clear=d == 1, nat="own",
                    predicated="own" if layout != "B2" else "none", emit="branch", wh=wh, p=p, d=d, **given)


cdef int br_cond(Cpu* cpu, Op* op) noexcept nogil:
    return branch(cpu, op)


cdef int br_wtop(Cpu* cpu, Op* op) noexcept nogil:
    # A true qualifying predicate continues the loop; a false one drains it while the epilog count lasts.
    cdef Exit* exit = <Exit*>op.imm
    cdef bint on = qualified(cpu, op) or cpu.ec > 1
    loop_step(cpu, False, qualified(cpu, op))
    if on:
        cpu.mask |= <uint64_t>op.y
        return enter(cpu, exit, &exit.taken)
    return enter(cpu, exit, &exit.next)


cdef int br_wexit(Cpu* cpu, Op* op) noexcept nogil:
    cdef Exit* exit = <Exit*>op.imm
    cdef bint on = qualified(cpu, op) or cpu.ec > 1
    loop_step(cpu, False, qualified(cpu, op))
    if on:
        return enter(cpu, exit, &exit.next)
    cpu.mask |= <uint64_t>op.y
    return enter(cpu, exit, &exit.taken)


cdef int br_cloop(Cpu* cpu, Op* op) noexcept nogil:
    cdef Exit* exit = <Exit*>op.imm
    if cpu.lc != 0:
        cpu.lc -= 1
        cpu.mask |= <uint64_t>op.y
        return enter(cpu, exit, &exit.taken)
    return enter(cpu, exit, &exit.next)


cdef inline void loop_step(Cpu* cpu, bint counted, bint kernel) noexcept nogil:
    """One step of a modulo-scheduled loop (volume 1, 4.5.1; volume 3, br: figures of ctop and wtop).

    ``kernel``: the loop continues; else it drains. Only a counted loop's kernel sets p63.
    """
    cdef uint64_t p63 = <uint64_t>1 << 63
    cpu.pr &= ~p63
    if kernel:
        if counted:
            cpu.lc -= 1
            cpu.pr |= p63
    elif cpu.ec != 0:
        cpu.ec -= 1
    else:
        return
    rotate(cpu)


cdef int br_ctop(Cpu* cpu, Op* op) noexcept nogil:
    cdef Exit* exit = <Exit*>op.imm
    cdef bint on = cpu.lc != 0 or cpu.ec > 1
    loop_step(cpu, True, cpu.lc != 0)
    if on:
        cpu.mask |= <uint64_t>op.y
        return enter(cpu, exit, &exit.taken)
    return enter(cpu, exit, &exit.next)


cdef int br_cexit(Cpu* cpu, Op* op) noexcept nogil:
    cdef Exit* exit = <Exit*>op.imm
    cdef bint on = cpu.lc != 0 or cpu.ec > 1
    loop_step(cpu, True, cpu.lc != 0)
    if on:
        return enter(cpu, exit, &exit.next)
    cpu.mask |= <uint64_t>op.y
    return enter(cpu, exit, &exit.taken)


cdef int br_call(Cpu* cpu, Op* op) noexcept nogil:
    cdef Exit* exit = <Exit*>op.imm
    if qualified(cpu, op):
        cpu.br[op.r1] = exit.return_ip
        push_frame(cpu)
        cpu.mask |= <uint64_t>op.y
        return enter(cpu, exit, &exit.taken)
    return enter(cpu, exit, &exit.next)


cdef int br_cond_indirect(Cpu* cpu, Op* op) noexcept nogil:
    cdef Exit* exit = <Exit*>op.imm
    if qualified(cpu, op):
        cpu.mask |= <uint64_t>op.y
        return jump(cpu, exit, cpu.br[op.r2] & ~<uint64_t>15)
    return enter(cpu, exit, &exit.next)


cdef int br_ia(Cpu* cpu, Op* op) noexcept nogil:
    # There is no IA-32 instruction set in this engine (as on Montecito, where the branch faults, too).
    return fault(cpu, op, FAULT_ILLEGAL_OPERATION)


cdef int br_ret(Cpu* cpu, Op* op) noexcept nogil:
    cdef Exit* exit = <Exit*>op.imm
    if qualified(cpu, op):
        cpu.index = op.index
        if unlikely(not pop_frame(cpu)):
            cpu.fault_op = op
            return STATUS_FAULT
        if unlikely(cpu.pfs >= cpu.first_pfs):
            return_in_system(cpu, <uint32_t>(cpu.pfs >> 62))
        cpu.mask |= <uint64_t>op.y
        return jump(cpu, exit, cpu.br[op.r2] & ~<uint64_t>15)
    return enter(cpu, exit, &exit.next)


cdef int br_call_indirect(Cpu* cpu, Op* op) noexcept nogil:
    cdef Exit* exit = <Exit*>op.imm
    cdef uint64_t target = cpu.br[op.r2] & ~<uint64_t>15
    if qualified(cpu, op):
        cpu.br[op.r1] = exit.return_ip
        push_frame(cpu)
        cpu.mask |= <uint64_t>op.y
        return jump(cpu, exit, target)
    return enter(cpu, exit, &exit.next)


# Branch predict instructions are hints: they retire without an architectural effect.
cdef int brp(Cpu* cpu, Op* op) noexcept nogil:
    return next_op(cpu, op)


cdef int cover(Cpu* cpu, Op* op) noexcept nogil:
    cpu.index = op.index
    cover_frame(cpu)
    return next_op(cpu, op)


cdef int clrrrb(Cpu* cpu, Op* op) noexcept nogil:
    physical_order(cpu)
    return next_op(cpu, op)


cdef int clrrrb_pr(Cpu* cpu, Op* op) noexcept nogil:
    rotate_predicates(cpu, cpu.rrb_pr)
    cpu.rrb_pr = 0
    return next_op(cpu, op)


cdef int epc(Cpu* cpu, Op* op) noexcept nogil:
    # The previous privilege level must not be more privileged than the current one (volume 3, epc). In user mode no
    # page promotes.
    if cpu.pfs >> 62 < cpu.level:
        return fault(cpu, op, FAULT_ILLEGAL_OPERATION)
    if cpu.system != NULL:
        promote(cpu)
    return next_op(cpu, op)


cdef int break_b(Cpu* cpu, Op* op) noexcept nogil:
    # break.b reports 0 whatever its immediate (volume 3, break): IIM is not written for the B unit.
    cpu.fault_info = 0
    cpu.fault_op = op
    return STATUS_BREAK


cdef int nop_b(Cpu* cpu, Op* op) noexcept nogil:
    return next_op(cpu, op)


def b_rows():
    """The rows of the instructions above (encoding_rows.py)."""
    branch_rows("B1", "br.cond.{hints} tgt25", <size_t>&br_cond, as_int(Kind.RELATIVE),
                as_int(BranchType.BRANCH_RELATIVE),
                op=4, btype=0)

    branch_rows("X3", "brl.cond.{hints} tgt64", <size_t>&br_cond, as_int(Kind.RELATIVE), as_int(BranchType.BRANCH_LONG),
                op=0xC, btype=0)

    branch_rows("B1", "br.wexit.{hints} tgt25", <size_t>&br_wexit, as_int(Kind.RELATIVE),
                as_int(BranchType.BRANCH_WTOP),
                isa_kind=as_int(Ia64Kind.LOOP), effect=as_int(Effect.EFFECT_ROTATE), op=4, btype=2)

    branch_rows("B1", "br.wtop.{hints} tgt25", <size_t>&br_wtop, as_int(Kind.RELATIVE), as_int(BranchType.BRANCH_WTOP),
                isa_kind=as_int(Ia64Kind.LOOP), effect=as_int(Effect.EFFECT_ROTATE), op=4, btype=3)

    branch_rows("B2", "br.cloop.{hints} tgt25", <size_t>&br_cloop, as_int(Kind.RELATIVE),
                as_int(BranchType.BRANCH_CLOOP),
                isa_kind=as_int(Ia64Kind.LOOP), op=4, btype=5)

    branch_rows("B2", "br.cexit.{hints} tgt25", <size_t>&br_cexit, as_int(Kind.RELATIVE),
                as_int(BranchType.BRANCH_CTOP),
                isa_kind=as_int(Ia64Kind.LOOP), effect=as_int(Effect.EFFECT_ROTATE), op=4, btype=6)

    branch_rows("B2", "br.ctop.{hints} tgt25", <size_t>&br_ctop, as_int(Kind.RELATIVE), as_int(BranchType.BRANCH_CTOP),
                isa_kind=as_int(Ia64Kind.LOOP), effect=as_int(Effect.EFFECT_ROTATE), op=4, btype=7)

    branch_rows("B3", "br.call.{hints} b1=tgt25", <size_t>&br_call, as_int(Kind.RELATIVE | Kind.CALL),
                as_int(BranchType.BRANCH_CALL), op=5)

    branch_rows("X4", "brl.call.{hints} b1=tgt64", <size_t>&br_call, as_int(Kind.RELATIVE | Kind.CALL),
                as_int(BranchType.BRANCH_LONG_CALL),
                op=0xD)

    branch_rows("B4", "br.cond.{hints} b2", <size_t>&br_cond_indirect, as_int(Kind.INDIRECT),
                as_int(BranchType.BRANCH_INDIRECT),
                op=0, x6=0x20, btype=0)

    branch_rows("B4", "br.ia.{hints} b2", <size_t>&br_ia, as_int(Kind.INDIRECT), as_int(BranchType.BRANCH_INDIRECT),
                op=0, x6=0x20, btype=1)

    branch_rows("B4", "br.ret.{hints} b2", <size_t>&br_ret, as_int(Kind.INDIRECT | Kind.RETURN),
                as_int(BranchType.BRANCH_RETURN),
                op=0, x6=0x21, btype=4)

    branch_rows("B5", "br.call.{hints} b1=b2", <size_t>&br_call_indirect, as_int(Kind.INDIRECT | Kind.CALL),
                as_int(BranchType.BRANCH_INDIRECT_CALL), whether=WHETHER_CALL, op=1)

    for ih, importance in IMPORTANCE.items():
        for wh, how in {0: "sptk", 1: "loop", 2: "dptk", 3: "exit"}.items():
            row("B6", f"brp.{how}{importance} tgt25,tag13", <size_t>&brp, isa_kind=as_int(Ia64Kind.PREFETCH_HINT),
                effect=as_int(Effect.EFFECT_IMPORTANT_HINT) if ih else as_int(Effect.EFFECT_HINT), op=7, wh=wh, ih=ih)
        for wh, how in {0: "sptk", 2: "dptk"}.items():
            row("B7", f"brp.{how}{importance} b2,tag13", <size_t>&brp, isa_kind=as_int(Ia64Kind.PREFETCH_HINT),
                op=2, x6=0x10, wh=wh, ih=ih)
            row("B7", f"brp.ret.{how}{importance} b2,tag13", <size_t>&brp, isa_kind=as_int(Ia64Kind.PREFETCH_HINT),
                op=2, x6=0x11, wh=wh, ih=ih)

    row("B8", "cover", <size_t>&cover, isa_kind=as_int(Ia64Kind.RSE_EVENT), effect=as_int(Effect.EFFECT_COVER), op=0,
        x6=0x02, emit="end")

    row("B8", "clrrrb", <size_t>&clrrrb, effect=as_int(Effect.EFFECT_CLEAR_ROTATION), op=0, x6=0x04)
    row("B8", "clrrrb.pr", <size_t>&clrrrb_pr, effect=as_int(Effect.EFFECT_CLEAR_ROTATION), op=0, x6=0x05)
    row("B8", "epc", <size_t>&epc, op=0, x6=0x10, isa_kind=as_int(Ia64Kind.EPC), emit="end")
    row("B9", "break.b imm21", <size_t>&break_b, op=0, x6=0x00, kind=as_int(Kind.SYSTEM), emit="break")
    row("B9", "nop.b imm21", <size_t>&nop_b, op=2, x6=0x00, kind=as_int(Kind.NOP))
    row("B9", "hint.b imm21", <size_t>&nop_b, op=2, x6=0x01, kind=as_int(Kind.NOP))
