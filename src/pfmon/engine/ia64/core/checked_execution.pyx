"""Execution instruction by instruction: with NaT bits tracked and every target checked against the frame.

The driver uses it while a general register has its NaT bit set, and for a block that may write outside the current
frame; the handlers are those of fast execution. The row's ``nat`` policy says how NaT bits affect an instruction
(instruction.py; SDM volume 1, 4.4.4 and 5.2.5).
"""

from libc.stdint cimport uint32_t, uint64_t, uint8_t
from libc.string cimport memcpy, memset

from pfmon.isa.ia64._encodings cimport (
    CTYPE_AND, CTYPE_NONE, CTYPE_UNC, EMIT_ALLOC, FILE_GR, NAT_COMPARE, NAT_CONSUME, NAT_OWN, ROLE_BASE, ROLE_SOURCE,
    ROLE_TARGET, Row)


cdef int done(Cpu* cpu, Op* op) noexcept nogil:
    return STATUS_DONE


cdef bint outside_frame(Cpu* cpu, Row* row, Instruction* ins) noexcept nogil:
    """Whether a general-register target lies beyond the current frame (alloc: beyond the new one)."""
    cdef int place
    cdef uint32_t sof = cpu.sof
    if row.emit == EMIT_ALLOC:
        sof = (ins.encoding >> 13) & 0x7F
    for place in range(4):
        if row.registers[place].file == FILE_GR and row.registers[place].role & ROLE_TARGET \
                and register_number(ins, place) >= 32 + sof:
            return True
    return False


cdef bint source_nat(Cpu* cpu, Row* row, Instruction* ins) noexcept nogil:
    """Whether a general-register source has its NaT bit set."""
    cdef int place
    for place in range(4):
        if row.registers[place].file == FILE_GR and row.registers[place].role & ROLE_SOURCE \
                and get_nat(cpu, register_number(ins, place)):
            return True
    return False


cdef void set_target_nats(Cpu* cpu, Row* row, Instruction* ins, bint nat) noexcept nogil:
    """Set the NaT bits of general-register targets; that of an updated base register stays clear."""
    cdef int place
    for place in range(4):
        if row.registers[place].file == FILE_GR and row.registers[place].role & ROLE_TARGET:
            set_nat(cpu, register_number(ins, place), nat and not row.registers[place].role & ROLE_BASE)


cdef void compare_nat(Cpu* cpu, Row* row, Instruction* ins) noexcept nogil:
    """A comparison with a NaT source: both targets 0, but an or-type leaves them (volume 3, cmp)."""
    cdef uint64_t targets = (<uint64_t>1 << ins.r1 | <uint64_t>1 << ins.r4) & ~<uint64_t>1
    if row.ctype == CTYPE_NONE or row.ctype == CTYPE_UNC or row.ctype == CTYPE_AND:
        cpu.pr &= ~targets


cdef int run_one(Cpu* cpu, Block* block, Instruction* ins) noexcept nogil:
    """Execute one instruction; STATUS_DONE when the next of the block follows."""
    cdef Op scratch[8]
    cdef Row* row = <Row*>ins.row
    cdef Op* ops = &block.ops[ins.first_op]
    cdef bint nat = False
    cdef int status
    if ins.op_count == 0:
        return STATUS_DONE
    if not always_illegal(block, ins) and (ins.qp == 0 or (cpu.pr >> ins.qp) & 1):
        if outside_frame(cpu, row, ins):
            cpu.fault = FAULT_ILLEGAL_OPERATION
            cpu.fault_op = ops
            return STATUS_FAULT
        nat = row.nat != NAT_OWN and source_nat(cpu, row, ins) and not ins.disabled_floats
        if nat and row.nat == NAT_CONSUME:
            cpu.fault = FAULT_REGISTER_NAT_CONSUMPTION
            cpu.fault_op = ops
            return STATUS_FAULT
        if nat and row.nat == NAT_COMPARE:
            if ins.condition != NO_CONDITION:
                cpu.mask |= <uint64_t>1 << (32 + ins.condition)
            compare_nat(cpu, row, ins)
            return STATUS_DONE
    memcpy(scratch, ops, ins.op_count * sizeof(Op))
    memset(&scratch[ins.op_count], 0, sizeof(Op))
    if ins.begins_pair:
        scratch[0].run = <Handler>row.run
    scratch[ins.op_count].run = done
    scratch[ins.op_count].index = ops.index
    status = scratch[0].run(cpu, scratch)
    if cpu.fault_op >= scratch and cpu.fault_op <= &scratch[ins.op_count]:
        cpu.fault_op = ops               # the copy goes out of scope
    if status == STATUS_DONE and row != NULL and row.nat != NAT_OWN and (ins.qp == 0 or executed(cpu, ins)):
        set_target_nats(cpu, row, ins, nat)
    return status


cdef bint executed(Cpu* cpu, Instruction* ins) noexcept nogil:
    """Whether a predicated instruction's condition was recorded as true (its predicate may have changed since)."""
    return ins.condition != NO_CONDITION and (cpu.mask >> (32 + ins.condition)) & 1


cdef int run_checked(Cpu* cpu, Block* block, uint32_t first, uint32_t end) noexcept nogil:
    """Run ``block`` from its instruction ``first`` to before ``end``, or to its own end if that comes first. Status as
    from a chain of operations."""
    cdef uint32_t i
    cdef int status
    if first == 0:
        cpu.block = block
        cpu.block_word = cpu.out
        cpu.out += 1
    cpu.checked = 1
    cpu.limit = NULL                     # the end of the block returns to the driver
    for i in range(first, min(end, block.length)):
        status = run_one(cpu, block, &block.instructions[i])
        if status != STATUS_DONE:
            cpu.checked = 0
            return status
    cpu.checked = 0
    if end < block.length:
        cpu.edge.index = <uint8_t>end
        cpu.fault_op = &cpu.edge
        return STATUS_EDGE
    return enter(cpu, &block.exit, &block.exit.next)
