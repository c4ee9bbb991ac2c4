"""Decoding: from a 41-bit slot to its row and its operands.

The tables are C copies of what decision_tree.build() makes from the rows, made once when this module is imported.
"""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc
from libc.string cimport memset

from pfmon.engine.ia64.core.cpu cimport Handler

from pfmon.engine.ia64.encodings import decision_tree, guarded, rows
from pfmon.engine.ia64.encodings.instruction_set import INSTRUCTIONS
from pfmon.engine.ia64.encodings.operands import REGISTERS

cdef struct Node:
    uint8_t shift                # lowest bit to look at; in a leaf: how many rows
    uint8_t width                # bits to look at; 0: leaf
    uint32_t first               # in links

UNIT_LETTERS = "MIFBX"           # in the order of the Unit enum
FILE_NAMES = ("", "GR", "FR", "PR", "BR", "AR", "CR")  # in the order of RegisterFile

cdef Row* _rows
cdef Node* _nodes
cdef uint32_t* _links
cdef uint32_t _roots[UNITS]


cdef inline uint64_t _bits(uint64_t encoding, uint64_t extension, unsigned int low, unsigned int width) noexcept nogil:
    """A field; from bit 41 on it lies in the L slot."""
    cdef uint64_t source = encoding
    if low >= 41:
        source = extension
        low -= 41
    return (source >> low) & ((<uint64_t>1 << width) - 1)


cdef inline bint _tied(Row* row, uint64_t encoding) noexcept nogil:
    cdef uint64_t a, b
    if row.tie_width == 0:
        return True
    a = _bits(encoding, 0, row.tie_a, row.tie_width)
    b = _bits(encoding, 0, row.tie_b, row.tie_width)
    if row.tie_complement:
        b ^= (<uint64_t>1 << row.tie_width) - 1
    return a == b


cdef Row* decode(int unit, uint64_t encoding, uint64_t extension) noexcept nogil:
    """The row of a slot, or NULL when the encoding is reserved. ``extension``: the L slot for UNIT_X, else 0."""
    cdef Node* node = &_nodes[_roots[unit]]
    cdef uint32_t i
    cdef Row* row
    while node.width:
        node = &_nodes[_links[node.first + ((encoding >> node.shift) & ((1 << node.width) - 1))]]
    for i in range(node.shift):
        row = &_rows[_links[node.first + i]]
        if encoding & row.mask == row.value and _tied(row, encoding):
            return row
    return NULL


cdef int64_t _immediate(ImmediateOperand* operand, uint64_t encoding, uint64_t extension,
                        uint64_t bundle_address) noexcept nogil:
    cdef uint64_t joined = 0
    cdef int64_t value
    cdef unsigned int i
    for i in range(operand.count):
        joined = (joined << operand.width[i]) | _bits(encoding, extension, operand.low[i], operand.width[i])
    if operand.has_table:
        return operand.table[joined]
    if operand.is_signed and operand.total < 64 and (joined >> (operand.total - 1)) & 1:
        joined |= ~<uint64_t>0 << operand.total
    value = <int64_t>(<uint64_t>operand.base + joined * <uint64_t>operand.step)
    if operand.relative:
        value = <int64_t>(<uint64_t>value + bundle_address)
    return value


cdef void operands(Row* row, uint64_t encoding, uint64_t extension, uint64_t bundle_address,
                   Operands* out) noexcept nogil:
    """Fill r1 to r4, qp, imm, y and x of ``out``; what the format (registers) or the row (others) has not is 0."""
    cdef RegisterOperand* registers = row.registers
    out.r1 = <uint8_t>_bits(encoding, 0, registers[0].low, registers[0].width)
    out.r2 = <uint8_t>_bits(encoding, 0, registers[1].low, registers[1].width)
    out.r3 = <uint8_t>_bits(encoding, 0, registers[2].low, registers[2].width)
    out.r4 = <uint8_t>_bits(encoding, 0, registers[3].low, registers[3].width)
    out.qp = encoding & 63 if row.has_qp else 0
    out.imm = <int64_t>bundle_address if row.imm_is_ip else 0
    if row.imm.count:
        out.imm = _immediate(&row.imm, encoding, extension, bundle_address)
    out.y = _immediate(&row.y, encoding, extension, bundle_address) if row.y.count else 0
    out.x = row.x
    if row.x_operand.count:
        out.x = <uint16_t>_immediate(&row.x_operand, encoding, extension, bundle_address)


cdef Row* row_by_number(uint32_t number) noexcept nogil:
    return &_rows[number]


cdef void _copy_immediate(ImmediateOperand* to, fields, operand):
    cdef int i
    to.count = len(operand.fields)
    for i, name in enumerate(operand.fields):
        to.low[i] = fields[name].low
        to.width[i] = fields[name].width
        to.total += fields[name].width
    to.is_signed = operand.signed
    to.relative = operand.relative
    to.has_table = bool(operand.table)
    for i, entry in enumerate(operand.table):
        to.table[i] = entry
    to.base = operand.base
    to.step = operand.step


cdef void _copy_registers(Row* to, row):
    cdef RegisterOperand* register
    for name, field in row.layout.fields.items():
        # Op has every register field of the format, so that a special case can share the general handler.
        if name in REGISTERS:
            register = &to.registers[REGISTERS[name][1]]
            register.low, register.width = field.low, field.width
    for operand in row.registers:
        register = &to.registers[operand.place]
        register.file = FILE_NAMES.index(operand.file)
        if operand.source:
            register.role |= ROLE_SOURCE
        if operand.target:
            register.role |= ROLE_TARGET
        if operand.base:
            register.role |= ROLE_BASE


cdef void _copy_row(Row* to, row):
    fields = row.layout.fields
    to.run = <Handler><size_t>row.run
    to.guarded = <Handler><size_t>guarded.HANDLERS.get(row.run, 0)
    to.mask = row.mask
    to.value = row.value
    to.number = row.number
    to.kind = row.kind
    to.nat = rows.NAT.index(row.nat)
    to.predicated = rows.PREDICATED.index(row.predicated)
    to.size = row.size
    to.emit = rows.EMIT.index(row.emit)
    to.ctype = rows.CTYPE.index(row.ctype)
    to.imm_is_ip = row.ip
    to.has_qp = row.layout.predicated
    if row.tie:
        to.tie_width = fields[row.tie.a].width
        to.tie_a = fields[row.tie.a].low
        to.tie_b = fields[row.tie.b].low
        to.tie_complement = row.tie.complement
    _copy_registers(to, row)
    for place, _, operand in row.immediates:
        _copy_immediate(&to.imm if place == "imm" else &to.y if place == "y" else &to.x_operand, fields, operand)
    if isinstance(row.op_x, str):
        _copy_immediate(&to.x_operand, fields, rows.Operand((row.op_x,)))
    else:
        to.x = row.op_x


cdef int _build() except -1:
    """Copy rows and tree into C arrays, which live as long as the process."""
    global _rows, _nodes, _links
    cdef uint32_t i
    tree = decision_tree.build(INSTRUCTIONS, UNIT_LETTERS)
    _rows = <Row*>calloc(len(INSTRUCTIONS) + 1, sizeof(Row))
    _nodes = <Node*>calloc(len(tree.shift), sizeof(Node))
    _links = <uint32_t*>calloc(len(tree.links) + 1, sizeof(uint32_t))
    if _rows == NULL or _nodes == NULL or _links == NULL:
        raise MemoryError
    for i, row in enumerate(INSTRUCTIONS):
        _copy_row(&_rows[i], row)
    for i in range(len(tree.shift)):
        _nodes[i].shift, _nodes[i].width, _nodes[i].first = tree.shift[i], tree.width[i], tree.first[i]
    for i in range(len(tree.links)):
        _links[i] = tree.links[i]
    for i, unit in enumerate(UNIT_LETTERS):
        _roots[i] = tree.roots[unit]
    return 0


_build()


def find(str unit, uint64_t encoding, uint64_t extension=0):
    """The row (rows.Row) of a 41-bit slot of ``unit`` (M, I, F, B or X), or None when it is reserved."""
    cdef Row* row = decode(UNIT_LETTERS.index(unit), encoding, extension)
    return None if row == NULL else INSTRUCTIONS[row.number]


def extract(uint32_t number, uint64_t encoding, uint64_t extension=0, uint64_t bundle_address=0):
    """The operands of a slot that decodes to row ``number``: r1, r2, r3, r4, qp, imm, y, x."""
    cdef Operands out
    if number >= len(INSTRUCTIONS):
        raise IndexError(f"no row {number}")
    memset(&out, 0, sizeof(out))
    operands(&_rows[number], encoding, extension, bundle_address, &out)
    return {"r1": out.r1, "r2": out.r2, "r3": out.r3, "r4": out.r4,
            "qp": out.qp, "imm": out.imm, "y": out.y, "x": out.x}
