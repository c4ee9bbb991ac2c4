"""The steps of the loop that drives blocks (Processor.drive): find a block, run it, handle its status."""

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy

from pfmon.stream._stream cimport INDEX_SHIFT, MARK_SHIFT, NO_INSTRUCTION, Mark, is_outside, names_instruction


cdef void write_marks(Cpu* cpu) noexcept nogil:
    """Write the marks after the word of their block."""
    memcpy(cpu.out, cpu.marks, cpu.mark_count * sizeof(uint64_t))
    cpu.out += cpu.mark_count
    cpu.mark_count = 0


cdef void disown_marks(Cpu* cpu, uint32_t length) noexcept nogil:
    """Detach the marks of an instruction that did not retire, such as registers spilled before a fault."""
    cdef uint32_t i
    for i in range(cpu.mark_count):
        if names_instruction(cpu.marks[i]) and not is_outside(cpu.marks[i]) \
                and (cpu.marks[i] >> INDEX_SHIFT) & 0xFF >= length:
            cpu.marks[i] |= <uint64_t>NO_INSTRUCTION << INDEX_SHIFT


cdef uint32_t accesses_done(Block* block, uint64_t mask, uint32_t length) noexcept nogil:
    """The number of memory accesses by the first ``length`` instructions."""
    cdef uint32_t i, total = 0
    cdef Instruction* ins
    for i in range(length):
        ins = &block.instructions[i]
        if ins.accesses and (ins.condition == NO_CONDITION or (mask >> (32 + ins.condition)) & 1):
            total += 1
    return total


cdef void leave_block_at(Cpu* cpu, BlockCache* blocks, uint32_t length, uint32_t kind) noexcept nogil:
    """Leave the running block after its first ``length`` instructions, which have retired."""
    cdef Block* whole = cpu.block
    cdef Block* part
    cdef uint32_t conditions = 0, i
    disown_marks(cpu, length)
    for i in range(length):
        conditions += whole.instructions[i].condition != NO_CONDITION
    cpu.mask &= ((<uint64_t>1 << conditions) - 1) << 32
    cpu.out = cpu.block_word
    if length:
        part = cut_block(blocks, whole, length, kind)
        if part != NULL:
            cpu.out += 1
            if blocks.trace:
                cpu.out += accesses_done(whole, cpu.mask, length)
            complete(cpu, &part.exit)
    cpu.mask = 0


cdef Block* next_block(Cpu* cpu, BlockCache* blocks) noexcept nogil:
    """The block at cpu.ip, translated if necessary and linked from the previous exit. NULL: it faults."""
    cdef BlockPlace place = place_of_block(cpu, cpu.ip)
    cdef Block* block = find_block(blocks, cpu.ip, &place)
    cdef Jump* known
    if block == NULL:
        block = translate(cpu, blocks, cpu.ip, &place)
        if block == NULL:
            return NULL
    if cpu.miss_link != NULL:
        cpu.miss_link.block = block
        if cpu.system != NULL and (cpu.block.ip ^ block.ip) >= SMALL_PAGE:
            note_page_link(blocks, cpu.miss_link)
        cpu.miss_link = NULL
    if cpu.ip & 15 == 0:
        known = &cpu.jump_cache[(cpu.ip >> 4) & (JUMP_CACHE_SIZE - 1)]
        known.ip = cpu.ip | cpu.mode_tag
        known.block = block
    return block


cdef void leave_block_before(Cpu* cpu, BlockCache* blocks) noexcept nogil:
    """Leave the running block before the instruction of cpu.fault_op and continue there."""
    cdef uint32_t index = cpu.fault_op.index
    cpu.ip = cpu.block.instructions[index].address
    leave_block_at(cpu, blocks, index, 3)


cdef int handle_status(Cpu* cpu, BlockCache* blocks, int status) noexcept nogil:
    """Handle the status of a chain: write what has retired to the stream, set cpu.ip to the next instruction. Returns a
    Why, or 0 to continue."""
    cdef uint32_t index
    if status == STATUS_BREAK:           # a break faults: it does not retire, whatever the system does
        leave_block_at(cpu, blocks, cpu.fault_op.index, 2)
        cpu.ip = following(cpu.block, cpu.fault_op.index)
        return WHY_BREAK
    if status == STATUS_FAULT:
        index = cpu.fault_op.index
        cpu.ip = cpu.block.instructions[index].address
        if cpu.fault == FAULT_FP_TRAP:   # a trap follows its instruction
            cpu.ip = following(cpu.block, index)
            index += 1
        leave_block_at(cpu, blocks, index, 2)
        return WHY_FAULT
    if status == STATUS_CUT:
        index = cpu.fault_op.index
        leave_block_at(cpu, blocks, index + 1, 1)
        cpu.miss_link = NULL
    if status == STATUS_EDGE:
        leave_block_before(cpu, blocks)
    if status == STATUS_PMD:
        leave_block_before(cpu, blocks)
        return WHY_PMD
    return 0


cdef uint64_t following(Block* block, uint32_t index) noexcept nogil:
    """The address after an instruction that is not a taken branch."""
    if index + 1 < block.length:
        return block.instructions[index + 1].address
    return block.exit.next.ip


cdef int run_block(Cpu* cpu, Block* block) noexcept nogil:
    """Run ``block`` and its successors until a chain returns for a reason other than NaT bits."""
    cdef int status
    if cpu.nat[0] | cpu.nat[1] or cpu.sof < block.exit.need_sof:
        return run_checked(cpu, block, 0, MAX_BLOCK)
    status = start(cpu, block)
    if status == STATUS_CHECKED:
        status = run_checked(cpu, cpu.block, cpu.fault_op.index + 1, MAX_BLOCK)
    return status
