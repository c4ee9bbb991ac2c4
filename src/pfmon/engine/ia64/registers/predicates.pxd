"""Writing predicate registers. Writes to p0 have no effect (SDM volume 1, 3.1.4)."""

from libc.stdint cimport uint64_t


cdef inline void set_pr(Cpu* cpu, unsigned int p, uint64_t value) noexcept nogil:
    """p = value (0 or 1)."""
    cpu.pr = (cpu.pr & ~(<uint64_t>1 << p)) | (value << p) | 1


cdef inline void set_pr_pair(Cpu* cpu, unsigned int p1, uint64_t value1,
                             unsigned int p2, uint64_t value2) noexcept nogil:
    """p1 = value1, p2 = value2 (each 0 or 1)."""
    cpu.pr = (cpu.pr & ~((<uint64_t>1 << p1) | (<uint64_t>1 << p2))) | (value1 << p1) | (value2 << p2) | 1


cdef inline uint64_t rotated_left(uint64_t pr, unsigned int count) noexcept nogil:
    """p16 to p63 rotated up by ``count`` (0 to 48) places."""
    cdef uint64_t rotating = pr >> 16
    return (pr & 0xFFFF) | (rotating << count | rotating >> (48 - count)) << 16


cdef inline uint64_t unrenamed_predicates(Cpu* cpu) noexcept nogil:
    """All predicates with CFM.rrb.pr taken as zero, as moves see them (SDM volume 3, mov from predicates)."""
    return cpu.pr if likely(cpu.rrb_pr == 0) else rotated_left(cpu.pr, cpu.rrb_pr)


cdef inline void set_unrenamed_predicates(Cpu* cpu, uint64_t value) noexcept nogil:
    cpu.pr = (value if likely(cpu.rrb_pr == 0) else rotated_left(value, 48 - cpu.rrb_pr)) | 1


cdef inline void compare_normal(Cpu* cpu, Op* op, uint64_t relation) noexcept nogil:
    """The normal comparison type: p1 is the relation, p2 its opposite (SDM volume 3, cmp)."""
    cdef uint64_t pr = cpu.pr & ~(<uint64_t>1 << op.r1) & ~(<uint64_t>1 << op.r4)
    # One shift: p1 and p2 are both cleared, then one of them is set.
    cpu.pr = pr | <uint64_t>1 << (op.r1 if relation else op.r4) | 1


cdef inline void compare_unc(Cpu* cpu, Op* op, uint64_t relation) noexcept nogil:
    """Type unc: as normal, but both targets are 0 when the qualifying predicate is. The row says
    predicated="own"; op.y is the instruction's condition bit in the block's word."""
    cdef uint64_t qualified = (cpu.pr >> op.qp) & 1
    cdef uint64_t pr = cpu.pr & ~(<uint64_t>1 << op.r1) & ~(<uint64_t>1 << op.r4)
    cpu.mask |= <uint64_t>op.y & (0 - qualified)
    cpu.pr = pr | qualified << (op.r1 if relation else op.r4) | 1


cdef inline void compare_and(Cpu* cpu, Op* op, uint64_t relation) noexcept nogil:
    """Type and: both targets are cleared when the relation is false."""
    cpu.pr = (cpu.pr & ~(((relation ^ 1) << op.r1) | ((relation ^ 1) << op.r4))) | 1


cdef inline void compare_or(Cpu* cpu, Op* op, uint64_t relation) noexcept nogil:
    """Type or: both targets are set when the relation is true."""
    cpu.pr |= (relation << op.r1) | (relation << op.r4)


cdef inline void compare_or_andcm(Cpu* cpu, Op* op, uint64_t relation) noexcept nogil:
    """Type or.andcm: when the relation is true, p1 is set and p2 cleared."""
    cpu.pr = (cpu.pr | (relation << op.r1)) & ~(relation << op.r4) | 1


cdef inline int write_if_qualified(Cpu* cpu, Op* op, uint64_t value) noexcept nogil:
    """r1 = value if the qualifying predicate is 1, without a host branch: compilers predicate where a branch would
    often be mispredicted. op.y is the instruction's condition bit in the block's word."""
    cdef uint64_t qualified = 0 - ((cpu.pr >> op.qp) & 1)
    cpu.mask |= <uint64_t>op.y & qualified
    cpu.gr[op.r1] = (value & qualified) | (cpu.gr[op.r1] & ~qualified)
    return next_op(cpu, op)
