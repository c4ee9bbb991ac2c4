"""The loop that drives blocks in system mode: as Processor.drive, with interruptions at their exact instruction."""

from libc.stdint cimport uint32_t, uint64_t

from pfmon.stream._stream cimport BLOCK_MASK, Kind, accesses_of


cdef void note_last(Cpu* cpu, Instruction* ins) noexcept nogil:
    """Note the last instruction that retired (IIPA)."""
    cpu.system.last_address = ins.address
    if cpu.system.collects:              # (volume 2, 3.3.5.6)
        cpu.system.cr[CR_IIPA] = ins.address & ~<uint64_t>15
    cpu.system.without_progress = 0


cdef void find_last(Cpu* cpu, BlockCache* blocks) noexcept nogil:
    """Find the last instruction of the running chain before the block that faulted, in the words of the stream."""
    cdef uint64_t* word = cpu.system.run_start
    cdef uint64_t last = 0, number
    cdef bint found = False
    while word < cpu.block_word:
        if word[0] >> 63:
            word += 1
            continue
        last, found = word[0], True
        word += 1
        if blocks.trace:
            word += accesses_of(&blocks.table.heads[last & BLOCK_MASK], last)
    if found:
        number = last & BLOCK_MASK
        note_last(cpu, &blocks.by_number[number].instructions[blocks.by_number[number].length - 1])


cdef void note_before(Cpu* cpu, BlockCache* blocks, uint32_t index) noexcept nogil:
    """Note the last instruction that retired before number ``index`` of the running block."""
    if index:
        note_last(cpu, &cpu.block.instructions[index - 1])
    else:
        find_last(cpu, blocks)


cdef bint is_reserved_break(SystemState* system, uint64_t number) noexcept nogil:
    cdef uint32_t i
    for i in range(system.reserved_break_count):
        if system.reserved_breaks[i] == number:
            return True
    return False


cdef int handle_break(Cpu* cpu, BlockCache* blocks) noexcept nogil:
    """A break: a request of the engine's user, or the Break Instruction fault."""
    cdef uint32_t index = cpu.fault_op.index
    cdef Instruction* ins = &cpu.block.instructions[index]
    if cpu.fault_info == cpu.system.user_break or (
            cpu.level == 0 and is_reserved_break(cpu.system, cpu.fault_info)):
        handle_status(cpu, blocks, STATUS_BREAK)
        cpu.miss_link = NULL
        return WHY_BREAK
    cpu.ip = ins.address
    leave_block_at(cpu, blocks, index, 2)
    deliver(cpu, FAULT_BREAK, ins)
    return 0


cdef int handle_fault(Cpu* cpu, BlockCache* blocks) noexcept nogil:
    """A fault, or a floating-point trap, of an instruction."""
    cdef uint32_t index = cpu.fault_op.index
    cdef Instruction* ins = &cpu.block.instructions[index]
    cdef int number = cpu.fault
    cdef bint trap = number == FAULT_FP_TRAP
    cpu.ip = following(cpu.block, index) if trap else ins.address
    leave_block_at(cpu, blocks, index + trap, 2)
    if trap:                             # delivered with other traps of the instruction
        note_last(cpu, ins)
        cpu.um |= ins.first_floats
        update_mode(cpu)
        cpu.system.traps |= <uint32_t>cpu.fault_code | TRAP_FP
        return 0
    return 0 if deliver(cpu, number, ins) else WHY_CHECK


cdef int handle_system_status(Cpu* cpu, BlockCache* blocks, int status) noexcept nogil:
    """Handle the status of a chain in system mode; an ExitReason, or 0 to continue."""
    cdef uint32_t index
    if status == STATUS_BREAK or status == STATUS_FAULT or status == STATUS_EDGE or status == STATUS_PMD:
        index = cpu.fault_op.index
        note_before(cpu, blocks, index)
        if status == STATUS_BREAK:
            return handle_break(cpu, blocks)
        if status == STATUS_FAULT:
            return handle_fault(cpu, blocks)
        return handle_status(cpu, blocks, status)
    if status == STATUS_CUT:
        note_last(cpu, &cpu.block.instructions[cpu.fault_op.index])
    else:
        note_last(cpu, &cpu.block.instructions[cpu.block.length - 1])
    return handle_status(cpu, blocks, status)


cdef void follow_translations(Cpu* cpu, BlockCache* blocks) noexcept nogil:
    """Drop links between pages if translations of instruction addresses have changed."""
    if cpu.system.fetch_changed:
        unlink_pages(cpu, blocks)
        cpu.system.fetch_changed = 0


cdef Block* system_block(Cpu* cpu, BlockCache* blocks) noexcept nogil:
    """The block at cpu.ip in this mode, translated if necessary; NULL: the fetch faults (cpu.fault)."""
    cdef SystemState* system = cpu.system
    if system.mode_changed:
        cpu.miss_link = NULL
        system.mode_changed = 0
    cpu.fault = fetch_page(cpu, cpu.ip)
    follow_translations(cpu, blocks)     # also those that the walker has inserted
    if cpu.fault:
        cpu.fault_address = cpu.ip & ~<uint64_t>15
        return NULL
    if system.psr & PSR_DB and instruction_breakpoint(cpu, cpu.ip):
        cpu.fault, cpu.fault_address = FAULT_INST_DEBUG, cpu.ip & ~<uint64_t>15
        return NULL
    return next_block(cpu, blocks)


cdef bint branches(Cpu* cpu, Instruction* ins, int status) noexcept nogil:
    """Whether an instruction that has retired is a taken branch, or a check that branched."""
    if status == STATUS_CUT:
        return True
    if ins.row == NULL or not (<Row*>ins.row).kind & Kind.BRANCH:
        return False
    return ins.condition == NO_CONDITION or (cpu.block_word[0] >> (32 + ins.condition)) & 1


cdef uint32_t step_traps(Cpu* cpu, Instruction* ins, uint64_t psr, int status) noexcept nogil:
    """The traps after a stepped instruction: taken branch and single step (volume 2, 5.6)."""
    cdef uint32_t traps = 0
    if psr & PSR_SS:
        traps |= TRAP_SINGLE_STEP
    if psr & PSR_TB and branches(cpu, ins, status):
        traps |= TRAP_TAKEN_BRANCH
    return traps


cdef int step_system(Cpu* cpu, BlockCache* blocks, Block* block) noexcept nogil:
    """Run one instruction, whose PSR bits hold for it alone, and note its traps."""
    cdef SystemState* system = cpu.system
    cdef uint64_t psr = system.psr, before = cpu.retired
    cdef int why, status
    system.returned = 0
    drop_filled(cpu)                     # psr.ed and breakpoints are tested on the slow way
    status = run_checked(cpu, block, 0, 1)
    why = handle_system_status(cpu, blocks, status)
    if cpu.retired != before and not system.returned:
        system.psr &= ~(PSR_ID | PSR_DA | PSR_DD | PSR_IA | PSR_ED)
        system.traps |= step_traps(cpu, &block.instructions[0], psr, status)
    return why


cdef bint before_instruction(Cpu* cpu, int* why) noexcept nogil:
    """Deliver what comes before the next instruction, by priority: traps of the last one, an external interrupt,
    mandatory loads of its frame (volume 2, table 5-6). True: something was delivered."""
    cdef SystemState* system = cpu.system
    if not implemented_instruction(cpu, cpu.ip):
        system.traps |= TRAP_UNIMPLEMENTED_ADDRESS
    if system.traps:
        deliver(cpu, FAULT_TRAP, NULL)
        return True
    if cpu.retired >= next_match(system):
        timer_matched(cpu)
    if system.psr & PSR_I and deliverable(system) >= 0:
        deliver_external(cpu)
        return True
    if system.frame_pending:
        system.frame_pending = 0
        cpu.index = NO_INSTRUCTION
        if not complete_frame(cpu):
            if not deliver(cpu, cpu.fault, NULL):
                why[0] = WHY_CHECK
            return True
    return False


cdef int drive_system(Processor self, Consumer consumer, bint single) noexcept nogil:
    """Run until a reserved break, an access to the guest's PMU, a stop or a machine check."""
    cdef Cpu* cpu = self.cpu
    cdef SystemState* system = cpu.system
    cdef BlockCache* blocks = self.blocks
    cdef Block* block
    cdef uint64_t exact
    cdef int why = 0
    while why == 0:
        if cpu.mark_count:
            write_marks(cpu)
        if cpu.out >= self.buffer_end - SLACK:
            consumer.consume(self.buffer, cpu.out - self.buffer)
            cpu.out = self.buffer
            self.poll()
        if (<MemoryMap*>cpu.memory).code_written or system.code_stale:
            forget_written_code(cpu, blocks)
        if system.machine_check != NULL:
            why = WHY_CHECK
            break
        if cpu.stop or cpu.retired >= self.stop_at or cpu.retired >= self.exact_at:
            why = WHY_STOP
            break
        if before_instruction(cpu, &why):
            continue
        block = system_block(cpu, blocks)
        if block == NULL:
            if not deliver(cpu, cpu.fault, NULL):
                why = WHY_CHECK
            continue
        if cpu.mark_count:               # of the fetch
            write_marks(cpu)
        exact = min(self.exact_at, next_match(system))
        cpu.limit = self.next_limit(exact)
        system.run_start = cpu.out
        system.collects = system.psr & PSR_IC != 0
        if stepping(system):
            why = step_system(cpu, blocks, block)
        elif single:
            cpu.stop = 1
            why = handle_system_status(cpu, blocks, run_checked(cpu, block, 0, MAX_BLOCK))
        elif exact - cpu.retired < block.length:
            why = handle_system_status(cpu, blocks, run_checked(cpu, block, 0, <uint32_t>(exact - cpu.retired)))
        else:
            why = handle_system_status(cpu, blocks, run_block(cpu, block))
    if single or why == WHY_STOP:
        cpu.stop = 0
    write_marks(cpu)
    consumer.consume(self.buffer, cpu.out - self.buffer)
    cpu.out = self.buffer
    return why
