"""The block table: see block_table.pxd.

The file is a sparse memfd with the arrays' maximum size. Its memory is committed in steps (posix_fallocate): a lack of
memory is then an error code and not a SIGBUS. The mapping takes the address space of the maximum number of blocks.
"""

import os

from libc.errno cimport EFBIG
from libc.string cimport memcmp, memcpy, memset


from pfmon.stream.recording.block_records import BlockRecord, InstructionRecord

cdef extern from "<unistd.h>" nogil:
    int close(int)

cdef extern from "<fcntl.h>" nogil:
    int posix_fallocate(int, long, long)

cdef enum:
    HEADS = 0
    INSTRUCTIONS = 1
    ACCESSES = 2
    PAYLOADS = 3
    PAGE = 1 << 14
    INSTRUCTIONS_A_BLOCK = 8     # on average, for the arrays' size
    MIN_COMMIT_STEP = 1 << 16
    MAX_COMMIT_STEP = 1 << 22
    MIN_TABLE_BLOCKS = 1 << 12
    MAX_PAYLOAD_BYTES = 1 << 8   # bytes of an instruction
    MAX_INSTRUCTION_ACCESSES = 2  # accesses of an instruction; a gather has more, of which a block has few
    SHARE_OF_FREE = 4            # a table takes a quarter of what is left of a limited address space at most
    MAP_FIXED_NOREPLACE = 0x100000
    ATTEMPTS = 64                # to find room

cdef extern from *:
    """
    #define pfmon_publish(place, value) __atomic_store_n(place, value, __ATOMIC_RELEASE)
    """
    void publish "pfmon_publish"(uint64_t*, uint64_t) nogil

cdef const char* BLOCK_MAGIC = b"pfmonblk"


cdef bint commit(Table* table, uint32_t bank, uint32_t array, uint64_t wanted) noexcept nogil:
    """Commits memory for so many bytes of a bank's share of an array."""
    cdef uint64_t have = table.committed[bank][array]
    cdef uint64_t step
    if wanted <= have:
        return True
    if wanted > table.share[array]:
        table.header.failure = Failure.TOO_MANY_BLOCKS
        return False
    step = min(max(have, MIN_COMMIT_STEP), MAX_COMMIT_STEP)
    wanted = min(table.share[array], max(wanted, have + step))
    if table.descriptor >= 0 and posix_fallocate(table.descriptor,
                                                 <long>(table.offset[array] + bank * table.share[array] + have),
                       <long>(wanted - have)):
        table.header.failure = Failure.OUT_OF_MEMORY
        return False
    table.committed[bank][array] = wanted
    return True


cdef bint make_room(Table* table, uint32_t bank, uint32_t length) noexcept nogil:
    """Commits room for one more block of so many instructions; False: the reason is in the table's failure."""
    cdef const Bank* used = &table.header.bank[bank]
    if used.blocks >= table.header.capacity:
        table.header.failure = Failure.TOO_MANY_BLOCKS
        return False
    return (commit(table, bank, HEADS, (used.blocks + 1) * sizeof(BlockHead))
            and commit(table, bank, INSTRUCTIONS, (used.instructions + length) * sizeof(BlockInstruction))
            and commit(table, bank, ACCESSES, (used.accesses + MAX_INSTRUCTION_ACCESSES * length + MAX_FURTHER_ACCESSES) * sizeof(BlockAccess))
            and commit(table, bank, PAYLOADS, (used.instructions + length) * table.header.payload_bytes))


cdef uint32_t enter_block(Table* table, uint32_t bank, uint64_t ip, uint32_t length, uint32_t cut,
                          uint32_t file) noexcept nogil:
    """Enters the block whose instructions and payloads were appended; returns its number."""
    cdef Bank* used = &table.header.bank[bank]
    cdef uint32_t number = <uint32_t>(bank * <uint64_t>BANK_BLOCKS + used.blocks), i, k
    cdef BlockHead* head = &table.heads[number]
    cdef BlockAccess* access
    cdef const BlockInstruction* instruction
    memset(head, 0, sizeof(BlockHead))
    head.first = fresh_instruction(table, bank)
    head.first_access = first_access_of_bank(table, bank) + used.accesses
    head.ip, head.length, head.cut, head.whole, head.file = ip, length, cut, number, file
    for i in range(length):
        instruction = &table.instructions[head.first + i]
        for k in range(address_count(instruction)):
            access = &table.accesses[head.first_access + max_accesses(head)]
            access.instruction, access.condition = <uint8_t>i, instruction.condition
            if instruction.condition == ALWAYS:
                head.accesses += 1
            else:
                head.access_mask |= <uint64_t>1 << (32 + instruction.condition)
    used.accesses += max_accesses(head)
    used.instructions += length
    publish(&used.blocks, used.blocks + 1)
    return number


cdef uint32_t copy_start(Table* table, uint64_t block, uint32_t length, uint32_t cut) noexcept nogil:
    cdef uint64_t fresh, first = table.heads[block].first, bytes = table.header.payload_bytes
    if not make_room(table, 0, length):
        return 0
    fresh = fresh_instruction(table, 0)
    memcpy(&table.instructions[fresh], &table.instructions[first], length * sizeof(BlockInstruction))
    memcpy(table.payloads + fresh * bytes, table.payloads + first * bytes, length * bytes)
    fresh = enter_block(table, 0, table.heads[block].ip, length, cut, table.heads[block].file)
    table.heads[fresh].physical = table.heads[block].physical
    return <uint32_t>fresh


cdef bint is_block(const BlockInstruction* instructions, uint32_t length) noexcept nogil:
    """Whether this describes a block; readers rely on it. Conditions are numbered in the order of the instructions; a
    conditional instruction makes one access; all have the same privilege."""
    cdef uint32_t i, conditions = 0, further = 0
    if length == 0 or length > MAX_BLOCK_LENGTH or instructions[0].privilege >= PRIVILEGES:
        return False
    for i in range(length):
        if instructions[i].access > AccessKind.FETCH_LINE or instructions[i].branch > BranchKind.RETURN_BRANCH \
                or instructions[i].privilege != instructions[0].privilege \
                or further_kind(&instructions[i]) > AccessKind.FETCH_LINE:
            return False
        further += instructions[i].second >> FURTHER_SHIFT
        if instructions[i].second and (not further_kind(&instructions[i]) or not instructions[i].access or instructions[i].condition != ALWAYS):
            return False
        if instructions[i].condition != ALWAYS:
            if instructions[i].condition != conditions or conditions == MAX_BLOCK_CONDITIONS:
                return False
            conditions += 1
    return further <= MAX_FURTHER_ACCESSES


cdef uint64_t fitting_capacity(uint64_t capacity, uint64_t payload_bytes, uint64_t room):
    """As many blocks as there is room for, in bytes of address space."""
    cdef uint64_t each = BANKS * (sizeof(BlockHead) + INSTRUCTIONS_A_BLOCK * (
        sizeof(BlockInstruction) + MAX_INSTRUCTION_ACCESSES * sizeof(BlockAccess) + payload_bytes))
    while capacity > MIN_TABLE_BLOCKS and capacity * each > room:
        capacity //= 2
    return capacity


cdef class BlockTable:
    """Descriptions of blocks. ``payload_bytes``: of an instruction, defined by its instruction set; ``capacity``:
    maximum number of blocks; ``share``: where the address space is limited (ulimit -v), the table takes one part in so
    many of what is left; ``attach``: the descriptor of a table of another process. MemoryError when it cannot be
    mapped; ValueError for a descriptor of something else."""

    def __cinit__(self, instruction_set=InstructionSet.IA64, payload_bytes=0, *, capacity=BANK_BLOCKS,
                  share=SHARE_OF_FREE,
                  attach=None):
        self.c.descriptor = -1
        self.room = free_address_space() // <uint64_t>share
        if attach is not None:
            self.c.descriptor = self.descriptor = os.dup(attach)
            self.attach()
            return
        self.c.descriptor = self.descriptor = os.memfd_create("pfmon blocks", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        capacity = fitting_capacity(min(max(1, capacity), BANK_BLOCKS), payload_bytes, self.room)
        while not self.map_all(capacity, payload_bytes):
            if capacity <= MIN_TABLE_BLOCKS:
                raise MemoryError("there is no room for the table of blocks")
            capacity //= 2               # the address space is limited
        if self.c.descriptor >= 0:
            seal_size(self.c.descriptor)
        memcpy(self.c.header.magic, BLOCK_MAGIC, 8)
        self.c.header.version = TABLE_VERSION
        self.c.header.instruction_set = instruction_set
        self.c.header.payload_bytes = payload_bytes
        self.c.header.capacity = capacity

    def __dealloc__(self):
        self.unmap()
        if self.c.descriptor >= 0:
            close(self.c.descriptor)

    cdef bint map_all(self, uint64_t capacity, uint64_t payload_bytes, bint made=False):
        """Maps the file, laid out for so many blocks; False when the address space has no room. ``made``: by another
        process; ValueError when it is too short for that."""
        cdef uint64_t at = PAGE
        cdef uint64_t* share = self.c.share
        cdef uint8_t* rest
        cdef int i
        share[HEADS] = <uint64_t>BANK_BLOCKS * sizeof(BlockHead)     # found by number, whatever the capacity
        share[INSTRUCTIONS] = capacity * INSTRUCTIONS_A_BLOCK * sizeof(BlockInstruction)
        share[ACCESSES] = sizeof(BlockAccess) * (
            capacity * INSTRUCTIONS_A_BLOCK * MAX_INSTRUCTION_ACCESSES + MAX_FURTHER_ACCESSES)
        share[PAYLOADS] = capacity * INSTRUCTIONS_A_BLOCK * payload_bytes
        for i in range(4):
            self.c.offset[i] = at
            at += BANKS * share[i] + PAGE
            at -= at % PAGE
        if self.c.descriptor >= 0 and os.fstat(self.c.descriptor).st_size < at:
            if made:
                raise ValueError("this is no table of blocks: it is too short")
            self.lengthen(at)
        if not self.map_heads(capacity * sizeof(BlockHead)):
            return False
        rest = <uint8_t*>self.map_piece(2, NULL, at - self.c.offset[INSTRUCTIONS], self.c.offset[INSTRUCTIONS])
        if rest == NULL or (self.c.descriptor >= 0 and posix_fallocate(self.c.descriptor, 0, PAGE)):
            self.unmap()
            return False
        rest -= self.c.offset[INSTRUCTIONS]
        self.c.header = <TableHeader*>self.piece[0]
        self.c.heads = <BlockHead*>(<uint8_t*>self.piece[0] + self.c.offset[HEADS])
        self.c.instructions = <BlockInstruction*>(rest + self.c.offset[INSTRUCTIONS])
        self.c.accesses = <BlockAccess*>(rest + self.c.offset[ACCESSES])
        self.c.payloads = rest + self.c.offset[PAYLOADS]
        return True

    cdef void lengthen(self, uint64_t size):
        """Make the file so long. Where files may not be (ulimit -f), the memory is no file's: nobody else reads it."""
        try:
            os.ftruncate(self.c.descriptor, size)
        except OSError as error:
            if error.errno != EFBIG:
                raise
            os.close(self.c.descriptor)
            self.c.descriptor = self.descriptor = -1

    cdef bint map_heads(self, uint64_t used):
        """Maps the header and the heads of both banks; ``used``: bytes of them in use. Heads are indexed by block
        number, so the banks have the same distance in memory as in the file; in a limited address space (ulimit -v) the
        unused part between them is not mapped."""
        cdef uint64_t distance = PAGE + self.c.share[HEADS]
        cdef uint64_t span = (distance + used + PAGE) & ~<uint64_t>(PAGE - 1)
        cdef uint64_t whole = PAGE + BANKS * self.c.share[HEADS]
        cdef uint8_t* below
        cdef int attempt
        if whole <= self.room and self.map_piece(0, NULL, whole, 0) != NULL:
            return True
        below = <uint8_t*>self.map_piece(0, NULL, PAGE, 0)       # where the host maps things now
        self.unmap()
        if below == NULL:
            return False
        below = <uint8_t*>(<uint64_t>below & ~<uint64_t>(PAGE - 1))
        for attempt in range(1, ATTEMPTS + 1):
            if self.map_piece(0, below - attempt * span, PAGE + used, 0) != NULL:
                if self.map_piece(1, below - attempt * span + distance, used, distance) != NULL:
                    return True
                self.unmap()
        return False

    cdef void* map_piece(self, int number, void* described, uint64_t size, uint64_t offset):
        """Map a piece of the file, where it is wanted; NULL: there is no room."""
        cdef int flags = MAP_NORESERVE | (MAP_FIXED_NOREPLACE if described != NULL else 0)
        cdef void* found
        flags |= MAP_SHARED if self.c.descriptor >= 0 else MAP_PRIVATE | MAP_ANONYMOUS
        size = (size + PAGE - 1) & ~<uint64_t>(PAGE - 1)
        found = mmap(described, size, PROT_READ | PROT_WRITE, flags, self.c.descriptor, offset)
        if found == MAP_FAILED:
            return NULL
        if described != NULL and found != described:
            munmap(found, size)
            return NULL
        self.piece[number], self.piece_bytes[number] = found, size
        return found

    cdef void unmap(self):
        """Map nothing any more."""
        for i in range(3):
            if self.piece[i] != NULL:
                munmap(self.piece[i], self.piece_bytes[i])
            self.piece[i] = NULL
        self.c.header = NULL

    cdef void attach(self):
        """Maps a table of another process."""
        cdef TableHeader header
        raw = os.pread(self.c.descriptor, sizeof(TableHeader), 0)
        if len(raw) != sizeof(TableHeader):
            raise ValueError("this is no table of blocks: it is too short")
        memcpy(&header, <const char*>raw, sizeof(TableHeader))
        if memcmp(header.magic, BLOCK_MAGIC, 8) or header.version != TABLE_VERSION:
            raise ValueError("this is no table of blocks of this version")
        if not 0 < header.capacity <= BANK_BLOCKS or header.payload_bytes > MAX_PAYLOAD_BYTES:
            raise ValueError("this is no table of blocks: its header is damaged")
        if not self.map_all(header.capacity, header.payload_bytes, made=True):
            raise MemoryError("there is no room for the table of blocks")

    def __len__(self):
        """Blocks entered, without parts made by readers."""
        return self.c.header.bank[0].blocks

    def numbers(self):
        """Returns the numbers of all blocks, parts included."""
        cdef uint64_t bank, i
        return [bank * BANK_BLOCKS + i for bank in range(BANKS) for i in range(self.c.header.bank[bank].blocks)]

    @property
    def instruction_set(self):
        """Instruction set of the blocks."""
        return InstructionSet(self.c.header.instruction_set)

    @property
    def payload_bytes(self):
        """Bytes of an instruction's payload, defined by its instruction set."""
        return self.c.header.payload_bytes

    @property
    def failure(self):
        """Failure that kept a block from being entered."""
        return Failure(self.c.header.failure)

    def block(self, uint64_t number):
        """Returns the record of a block; IndexError when there is none of that number."""
        cdef const BlockHead* head
        cdef const BlockInstruction* one
        cdef uint32_t i, payload = self.c.header.payload_bytes
        if number >= BANKS * BANK_BLOCKS or number % BANK_BLOCKS >= self.c.header.bank[number >> BANK_SHIFT].blocks:
            raise IndexError(f"no block {number}")
        head = &self.c.heads[number]
        found = []
        for i in range(head.length):
            one = &self.c.instructions[head.first + i]
            found.append(InstructionRecord(
                one.address, one.kind, one.isa_kind, one.size, one.length,
                None if one.condition == ALWAYS else one.condition, one.access, one.branch, one.privilege,
                (<const char*>self.c.payloads + (head.first + i) * payload)[:payload], one.second))
        return BlockRecord(number, head.ip, tuple(found), head.cut, head.whole, head.offset, head.file)

    def enter(self, record, uint32_t bank=0):
        """Enters a block from its record; returns its number. MemoryError: no room; ValueError: this is no block."""
        cdef uint32_t length = len(record.instructions), i, payload = self.c.header.payload_bytes
        cdef uint64_t first
        cdef BlockInstruction* described
        if bank >= BANKS:
            raise IndexError(f"no bank {bank}")
        if not 0 < length <= MAX_BLOCK_LENGTH:
            raise ValueError(f"a block has 1 to {MAX_BLOCK_LENGTH} instructions")
        first = fresh_instruction(&self.c, bank)
        if not make_room(&self.c, bank, length):
            raise MemoryError(f"no room for another block: {self.failure.name}")
        for i, one in enumerate(record.instructions):
            described = &self.c.instructions[first + i]
            memset(described, 0, sizeof(BlockInstruction))
            described.address, described.kind, described.isa_kind = one.address, one.kind, one.isa_kind
            described.size, described.length, described.access = one.size, one.length, one.access
            described.branch, described.privilege, described.second = one.branch, one.privilege, one.second
            described.condition = ALWAYS if one.condition is None else one.condition
            if len(one.payload) != payload:
                raise ValueError(f"a payload has {payload} bytes here")
            memcpy(self.c.payloads + (first + i) * payload, <const char*>one.payload, payload)
        if not is_block(self.c.instructions + first, length):
            raise ValueError(
                "conditions are numbered in the order of the instructions; accesses and branch are known, privilege is one")
        return enter_block(&self.c, bank, record.ip, length, record.cut, record.file)
