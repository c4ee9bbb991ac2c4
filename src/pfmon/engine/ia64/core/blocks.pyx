"""The records of all blocks that ever were: made, found again, cut, forgotten (see blocks.pxd)."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

from pfmon.engine.ia64.core.arena cimport free_arena, take, take_back
from pfmon.engine.ia64.core.cpu cimport NO_CONDITION, Block, Cpu, Instruction
from pfmon.engine.ia64.encodings.decoder cimport Row
from pfmon.stream.shapes cimport NO_ROW, Code, Shape, add_access, add_shape


cdef inline uint64_t hashed(uint64_t ip) noexcept nogil:
    return ((ip >> 4) ^ (ip >> 18) ^ ip << 7) & (TABLE_SIZE - 1)


cdef Block* find_block(Blocks* blocks, uint64_t ip) noexcept nogil:
    """The translated block that begins at ``ip`` (bundle | slot), or NULL."""
    cdef Block* block = blocks.by_ip[hashed(ip)]
    while block != NULL:
        if block.ip == ip:
            return block
        block = block.beside
    return NULL


cdef uint64_t code_hash(Instruction* code, uint32_t length) noexcept nogil:
    """A place in ``by_code``. Versions of code that is rewritten again and again differ in it."""
    cdef uint64_t hash = length
    cdef uint32_t i
    for i in range(length):
        hash = (hash ^ code[i].encoding ^ code[i].address << 20 ^ code[i].extension << 7) * <uint64_t>0x9E3779B97F4A7C15
        hash ^= hash >> 29
    return hash & (TABLE_SIZE - 1)


cdef bint same_code(Block* block, Instruction* code, uint32_t length) noexcept nogil:
    cdef uint32_t i
    if block.length != length:
        return False
    for i in range(length):
        if block.instructions[i].encoding != code[i].encoding or block.instructions[i].address != code[i].address \
                or block.instructions[i].extension != code[i].extension \
                or block.instructions[i].unit != code[i].unit:
            return False
    return True


cdef Code* described(Instruction* code, uint32_t length) noexcept nogil:
    """The instructions as a machine sees them; NULL when there is no memory."""
    cdef Code* out = <Code*>malloc(length * sizeof(Code))
    cdef Instruction* ins
    cdef uint32_t i
    if out == NULL:
        return NULL
    for i in range(length):
        ins = &code[i]
        out[i].address = ins.address
        out[i].encoding = ins.encoding
        out[i].imm = ins.imm
        out[i].y = ins.y
        out[i].row = NO_ROW if ins.row == NULL else (<Row*>ins.row).number
        out[i].x = ins.x
        out[i].r1, out[i].r2, out[i].r3, out[i].r4, out[i].qp = ins.r1, ins.r2, ins.r3, ins.r4, ins.qp
        out[i].unit = ins.unit
        out[i].condition = ins.condition
        out[i].stop = ins.stop
        out[i].access = ins.accesses
        out[i].multiway = ins.multiway
    return out


cdef Block* new_block(Blocks* blocks, uint64_t ip, Instruction* code, uint32_t length) noexcept nogil:
    """A block with a number of its own and a copy of ``code``; NULL when there is no memory."""
    cdef Block* block = <Block*>take(&blocks.records, sizeof(Block))
    cdef Block** grown
    cdef uint64_t at
    cdef uint32_t i, accesses = 0
    cdef Shape shape
    if block == NULL:
        return NULL
    memset(block, 0, sizeof(Block))
    block.instructions = <Instruction*>malloc(length * sizeof(Instruction))
    if blocks.count == blocks.capacity:
        grown = <Block**>realloc(blocks.by_number, (blocks.capacity + 512) * 2 * sizeof(Block*))
        if grown != NULL:
            blocks.by_number = grown
            blocks.capacity = (blocks.capacity + 512) * 2
    if block.instructions == NULL or blocks.count == blocks.capacity:
        free(block.instructions)
        return NULL
    memcpy(block.instructions, code, length * sizeof(Instruction))
    block.ip = ip
    block.length = length
    block.exit.id = blocks.count
    shape.access_mask = 0
    shape.accesses = 0
    shape.first_access = blocks.shapes.access_count
    for i in range(length):
        if code[i].condition != NO_CONDITION:
            block.conditions += 1
        if code[i].accesses:
            accesses += 1
            add_access(blocks.shapes, <uint8_t>i, code[i].condition)
            if code[i].condition != NO_CONDITION:
                shape.access_mask |= <uint64_t>1 << (32 + code[i].condition)
            else:
                shape.accesses += 1
    block.accesses = accesses
    block.exit.length = length
    shape.length = length
    shape.cut = 0
    shape.code = described(code, length)
    if shape.code == NULL:
        free(block.instructions)
        return NULL
    add_shape(blocks.shapes, blocks.count, shape)
    blocks.by_number[blocks.count] = block
    blocks.count += 1
    at = code_hash(code, length)
    block.same = blocks.by_code[at]
    blocks.by_code[at] = block
    return block


cdef Block* cut_block(Blocks* blocks, Block* whole, uint32_t length, uint32_t kind) noexcept nogil:
    """The block that is the first ``length`` instructions of ``whole``, for the stream only."""
    cdef Block* block = blocks.by_code[code_hash(whole.instructions, length)]
    while block != NULL:
        if block.ip == whole.ip and block.cut == kind and same_code(block, whole.instructions, length):
            return block
        block = block.same
    block = new_block(blocks, whole.ip, whole.instructions, length)
    if block != NULL:
        block.cut = kind
        blocks.shapes.shapes[block.exit.id].cut = kind
    return block


cdef Block* block_of(Blocks* blocks, uint64_t ip, Instruction* code, uint32_t length) noexcept nogil:
    """A block for this code: an untranslated one from before if it is the same, else a new one."""
    cdef Block* block = blocks.by_code[code_hash(code, length)]
    while block != NULL:
        if block.ip == ip and block.ops == NULL and block.cut == 0 and same_code(block, code, length):
            return block
        block = block.same
    return new_block(blocks, ip, code, length)


cdef void note_translation(Blocks* blocks, Block* block) noexcept nogil:
    """``block`` has operations now."""
    cdef uint64_t at = hashed(block.ip)
    block.beside = blocks.by_ip[at]
    blocks.by_ip[at] = block
    block.translated = blocks.translated
    blocks.translated = block


cdef void forget_translations(Cpu* cpu, Blocks* blocks) noexcept nogil:
    """Drop all operations (the records stay): code has changed."""
    cdef Block* block = blocks.translated
    while block != NULL:
        block.ops = NULL
        block.exit.taken.block = NULL
        block.exit.next.block = NULL
        blocks.by_ip[hashed(block.ip)] = NULL
        block = block.translated
    blocks.translated = NULL
    take_back(&blocks.operations)
    memset(cpu.jump_cache, 0, sizeof(cpu.jump_cache))
    cpu.miss_link = NULL


cdef void free_blocks(Blocks* blocks) noexcept nogil:
    """Give all memory back."""
    cdef uint64_t i
    for i in range(blocks.count):
        free(blocks.by_number[i].instructions)
    free(blocks.by_number)
    free_arena(&blocks.records)
    free_arena(&blocks.operations)
