"""Creates, finds, cuts and drops block records (see block_cache.pxd)."""

from libc.stdint cimport uint32_t, uint64_t, uint8_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

from pfmon.isa.ia64._encodings cimport Row
from pfmon.stream._stream cimport (
    AccessKind, BlockInstruction, BranchKind, Ia64Kind, Ia64Payload, Kind, Table, enter_block, free_arena,
    fresh_instruction, make_room, arena_alloc, arena_reset)


cdef enum:
    BUNDLE_BYTES = 16
    USER_LEVEL = 3
    TRANSLATED_CODE = 8          # flag in BlockHead.physical


cdef inline uint64_t hashed(uint64_t ip) noexcept nogil:
    return ((ip >> 4) ^ (ip >> 18) ^ ip << 7) & (TABLE_SIZE - 1)


cdef BlockPlace place_of_block(const Cpu* cpu, uint64_t ip) noexcept nogil:
    """The place of a block that begins at ``ip``: of system mode in the page that `fetch_page` has found."""
    cdef BlockPlace place
    place.physical, place.mode, place.privilege = 0, 0, USER_LEVEL
    if cpu.system != NULL:
        place.physical = cpu.system.code_physical | ip & (SMALL_PAGE - 1)
        place.mode, place.privilege = cpu.mode, cpu.mode & PRIVILEGE_BITS
    return place


cdef inline bint is_at(const Block* block, uint64_t ip, const BlockPlace* place) noexcept nogil:
    return block.ip == ip and block.mode == place.mode and block.physical == place.physical


cdef Block* find_block(BlockCache* blocks, uint64_t ip, const BlockPlace* place) noexcept nogil:
    """The translated block that begins at ``ip`` (bundle | slot) and at this place, or NULL."""
    cdef Block* block = blocks.by_ip[hashed(ip)]
    while block != NULL:
        if is_at(block, ip, place):
            return block
        block = block.beside
    return NULL


cdef uint64_t code_hash(Instruction* code, uint32_t length) noexcept nogil:
    """The hash for ``by_code``. Versions of self-modifying code differ in it."""
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


cdef inline uint32_t fp_operations(const Row* row, const Instruction* ins) noexcept nogil:
    """How many floating-point operations an execution counts (names.csv, fp_ops_retired), as a flag of Ia64Kind.

    A multiply-add with f0 as the addend f2, or f1 as the factor f3 or f4, only multiplies or adds: half of them.
    """
    cdef uint32_t operations = row.attributes.fp_operations
    if row.attributes.fp_halves and (ins.r2 == 0 or ins.r3 == 1 or ins.r4 == 1):
        operations //= 2
    if operations == 4:
        return Ia64Kind.FP_OPS_4
    if operations == 2:
        return Ia64Kind.FP_OPS_2
    return Ia64Kind.FP_OPS_1 if operations else 0


cdef uint32_t isa_kind_of(const Instruction* ins) noexcept nogil:
    """Ia64Kind flags of the encoding and of the instruction's slot."""
    cdef const Row* row = <const Row*>ins.row
    cdef uint32_t kind = Ia64Kind.STOP if ins.stop else 0, slot = ins.address & 3
    if slot:
        kind |= Ia64Kind.SLOT_1 if slot == 1 else Ia64Kind.SLOT_2
    if row == NULL:
        return kind
    kind |= row.isa_kind | fp_operations(row, ins)
    if ins.multiway:
        kind |= Ia64Kind.MULTIWAY
    if ins.qp:
        kind |= Ia64Kind.PREDICATED
    return kind


cdef uint8_t access_of(uint32_t kind) noexcept nogil:
    """The kind of its memory access."""
    if kind & Kind.PREFETCH or not kind & (Kind.LOAD | Kind.STORE):
        return AccessKind.FETCH_LINE
    return (AccessKind.READ if kind & Kind.LOAD else 0) | (AccessKind.WRITE if kind & Kind.STORE else 0)


cdef uint8_t branch_of(uint32_t kind) noexcept nogil:
    if not kind & Kind.BRANCH:
        return BranchKind.NO_BRANCH
    if kind & Kind.RETURN:
        return BranchKind.RETURN_BRANCH
    if kind & Kind.CALL:
        return BranchKind.INDIRECT_CALL if kind & Kind.INDIRECT else BranchKind.DIRECT_CALL
    return BranchKind.INDIRECT_JUMP if kind & Kind.INDIRECT else BranchKind.DIRECT


cdef void describe(const Instruction* ins, uint32_t privilege, BlockInstruction* out,
                   Ia64Payload* payload) noexcept nogil:
    """Fill in an instruction's entry of the block table."""
    cdef const Row* row = <const Row*>ins.row
    memset(out, 0, sizeof(BlockInstruction))
    memset(payload, 0, sizeof(Ia64Payload))
    payload.encoding, payload.extension, payload.unit, payload.qp = ins.encoding, ins.extension, ins.unit, ins.qp
    out.address, out.length, out.condition = ins.address, BUNDLE_BYTES, ins.condition
    out.privilege = <uint8_t>privilege
    out.isa_kind = isa_kind_of(ins)
    if row == NULL:
        return
    out.kind = row.kind
    out.branch = branch_of(row.kind)
    if ins.accesses:
        out.access = access_of(row.kind)
        out.size = row.attributes.size


cdef uint32_t file_at(const Cpu* cpu, const BlockCache* blocks, uint64_t ip, const BlockPlace* place) noexcept nogil:
    """The number of the mapped file that holds the code; 0: none."""
    cdef uint32_t i
    if cpu.system != NULL:
        return file_of_process(cpu, ip, place)
    for i in range(blocks.file_count):
        if blocks.files[i].start <= ip < blocks.files[i].end:
            return blocks.files[i].number
    return 0


cdef uint32_t file_of_process(const Cpu* cpu, uint64_t ip, const BlockPlace* place) noexcept nogil:
    """The number of the file that a process executes under a system; 0: none, or the code is the system's."""
    cdef const uint8_t* content
    if cpu.system.file_pages == NULL or place.privilege & USER_LEVEL != USER_LEVEL or not place.mode & MODE_IT:
        return 0
    content = physical_memory(<Cpu*>cpu, place.physical & ~<uint64_t>(SMALL_PAGE - 1), False)
    return placed_file(cpu.system.file_pages, ip & ~<uint64_t>(SMALL_PAGE - 1), content) if content != NULL else 0


cdef bint has_number(BlockCache* blocks, uint64_t number) noexcept nogil:
    """Make room for a block of this number; False: out of memory."""
    cdef uint64_t capacity = (number + 512) * 2
    cdef Block** grown
    if number < blocks.capacity:
        return True
    grown = <Block**>realloc(blocks.by_number, capacity * sizeof(Block*))
    if grown == NULL:
        return False
    memset(grown + blocks.capacity, 0, (capacity - blocks.capacity) * sizeof(Block*))
    blocks.by_number, blocks.capacity = grown, capacity
    return True


cdef Block* new_block(BlockCache* blocks, uint64_t ip, Instruction* code, uint32_t length, uint32_t cut,
                      const BlockPlace* place, uint32_t file) noexcept nogil:
    """A new block with a copy of ``code``; NULL when out of memory."""
    cdef Block* block = <Block*>arena_alloc(&blocks.records, sizeof(Block))
    cdef uint64_t at, first, number
    cdef uint32_t i
    cdef Table* table = blocks.table
    if block == NULL:
        return NULL
    memset(block, 0, sizeof(Block))
    block.instructions = <Instruction*>malloc(length * sizeof(Instruction))
    number = table.header.bank[0].blocks
    if block.instructions == NULL or not has_number(blocks, number) or not make_room(table, 0, length):
        free(block.instructions)
        return NULL
    memcpy(block.instructions, code, length * sizeof(Instruction))
    block.ip = ip
    block.length = length
    block.cut = cut
    block.physical = place.physical
    block.mode = place.mode
    block.exit.id = number
    block.exit.length = length
    first = fresh_instruction(table, 0)
    for i in range(length):
        block.conditions += code[i].condition != NO_CONDITION
        block.accesses += code[i].accesses
        describe(&code[i], place.privilege, &table.instructions[first + i], <Ia64Payload*>table.payloads + first + i)
    table.heads[enter_block(table, 0, ip, length, cut, file)].physical = (
        place.physical | (TRANSLATED_CODE if place.mode & MODE_IT else 0))
    blocks.by_number[number] = block
    blocks.count = number + 1
    at = code_hash(code, length)
    block.same = blocks.by_code[at]
    blocks.by_code[at] = block
    return block


cdef Block* cut_block(BlockCache* blocks, Block* whole, uint32_t length, uint32_t kind) noexcept nogil:
    """The first ``length`` instructions of ``whole`` as a block that only the stream uses."""
    cdef Block* block = blocks.by_code[code_hash(whole.instructions, length)]
    cdef BlockPlace place
    cdef uint32_t file = blocks.table.heads[whole.exit.id].file
    place.physical, place.mode = whole.physical, whole.mode
    place.privilege = blocks.table.instructions[blocks.table.heads[whole.exit.id].first].privilege
    while block != NULL:
        if is_at(block, whole.ip, &place) and block.cut == kind and same_code(block, whole.instructions, length) \
                and blocks.table.heads[block.exit.id].file == file:
            return block
        block = block.same
    return new_block(blocks, whole.ip, whole.instructions, length, kind, &place, file)


cdef Block* block_of(const Cpu* cpu, BlockCache* blocks, uint64_t ip, Instruction* code, uint32_t length,
                     const BlockPlace* place) noexcept nogil:
    """The block for this code: an existing untranslated one with the same code, else a new one."""
    cdef Block* block = blocks.by_code[code_hash(code, length)]
    cdef uint32_t file = file_at(cpu, blocks, ip, place)
    while block != NULL:
        if is_at(block, ip, place) and block.ops == NULL and block.cut == 0 and same_code(block, code, length) \
                and blocks.table.heads[block.exit.id].file == file:
            return block
        block = block.same
    return new_block(blocks, ip, code, length, 0, place, file)


cdef void note_page_link(BlockCache* blocks, Link* link) noexcept nogil:
    """List a link that leads to another page of code. Without memory for the list the link is not made."""
    cdef Link** grown
    if blocks.page_link_count == blocks.page_link_capacity:
        grown = <Link**>realloc(blocks.page_links, (blocks.page_link_capacity + 256) * 2 * sizeof(Link*))
        if grown == NULL:
            link.block = NULL
            return
        blocks.page_links = grown
        blocks.page_link_capacity = (blocks.page_link_capacity + 256) * 2
    blocks.page_links[blocks.page_link_count] = link
    blocks.page_link_count += 1


cdef void unlink_pages(Cpu* cpu, BlockCache* blocks) noexcept nogil:
    """Drop all links between pages of code: their translations may have changed."""
    cdef uint64_t i
    for i in range(blocks.page_link_count):
        blocks.page_links[i].block = NULL
    blocks.page_link_count = 0
    memset(cpu.jump_cache, 0, sizeof(cpu.jump_cache))
    cpu.miss_link = NULL


cdef void note_translation(BlockCache* blocks, Block* block) noexcept nogil:
    """Enter a translated block into the chains."""
    cdef uint64_t at = hashed(block.ip)
    block.beside = blocks.by_ip[at]
    blocks.by_ip[at] = block
    block.translated = blocks.translated
    blocks.translated = block


cdef void forget_translations(Cpu* cpu, BlockCache* blocks) noexcept nogil:
    """Drop all translations (the records stay), after a write to code."""
    cdef Block* block = blocks.translated
    while block != NULL:
        block.ops = NULL
        block.exit.taken.block = NULL
        block.exit.next.block = NULL
        blocks.by_ip[hashed(block.ip)] = NULL
        block = block.translated
    blocks.translated = NULL
    blocks.page_link_count = 0
    arena_reset(&blocks.operations)
    memset(cpu.jump_cache, 0, sizeof(cpu.jump_cache))
    cpu.miss_link = NULL


cdef void free_blocks(BlockCache* blocks) noexcept nogil:
    """Free all memory."""
    cdef uint64_t i
    for i in range(blocks.count):
        if blocks.by_number[i] != NULL:
            free(blocks.by_number[i].instructions)
    free(blocks.by_number)
    free(blocks.files)
    free(blocks.page_links)
    free_arena(&blocks.records)
    free_arena(&blocks.operations)
