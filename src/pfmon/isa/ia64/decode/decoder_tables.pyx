"""Computes the decoder's tables: C copies of the rows and of decision_tree.build()'s result."""

from libc.stdint cimport uint16_t, uint32_t, uint64_t, uint8_t
from libc.stdlib cimport calloc, free

from pfmon.engine.ia64._ia64 cimport handler_origin
from pfmon.isa.ia64._encodings cimport (
    MAX_SOURCES, MAX_TARGETS, ROLE_BASE, ROLE_SOURCE, ROLE_TARGET, Attributes, ImmediateOperand, Node, Operand,
    RegisterOperand, Row, TableSizes)

from pfmon.isa.ia64._encodings import UNIT_LETTERS, RegisterFile
from pfmon.isa.ia64 import instruction
from pfmon.isa.ia64.decode import decision_tree
from pfmon.isa.ia64 import operands as operand_fields
from pfmon.isa.ia64.encoding_rows import PAIRS
from pfmon.isa.ia64.formats import FORMATS
from pfmon.isa.ia64.instruction_set import INSTRUCTIONS
from pfmon.isa.ia64.operands import REGISTERS
from pfmon.isa.ia64.encoding_rows import GUARDED

_FIRSTS = {run: number for number, run in enumerate(dict.fromkeys(first for first, _ in PAIRS), 1)}
_SECONDS = {run: number for number, run in enumerate(dict.fromkeys(second for _, second in PAIRS), 1)}
_LAYOUTS = {name: number for number, name in enumerate(FORMATS)}


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
        # Op has every register field of the format, so that special cases share the general handler.
        if name in REGISTERS:
            register = &to.registers[REGISTERS[name][1]]
            register.low, register.width = field.low, field.width
    for operand in row.registers:
        register = &to.registers[operand.place]
        register.file = RegisterFile[f"FILE_{operand.file}"]
        if operand.source:
            register.role |= ROLE_SOURCE
        if operand.target:
            register.role |= ROLE_TARGET
        if operand.base:
            register.role |= ROLE_BASE


cdef void _copy_operands(Operand* to, uint8_t* count, int most, uses):
    cdef int i
    for i, use in enumerate(uses[:most]):
        to[i].place, to[i].what, to[i].first = use
        count[0] = i + 1


cdef void _copy_attributes(Attributes* to, row):
    to.layout = _LAYOUTS[row.layout.name]
    to.access = 0 if row.access is None else row.access + 1
    to.access_flags = row.access_flags
    to.size = row.size
    to.branch = 0 if row.branch is None else row.branch + 1
    to.whether, to.many, to.clear = row.whether, row.many, row.clear
    to.effect = row.effect
    to.fp_operations, to.fp_halves = row.fp_operations, row.fp_halves
    _copy_operands(to.source, &to.sources, MAX_SOURCES, row.sources)
    _copy_operands(to.target, &to.targets, MAX_TARGETS, row.targets)


cdef int _copy_row(Row* to, row) except -1:
    fields = row.layout.fields
    to.mask = row.mask
    to.value = row.value
    to.number = row.number
    to.kind = row.kind
    to.isa_kind = row.isa_kind
    to.nat = instruction.NAT[row.nat]
    to.predicated = instruction.PREDICATED[row.predicated]
    to.emit = instruction.EMIT[row.emit]
    to.ctype = instruction.CTYPE[row.ctype]
    to.imm_is_ip = row.ip
    to.has_qp = row.layout.predicated
    if row.tie:
        to.tie_width = fields[row.tie.a].width
        to.tie_a = fields[row.tie.a].low
        to.tie_b = fields[row.tie.b].low
        to.tie_complement = row.tie.complement
    _copy_registers(to, row)
    _copy_attributes(&to.attributes, row)
    for place, _, operand in row.immediates:
        _copy_immediate(&to.imm if place == "imm" else &to.y if place == "y" else &to.x_operand, fields, operand)
    if isinstance(row.op_x, str):
        _copy_immediate(&to.x_operand, fields, operand_fields.Operand((row.op_x,)))
    else:
        to.x = row.op_x


cdef int _copy_handlers(Row* rows) except -1:
    cdef size_t start = handler_origin()
    for row in INSTRUCTIONS:
        rows[row.number].run = <void*>(<size_t>row.run - start)
        if row.run in GUARDED:
            rows[row.number].guarded = <void*>(<size_t>GUARDED[row.run] - start)
    return 0


cdef int _copy_pairs(void** to, Row* rows) except -1:
    """Copy the pairs' handlers, and set each row's place in pairs."""
    cdef size_t start = handler_origin()
    for row in INSTRUCTIONS:
        rows[row.number].as_first = _FIRSTS.get(row.run, 0)
        rows[row.number].as_second = _SECONDS.get(row.run, 0)
    for (first, second), run in PAIRS.items():
        to[_FIRSTS[first] * (len(_SECONDS) + 1) + _SECONDS[second]] = <void*>(<size_t>run - start)
    return 0


cdef int _fill(void* place, tree) except -1:
    """Write rows, nodes, links and pairs, one after the other."""
    cdef TableSizes* sizes = <TableSizes*>place
    cdef Row* rows = <Row*>&sizes[1]
    cdef Node* nodes = <Node*>&rows[len(INSTRUCTIONS)]
    cdef uint32_t* links = <uint32_t*>&nodes[len(tree.shift)]
    cdef uint32_t i
    sizes.rows, sizes.nodes, sizes.links = len(INSTRUCTIONS), len(tree.shift), len(tree.links)
    sizes.firsts, sizes.seconds = len(_FIRSTS) + 1, len(_SECONDS) + 1
    for i, unit in enumerate(UNIT_LETTERS):
        sizes.roots[i] = tree.roots[unit]
    for i, row in enumerate(INSTRUCTIONS):
        _copy_row(&rows[i], row)
    for i in range(sizes.nodes):
        nodes[i].shift, nodes[i].width, nodes[i].first = tree.shift[i], tree.width[i], tree.first[i]
    for i in range(sizes.links):
        links[i] = tree.links[i]
    _copy_handlers(rows)
    _copy_pairs(<void**>&links[sizes.links + (sizes.links & 1)], rows)
    return 0


def computed() -> bytes:
    """The tables of the instruction set."""
    tree = decision_tree.build(INSTRUCTIONS, UNIT_LETTERS)
    cdef size_t size = (sizeof(TableSizes) + len(INSTRUCTIONS) * sizeof(Row) + len(tree.shift) * sizeof(Node)
                        + (len(tree.links) + 1) // 2 * 2 * sizeof(uint32_t)
                        + (len(_FIRSTS) + 1) * (len(_SECONDS) + 1) * sizeof(void*))
    cdef char* place = <char*>calloc(size, 1)
    if place == NULL:
        raise MemoryError
    try:
        _fill(place, tree)
        return place[:size]
    finally:
        free(place)
