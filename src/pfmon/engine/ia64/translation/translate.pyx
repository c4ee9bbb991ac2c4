"""Translates decoded blocks (block_decoding.pyx) into operations.

Nops produce no operation; a predicated instruction gets a guard before it unless its handler tests the predicate, a
traced memory access a trace operation.
"""

from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memset

from pfmon.isa.ia64._encodings cimport (
    CTYPE_UNC, EMIT_ALLOC, EMIT_BRANCH, EMIT_MEMORY, FILE_FR, FILE_GR, FILE_PR, PREDICATED_GUARD, PREDICATED_NONE,
    PREDICATED_OWN, ROLE_BASE, ROLE_TARGET, RegisterOperand, Row, paired)
from pfmon.stream._stream cimport Failure, LOOP, NOP, arena_alloc

cdef int guard(Cpu* cpu, Op* op) noexcept nogil:
    """Run the instruction that follows (``x`` operations) only if the qualifying predicate is 1."""
    if (cpu.pr >> op.qp) & 1:
        cpu.mask |= <uint64_t>op.imm
        return next_op(cpu, op)
    op += op.x
    return next_op(cpu, op)


cdef int trace(Cpu* cpu, Op* op) noexcept nogil:
    """Write the address of the following memory access to the stream."""
    cpu.out[0] = cpu.gr[op.r3]
    cpu.out += 1
    return next_op(cpu, op)


cdef int mark_floats(Cpu* cpu, Op* op) noexcept nogil:
    """Set PSR.mfl or mfh after an instruction that wrote floating-point registers, perhaps for the first time. Code is
    then translated again without this operation."""
    if (op.y == 0 or cpu.mask & <uint64_t>op.y) and op.x & ~cpu.um:
        cpu.um |= op.x
        user_mask_changed(cpu)
    return next_op(cpu, op)


cdef void user_mask_changed(Cpu* cpu) noexcept nogil:
    """PSR.mfl or mfh changed: code is translated again. In system mode blocks are those of a mode."""
    if cpu.system != NULL:
        update_mode(cpu)
    else:
        (<MemoryMap*>cpu.memory).code_written = 1
        cpu.limit = NULL


cdef int test_disabled_floats(Cpu* cpu, Op* op) noexcept nogil:
    """An instruction of registers that PSR.dfl or dfh disables faults if its qualifying predicate is 1."""
    if (cpu.pr >> op.qp) & 1:
        cpu.fault_code = <int32_t>op.imm
        return fault(cpu, op, FAULT_DISABLED_FP)
    return next_op(cpu, op)


cdef uint32_t disabled_floats(Cpu* cpu, Row* row, Instruction* ins) noexcept nogil:
    """ISR.code of the Disabled FP Register fault that an instruction causes (volume 2, 5.5: 1 low, 2 high), or 0."""
    cdef uint32_t code = 0, disabled = (cpu.mode & MODE_DFL != 0) | (cpu.mode & MODE_DFH != 0) << 1
    cdef int place
    if not disabled or row == NULL:
        return 0
    for place in range(4):
        if row.registers[place].file == FILE_FR and register_number(ins, place) >= 2:
            code |= 2 if register_number(ins, place) >= 32 else 1
    return code & disabled


cdef int fall_through(Cpu* cpu, Op* op) noexcept nogil:
    """The end of a block that does not end with a branch."""
    cdef Exit* exit = <Exit*>op.imm
    return enter(cpu, exit, &exit.next)


cdef int illegal_operation(Cpu* cpu, Op* op) noexcept nogil:
    return fault(cpu, op, FAULT_ILLEGAL_OPERATION)


cdef bint always_illegal(Block* block, Instruction* ins) noexcept nogil:
    """Whether translation found the instruction illegal."""
    return ins.op_count != 0 and block.ops[ins.first_op + ins.op_count - 1].run == illegal_operation


cdef bint statically_illegal(Row* row, Instruction* ins, uint32_t slot) noexcept nogil:
    """Illegal in any state: a write to r0, f0 or f1; one register as two targets; a loop branch not in slot 2."""
    cdef int place
    cdef uint32_t number
    cdef RegisterOperand* operand
    if row == NULL:
        return True
    if row.isa_kind & LOOP and slot != 2:
        return True
    for place in range(4):
        operand = &row.registers[place]
        if not operand.role & ROLE_TARGET:
            continue
        number = register_number(ins, place)
        if operand.file == FILE_GR and number == 0:
            return True
        if operand.file == FILE_FR and number < 2:
            return True
    if row.registers[0].file == FILE_PR and row.registers[3].file == FILE_PR and ins.r1 == ins.r4:
        return True
    if row.registers[2].role & ROLE_BASE and row.registers[0].file == FILE_GR \
            and row.registers[0].role & ROLE_TARGET and ins.r1 == ins.r3:
        return True
    # A floating-point load pair needs one odd and one even register (SDM volume 3, ldfp).
    return row.registers[1].file == FILE_FR and row.registers[1].role & ROLE_TARGET and not (ins.r1 ^ ins.r2) & 1


cdef uint32_t frame_needed(Row* row, Instruction* ins) noexcept nogil:
    """The smallest frame that contains the instruction's general-register targets."""
    cdef int place
    cdef uint32_t number, needed = 0
    for place in range(4):
        if row.registers[place].file == FILE_GR and row.registers[place].role & ROLE_TARGET:
            number = register_number(ins, place)
            if number >= 32 and number - 31 > needed:
                needed = number - 31
    return needed


cdef void note_floats(Cpu* cpu, Row* row, Instruction* ins) noexcept nogil:
    """Record which of PSR.mfl and PSR.mfh, not yet set, the instruction sets by writing floating-point registers."""
    cdef int place
    for place in range(4):
        if row.registers[place].file == FILE_FR and row.registers[place].role & ROLE_TARGET:
            if register_number(ins, place) >= 32:
                cpu.high_fr = 1
                ins.first_floats |= UM_MFH
            else:
                ins.first_floats |= UM_MFL
    ins.first_floats &= <uint8_t>~cpu.um


cdef bint has_condition(Row* row, Instruction* ins) noexcept nogil:
    """Whether the block word has a bit for this instruction."""
    if row == NULL:
        return ins.qp != 0
    if row.predicated == PREDICATED_NONE:
        return row.emit == EMIT_BRANCH
    return ins.qp != 0


cdef bint is_guarded(Row* row, Instruction* ins, bint illegal) noexcept nogil:
    """Whether a guard stands before it. Comparisons of type unc are illegal under any predicate (volume 3, cmp)."""
    if ins.condition == NO_CONDITION:
        return False
    if row == NULL:
        return True
    if illegal:
        return row.ctype != CTYPE_UNC
    return row.predicated == PREDICATED_GUARD and row.guarded == NULL


cdef inline bint marks_region(const Cpu* cpu, const Row* row, const Instruction* ins) noexcept nogil:
    """Whether a nop puts a mark into the stream."""
    return cpu.regions != 0 and is_region_mark(row, ins)


cdef uint32_t op_count(Cpu* cpu, BlockCache* blocks, Row* row, Instruction* ins, bint illegal) noexcept nogil:
    """The number of operations of the instruction."""
    cdef bint guarded = is_guarded(row, ins, illegal)
    if illegal:
        return 1 + guarded
    if row.kind & NOP:
        return guarded + marks_region(cpu, row, ins)
    return (guarded + 1 + (ins.disabled_floats != 0) + (blocks.trace != 0 and row.emit == EMIT_MEMORY)
            + (ins.first_floats != 0))


cdef Op* emit(Cpu* cpu, BlockCache* blocks, Block* block, Op* op, Row* row, Instruction* ins, uint32_t index,
              bint illegal) noexcept nogil:
    """Write the operations of one instruction; returns the next free place."""
    cdef uint64_t bit = 0
    cdef Op plain
    if ins.condition != NO_CONDITION:
        bit = <uint64_t>1 << (32 + ins.condition)
    memset(&plain, 0, sizeof(Op))
    plain.index = <uint8_t>index
    plain.qp = ins.qp
    if ins.disabled_floats and not illegal:
        op[0] = plain
        op.run = test_disabled_floats
        op.imm = ins.disabled_floats
        op += 1
    if is_guarded(row, ins, illegal):
        op[0] = plain
        op.run = guard
        op.imm = <int64_t>bit
        op.x = <uint16_t>(ins.op_count - 1 - (ins.disabled_floats != 0))
        op += 1
    if illegal:
        op[0] = plain
        op.run = illegal_operation
        return op + 1
    if row.kind & NOP:
        if marks_region(cpu, row, ins):
            op[0] = plain
            op.run = mark_region
            op.imm = ins.imm
            op += 1
        return op
    plain.r1 = ins.r1
    plain.r2 = ins.r2
    plain.r3 = ins.r3
    plain.r4 = ins.r4
    plain.imm = ins.imm
    plain.x = ins.x
    plain.y = ins.y
    if blocks.trace and row.emit == EMIT_MEMORY:
        op[0] = plain
        op.run = trace
        op += 1
    op[0] = plain
    op.run = <Handler>row.run
    if ins.condition != NO_CONDITION and row.guarded != NULL:
        op.run = <Handler>row.guarded
        op.y = <int64_t>bit
    if row.emit == EMIT_BRANCH:
        op.imm = <int64_t>&block.exit
    if row.emit == EMIT_BRANCH or row.predicated == PREDICATED_OWN:
        op.y = <int64_t>bit
    if ins.first_floats:
        op += 1
        op[0] = plain
        op.run = mark_floats
        op.x = ins.first_floats
        op.y = <int64_t>bit
    return op + 1


cdef bint is_plain(Block* block, Instruction* ins) noexcept nogil:
    """Whether the instruction is its row's handler alone."""
    return ins.op_count == 1 and ins.row != NULL and block.ops[ins.first_op].run == <Handler>(<Row*>ins.row).run


cdef void find_pairs(Block* block) noexcept nogil:
    """Replace two handlers by one for both, where there is one."""
    cdef Instruction* first = NULL       # the last one with operations, if it can begin a pair
    cdef Instruction* ins
    cdef Handler both
    cdef uint32_t i
    for i in range(block.length):
        ins = &block.instructions[i]
        ins.begins_pair = 0
        if ins.op_count == 0:
            continue
        if not is_plain(block, ins):
            first = NULL
            continue
        both = <Handler>paired(<Row*>first.row, <Row*>ins.row) if first != NULL else NULL
        if both == NULL:
            first = ins
            continue
        block.ops[first.first_op].run = both
        first.begins_pair = 1
        first = NULL


cdef int flatten(Cpu* cpu, BlockCache* blocks, Block* block) noexcept nogil:
    """Make the operations of a block; 0 when out of memory."""
    cdef bint illegal[MAX_BLOCK]
    cdef uint32_t i, total = 1, needed
    cdef int64_t sof = -1            # of an earlier alloc in the block
    cdef Instruction* ins
    cdef Row* row
    cdef Op* op
    block.exit.need_sof = 0
    for i in range(block.length):
        ins = &block.instructions[i]
        row = <Row*>ins.row
        illegal[i] = statically_illegal(row, ins, ins.address & SLOT_MASK)
        if not illegal[i]:
            if row.emit == EMIT_ALLOC:
                sof = <int64_t>((ins.encoding >> 13) & 0x7F)
            needed = frame_needed(row, ins)
            if sof >= 0:
                illegal[i] = needed > sof
            elif needed > block.exit.need_sof:
                block.exit.need_sof = needed
        if illegal[i]:
            ins.disabled_floats = 0
        ins.first_op = <uint16_t>(total - 1)
        ins.op_count = <uint16_t>op_count(cpu, blocks, row, ins, illegal[i])
        total += ins.op_count
    block.ops = <Op*>arena_alloc(&blocks.operations, total * sizeof(Op))
    if block.ops == NULL:
        return 0
    op = block.ops
    for i in range(block.length):
        ins = &block.instructions[i]
        op = emit(cpu, blocks, block, op, <Row*>ins.row, ins, i, illegal[i])
    memset(op, 0, sizeof(Op))
    op.run = fall_through
    op.imm = <int64_t>&block.exit
    op.index = <uint8_t>block.length
    block.op_count = total
    find_pairs(block)
    return 1


cdef Block* out_of_memory(Cpu* cpu, BlockCache* blocks) noexcept nogil:
    """Mark the run as lost in the table: the code cannot be executed. Returns NULL."""
    cpu.fault = FAULT_INST_PAGE_NOT_PRESENT
    if cpu.system != NULL:
        cpu.system.machine_check = b"out of memory for translated code"
        cpu.fault = FAULT_MACHINE_CHECK
    if blocks.table.header.failure == Failure.NO_FAILURE:
        blocks.table.header.failure = Failure.OUT_OF_MEMORY
    return NULL


cdef Block* translate(Cpu* cpu, BlockCache* blocks, uint64_t ip, const BlockPlace* place) noexcept nogil:
    """Translate the block at ``ip``, or NULL with the fault in ``cpu``."""
    cdef Instruction code[MAX_BLOCK]
    cdef Block* block
    cdef uint32_t i
    cdef uint64_t next_ip = ip
    cdef uint64_t code_pages = (<MemoryMap*>cpu.memory).code_used
    cdef uint32_t length = gather(cpu, blocks, ip, code, &next_ip)
    cdef Row* last
    if length == 0:
        cpu.fault = FAULT_INST_PAGE_NOT_PRESENT
        if find_region(<MemoryMap*>cpu.memory, ip) != NULL:
            cpu.fault = FAULT_INST_ACCESS_RIGHTS
        cpu.fault_address = ip & ~<uint64_t>15
        return NULL
    if (<MemoryMap*>cpu.memory).code_used != code_pages:
        flush_tlb(cpu)               # writes to a page with translated code take the slow path
        if cpu.system != NULL:
            flush_others(cpu)
    block = block_of(cpu, blocks, ip, code, length, place)
    if block == NULL:
        return out_of_memory(cpu, blocks)
    for i in range(length):              # the user mask may have changed since the block was made
        block.instructions[i].first_floats = code[i].first_floats
    if not flatten(cpu, blocks, block):
        return out_of_memory(cpu, blocks)
    note_translation(blocks, block)
    last = <Row*>block.instructions[length - 1].row
    block.exit.next.ip = next_ip
    block.exit.return_ip = (next_ip + 15) & ~<uint64_t>15
    block.exit.next.block = NULL
    block.exit.taken.block = NULL
    block.exit.taken.ip = 0
    if last != NULL and last.emit == EMIT_BRANCH:
        block.exit.taken.ip = <uint64_t>block.instructions[length - 1].imm
    return block
