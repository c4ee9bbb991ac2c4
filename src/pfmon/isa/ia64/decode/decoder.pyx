"""Decodes a 41-bit slot to its row and its operands.

The tables (table_layout.pxd) are made from the rows when pfmon is built, and loaded at first use.
"""

from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memset


UNIT_LETTERS = unit_letters()

cdef bytearray _tables
cdef Row* _rows
cdef Node* _nodes
cdef uint32_t* _links
cdef void** _pairs             # by Row.as_first, then by Row.as_second
cdef TableSizes[1] _sizes
cdef uint32_t _roots[UNITS]
cdef uint32_t _count
cdef size_t _origin             # of handlers; 0: the tables still have distances


cdef inline uint64_t _bits(uint64_t encoding, uint64_t extension, unsigned int low, unsigned int width) noexcept nogil:
    """A field; bits from 41 on are those of the L slot."""
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
    """Fill r1 to r4, qp, imm, y and x of ``out``; fields missing in the format (registers) or the row (others) are
    0."""
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


cdef void* paired(Row* first, Row* second) noexcept nogil:
    """The handler of two consecutive instructions, or NULL."""
    return _pairs[first.as_first * _sizes[0].seconds + second.as_second]


cdef int _load_tables(bytearray tables) except -1:
    """Load tables as decoder_tables.computed() makes them; they are never freed."""
    global _tables, _rows, _nodes, _links, _pairs, _count
    cdef char* start_of_tables = tables
    cdef TableSizes sizes = (<TableSizes*>start_of_tables)[0]
    cdef uint32_t i
    _tables, _sizes[0] = tables, sizes
    _rows = <Row*>(start_of_tables + sizeof(TableSizes))
    _nodes = <Node*>&_rows[sizes.rows]
    _links = <uint32_t*>&_nodes[sizes.nodes]
    _pairs = <void**>&_links[sizes.links + (sizes.links & 1)]
    _count = sizes.rows
    for i in range(UNITS):
        _roots[i] = sizes.roots[i]
    return 0


cdef inline void _add_origin(void** handler, size_t origin) noexcept:
    if handler[0] != NULL:
        handler[0] = <void*>(<size_t>handler[0] + origin)


cdef void _place_handlers() noexcept:
    """Turn the distances of handlers from the origin (table_layout.pxd) into their addresses in this process."""
    cdef uint32_t i
    for i in range(_sizes[0].rows):
        _add_origin(&_rows[i].run, _origin)
        _add_origin(&_rows[i].guarded, _origin)
    for i in range(_sizes[0].firsts * _sizes[0].seconds):
        _add_origin(&_pairs[i], _origin)


cdef int load_decoder(size_t origin=0) except -1:
    """Load the decoder's tables, once. ``origin``: that of the handlers, from the engine."""
    global _origin
    if _rows == NULL:
        from pfmon.isa.ia64.decode.decoder_snapshot import table_bytes

        _load_tables(table_bytes())
    if origin and not _origin:
        _origin = origin
        _place_handlers()
    return 0


def find(str unit, uint64_t encoding, uint64_t extension=0):
    """The row (encoding_rows.Row) of a 41-bit slot of ``unit`` (M, I, F, B or X), or None when it is reserved."""
    from pfmon.isa.ia64.instruction_set import instruction

    load_decoder()
    cdef Row* row = decode(UNIT_LETTERS.index(unit), encoding, extension)
    return None if row == NULL else instruction(row.number)


def extract(uint32_t number, uint64_t encoding, uint64_t extension=0, uint64_t bundle_address=0):
    """The operands of a slot that decodes to row ``number``: r1, r2, r3, r4, qp, imm, y, x."""
    cdef Operands out
    load_decoder()
    if number >= _count:
        raise IndexError(f"no row {number}")
    memset(&out, 0, sizeof(out))
    operands(&_rows[number], encoding, extension, bundle_address, &out)
    return {"r1": out.r1, "r2": out.r2, "r3": out.r3, "r4": out.r4,
            "qp": out.qp, "imm": out.imm, "y": out.y, "x": out.x}


def attributes(uint32_t number):
    """The attributes of row ``number``, by field name of the struct Attributes."""
    load_decoder()
    if number >= _count:
        raise IndexError(f"no row {number}")
    return _rows[number].attributes
