"""Decodes the bundles of a block.

A block begins at a branch target and ends with a branch, a break, an instruction that may change code or mode (emit
"end"), a page, or its greatest length.
"""

from libc.stdint cimport uint32_t, uint64_t, uint8_t
from libc.string cimport memset

from pfmon.isa.ia64._encodings cimport (
    EFFECT_LOADRS, EMIT_BRANCH, EMIT_BREAK, EMIT_END, EMIT_MEMORY, UNIT_B, UNIT_X, Operands, Row, decode, operands)

from pfmon.isa.ia64.bundle import TEMPLATES

cdef enum:
    NO_UNIT = 255
    SLOT_MASK = 3

cdef uint64_t SLOT_BITS = (<uint64_t>1 << 41) - 1
cdef uint8_t units[32][3]        # by template: decoder.Unit of each slot; NO_UNIT: reserved template
cdef uint8_t stops[32][3]


def _fill_templates():
    for template in range(32):
        for slot in range(3):
            units[template][slot] = NO_UNIT
            stops[template][slot] = 0
    for template, layout in TEMPLATES.items():
        for slot in range(3):
            units[template][slot] = "MIFBX".index({"L": "X"}.get(layout.units[slot], layout.units[slot]))
            stops[template][slot] = layout.stops[slot]

_fill_templates()


cdef uint64_t slot_bits(uint64_t low, uint64_t high, uint32_t slot) noexcept nogil:
    if slot == 0:
        return (low >> 5) & SLOT_BITS
    if slot == 1:
        return (low >> 46 | high << 18) & SLOT_BITS
    return high >> 23


cdef void decode_operands(Row* row, Instruction* ins, uint64_t bundle) noexcept nogil:
    cdef Operands found
    operands(row, ins.encoding, ins.extension, bundle, &found)
    ins.r1 = found.r1
    ins.r2 = found.r2
    ins.r3 = found.r3
    ins.r4 = found.r4
    ins.qp = found.qp
    ins.imm = found.imm
    ins.y = found.y
    ins.x = found.x


cdef bint is_multiway(uint64_t low, uint64_t high) noexcept nogil:
    """Whether a bundle holds more than one branch (nop.b and other B-unit instructions are none)."""
    cdef uint32_t template = low & 31, slot, branches = 0
    cdef Row* row
    for slot in range(3):
        if units[template][slot] == UNIT_B:
            row = decode(UNIT_B, slot_bits(low, high, slot), 0)
            branches += row != NULL and row.emit == EMIT_BRANCH
    return branches > 1


cdef uint64_t code_address(Cpu* cpu, uint64_t bundle) noexcept nogil:
    """The address of a bundle in cpu.memory."""
    return bundle if cpu.system == NULL else cpu.system.code_physical | bundle & (SMALL_PAGE - 1)


cdef inline bint ends_block(const Cpu* cpu, const Row* row) noexcept nogil:
    """Whether a block ends with an instruction: in system mode also with loadrs, behind which the stream has the frame
    (Mark.FRAME)."""
    return (row == NULL or row.emit == EMIT_BRANCH or row.emit == EMIT_BREAK or row.emit == EMIT_END
            or (cpu.system != NULL and row.attributes.effect == EFFECT_LOADRS))


cdef uint32_t gather(Cpu* cpu, BlockCache* blocks, uint64_t ip, Instruction* code, uint64_t* next_ip) noexcept nogil:
    """Decode the block at ``ip``; returns the number of its instructions (0: not executable)."""
    cdef uint64_t bundle = ip & ~<uint64_t>15, low, high
    cdef uint32_t slot = ip & SLOT_MASK, count = 0, conditions = 0, template
    cdef uint64_t page_size = PAGE_SIZE if cpu.system == NULL else SMALL_PAGE
    cdef uint64_t* host
    cdef Instruction* ins
    cdef Row* row
    while True:
        host = <uint64_t*>fetch(cpu, bundle)
        if host == NULL:
            break
        low = host[0]
        high = host[1]
        template = low & 31
        note_code(<MemoryMap*>cpu.memory, code_address(cpu, bundle))
        while slot < 3:
            ins = &code[count]
            memset(ins, 0, sizeof(Instruction))
            ins.address = bundle | slot
            ins.condition = NO_CONDITION
            ins.encoding = slot_bits(low, high, slot)
            ins.unit = <uint8_t>units[template][slot]
            row = NULL
            if units[template][slot] == UNIT_X:
                ins.extended = 1
                ins.extension = ins.encoding
                ins.encoding = slot_bits(low, high, 2)
                if slot == 1:        # a branch to slot 2 of an MLX bundle is illegal
                    row = decode(UNIT_X, ins.encoding, ins.extension)
                slot = 2
            elif units[template][slot] != NO_UNIT:
                row = decode(units[template][slot], ins.encoding, 0)
            ins.row = row
            ins.stop = stops[template][slot]
            ins.multiway = row != NULL and row.emit == EMIT_BRANCH and is_multiway(low, high)
            ins.qp = ins.encoding & 63 if row == NULL and units[template][slot] != NO_UNIT else 0
            if row != NULL:
                decode_operands(row, ins, bundle)
                if count and is_region_mark(row, ins):
                    return count         # it is a block of its own
                ins.accesses = row.emit == EMIT_MEMORY
                note_floats(cpu, row, ins)
                ins.disabled_floats = <uint8_t>disabled_floats(cpu, row, ins)
            if has_condition(row, ins):
                ins.condition = <uint8_t>conditions
                conditions += 1
            count += 1
            slot += 1
            if slot == 3:
                next_ip[0] = bundle + 16
            else:
                next_ip[0] = bundle | slot
            if ends_block(cpu, row) or (row != NULL and is_region_mark(row, ins)):
                return count
            if count >= blocks.max_block or conditions == MAX_CONDITIONS:
                return count
        slot = 0
        bundle += 16
        if bundle & (page_size - 1) == 0:
            break
    return count
