"""Control flow between blocks: the last operation of a block."""

from libc.stdint cimport uint64_t


cdef inline int start(Cpu* cpu, Block* block) noexcept nogil:
    """Run ``block``, unless the driver has to act first (it finds ``cpu.ip`` and no running block)."""
    if unlikely(cpu.out >= cpu.limit or cpu.sof < block.exit.need_sof):
        cpu.ip = block.ip
        return STATUS_LIMIT
    cpu.block = block
    cpu.block_word = cpu.out
    cpu.out += 1
    return block.ops[0].run(cpu, block.ops)


cdef inline void complete(Cpu* cpu, Exit* exit) noexcept nogil:
    """The running block has retired: write its word."""
    cpu.block_word[0] = exit.id | cpu.mask
    cpu.retired += exit.length
    cpu.mask = 0


cdef inline int enter(Cpu* cpu, Exit* exit, Link* link) noexcept nogil:
    """Retire the running block and enter the one that ``link`` leads to."""
    complete(cpu, exit)
    if unlikely(link.block == NULL):
        cpu.ip = link.ip
        cpu.miss_link = link
        return STATUS_MISS
    return start(cpu, link.block)


cdef inline int jump(Cpu* cpu, Exit* exit, uint64_t ip) noexcept nogil:
    """Retire the running block and enter the one at ``ip`` (a bundle address)."""
    cdef Jump* known = &cpu.jump_cache[(ip >> 4) & (JUMP_CACHE_SIZE - 1)]
    complete(cpu, exit)
    if unlikely(known.block == NULL or known.ip != ip | cpu.mode_tag):
        cpu.ip = ip
        cpu.miss_link = NULL
        return STATUS_MISS
    return start(cpu, known.block)


cdef inline bint qualified(Cpu* cpu, Op* op) noexcept nogil:
    """Whether the qualifying predicate is 1."""
    return (cpu.pr >> op.qp) & 1


cdef inline int branch(Cpu* cpu, Op* op) noexcept nogil:
    """br.cond with an IP-relative target: taken if the qualifying predicate is 1 (SDM volume 3, br)."""
    cdef Exit* exit = <Exit*>op.imm
    if qualified(cpu, op):
        cpu.mask |= <uint64_t>op.y
        return enter(cpu, exit, &exit.taken)
    return enter(cpu, exit, &exit.next)
