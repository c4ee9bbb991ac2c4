"""The block table: descriptions by block number of the stream (docs/dev/stream.md).

It is a file in memory without pointers: a header, and an array each for heads, instructions, accesses and payloads. The
writer of the stream appends to it; readers, in other threads or processes, map it and find each block entered before
the words that name it. Entries never move.
"""

cimport cython
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t


cdef extern from *:
    """
    /* Without the host's instruction for it, which not every x86-64 processor has: a call of the compiler's function
       takes longer. */
    static inline int pfmon_popcount(unsigned long long bits) {
        bits -= bits >> 1 & 0x5555555555555555ULL;
        bits = (bits & 0x3333333333333333ULL) + (bits >> 2 & 0x3333333333333333ULL);
        return (int)(((bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0FULL) * 0x0101010101010101ULL >> 56);
    }
    """
    int popcount "pfmon_popcount"(unsigned long long) nogil

cpdef enum InstructionSet:
    IA64 = 1
    X86_64 = 2
    I386 = 3
    PPC64 = 4                    # big-endian
    PPC = 5                      # 32 bits, big-endian
    PPC64LE = 6

cpdef enum Cut:                  # whether a block is the start of one that ended early
    WHOLE = 0
    FAILED_CHECK = 1             # its last instruction is a chk or fchkf that branched to recovery code
    FAULTED = 2                  # the instruction after it faulted
    EDGE = 3                     # it ended at a stop or a read of performance data
    PART = 4                     # a reader split it

cpdef enum AccessKind:
    NO_ACCESS = 0
    READ = 1
    WRITE = 2
    READ_WRITE = 3               # atomic
    FETCH_LINE = 4               # nothing is read or written: prefetch, fc

cpdef enum BranchKind:
    NO_BRANCH = 0
    DIRECT = 1
    INDIRECT_JUMP = 2
    DIRECT_CALL = 3
    INDIRECT_CALL = 4
    RETURN_BRANCH = 5

cdef enum:
    MAX_BLOCK_LENGTH = 255       # instructions of a block: a mark names one by 8 bits, 255 is none
    PRIVILEGES = 16              # values of BlockInstruction.privilege
    MAX_BLOCK_CONDITIONS = 31    # of a block: bits 32 to 62 of its word
    TABLE_VERSION = 2
    ALWAYS = 255                 # BlockInstruction.condition of one that always executes
    BANKS = 2                    # bank 0: the writer's blocks; bank 1: parts of them, which a reader made
    BANK_SHIFT = 23
    BANK_BLOCKS = 1 << BANK_SHIFT
    BANK_MASK = BANK_BLOCKS - 1
    INSTRUCTION_BYTES = 24
    FURTHER_SHIFT = 3            # in BlockInstruction.second
    MAX_FURTHER_ACCESSES = 240   # of a block, beyond two of an instruction

cdef struct BlockInstruction:
    uint64_t address             # as defined by the instruction set; IA-64: bundle address | slot
    uint32_t kind                # instruction_kinds.Kind
    uint32_t isa_kind            # of the instruction set; IA-64: ia64_kinds.Ia64Kind
    uint16_t size                # bytes of its memory access
    uint8_t length               # bytes of code; IA-64: of its bundle
    uint8_t condition            # bit 32 + condition of the block's word says that it executed, or ALWAYS
    uint8_t access               # AccessKind, when it executes
    uint8_t branch               # BranchKind
    uint8_t privilege            # at which it runs: bits 0-1 the level; in system mode bit 2 PSR.up, bit 3 PSR.pp, which
                                 # are 0 for programs at level 3 alone. One for a whole block
    uint8_t second               # AccessKind of a second access, at an address of its own; above FURTHER_SHIFT the number
                                 # of those of this kind behind it: elements of a gather or a scatter

cdef struct BlockAccess:         # an access that an instruction makes when it executes
    uint8_t instruction          # its number in the block
    uint8_t condition

cdef struct BlockHead:           # 64 bytes
    uint64_t access_mask         # bits of the block's word whose instructions access memory
    uint64_t first               # number of its first instruction among all
    uint64_t first_access        # ... and of its first access
    uint64_t ip
    uint32_t accesses            # unconditional ones
    uint32_t length              # instructions
    uint32_t cut                 # Cut
    uint32_t whole               # of a part: the number of the block that it belongs to
    uint32_t offset              # ... and the number of its first instruction there
    uint32_t file                # number of the mapped file that holds it, 0: none (engine/api.py)
    uint64_t physical            # system mode: the physical address of its first bundle, and its slot; bit 3: fetches
                                 # were translated

cdef struct Bank:                # used entries of its share of the arrays
    uint64_t blocks
    uint64_t instructions
    uint64_t accesses

cdef struct TableHeader:         # the first page of the file
    char magic[8]
    uint32_t version
    uint32_t instruction_set     # InstructionSet
    uint32_t payload_bytes       # of an instruction
    uint32_t failure             # Failure of the writer
    uint64_t capacity            # blocks of a bank
    Bank bank[BANKS]

cdef struct Table:               # a table as mapped by a process
    TableHeader* header
    BlockHead* heads
    BlockInstruction* instructions
    BlockAccess* accesses
    uint8_t* payloads
    uint64_t committed[BANKS][4]  # bytes of the file with memory: heads, instructions, accesses, payloads
    uint64_t offset[4]           # where the arrays begin in the file
    uint64_t share[4]            # bytes of a bank's share
    int descriptor

cdef bint make_room(Table* table, uint32_t bank, uint32_t length) noexcept nogil
cdef bint is_block(const BlockInstruction* instructions, uint32_t length) noexcept nogil
# Enters the first instructions of a block of bank 0 as a block of their own; 0: there is no room.
cdef uint32_t copy_start(Table* table, uint64_t block, uint32_t length, uint32_t cut) noexcept nogil
cdef uint32_t enter_block(Table* table, uint32_t bank, uint64_t ip, uint32_t length, uint32_t cut,
                          uint32_t file) noexcept nogil


cdef inline uint64_t fresh_instruction(const Table* table, uint32_t bank) noexcept nogil:
    """Returns the number of the first instruction of the next block to be entered."""
    return bank * (table.share[1] // INSTRUCTION_BYTES) + table.header.bank[bank].instructions


cdef inline uint64_t first_access_of_bank(const Table* table, uint32_t bank) noexcept nogil:
    """Returns the number of a bank's first access."""
    return bank * (table.share[2] // sizeof(BlockAccess))


cdef inline uint64_t max_accesses(const BlockHead* head) noexcept nogil:
    """Returns the number of accesses of a block when all its conditions hold."""
    return head.accesses + popcount(head.access_mask)


cdef inline uint32_t address_count(const BlockInstruction* instruction) noexcept nogil:
    """Returns the number of accesses with an address of an instruction that executes."""
    return (instruction.access != NO_ACCESS) + (instruction.second != NO_ACCESS) + (instruction.second >> FURTHER_SHIFT)


cdef inline uint8_t further_kind(const BlockInstruction* instruction) noexcept nogil:
    """Returns the AccessKind of an instruction's second access and of those behind it."""
    return instruction.second & ((1 << FURTHER_SHIFT) - 1)


cdef inline uint8_t further_accesses(uint8_t kind, uint32_t count) noexcept nogil:
    """Returns `second` of an instruction that makes `count` accesses of a kind, at least two."""
    return <uint8_t>(kind | (count - 2) << FURTHER_SHIFT)


cdef inline bint is_second(const BlockAccess* accesses, uint64_t k) noexcept nogil:
    """Whether access ``k`` of a block is not the first of its instruction: data ranges apply to the first."""
    return k > 0 and accesses[k - 1].instruction == accesses[k].instruction


cdef inline uint64_t accesses_of(const BlockHead* head, uint64_t word) noexcept nogil:
    """Returns the number of addresses after a block's word in a traced stream."""
    return head.accesses + (popcount(word & head.access_mask) if head.access_mask else 0)


cdef inline bint executed(uint64_t word, uint8_t condition) noexcept nogil:
    """Whether an instruction with this condition executed, by its block's word."""
    return condition == ALWAYS or (word >> (32 + condition)) & 1


@cython.final
cdef class BlockTable:
    cdef Table c
    cdef readonly object descriptor
    cdef public bint whole_system        # its blocks are a whole processor's: engine in system mode
    cdef public object instruction_names  # the disassembler's, by the numbers in forms less one; None: unknown
    cdef void* piece[3]          # what is mapped: header and heads of bank 0, heads of bank 1, the other arrays
    cdef uint64_t piece_bytes[3]
    cdef uint64_t room           # bytes of address space that it may take

    cdef bint map_all(self, uint64_t capacity, uint64_t payload_bytes, bint made=*)
    cdef void lengthen(self, uint64_t size)
    cdef bint map_heads(self, uint64_t used)
    cdef void* map_piece(self, int number, void* place, uint64_t size, uint64_t offset)
    cdef void unmap(self)
    cdef void attach(self)
