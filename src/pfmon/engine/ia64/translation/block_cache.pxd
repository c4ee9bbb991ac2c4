"""Block records: every block ever translated keeps its number and its instructions."""

from libc.stdint cimport uint32_t, uint64_t

from pfmon.stream._stream cimport Arena, Table

cdef enum:
    TABLE_SIZE = 1 << 14

cdef struct MappedFile:          # code [start, end) is from a file that the program has mapped
    uint64_t start, end
    uint32_t number

cdef struct BlockCache:
    Block** by_number            # NULL for blocks of another processor's cache, which has the same table
    uint64_t count               # the highest number, and 1
    uint64_t capacity
    Arena records                # the blocks; never freed
    Arena operations             # of the translated ones
    Block* by_code[TABLE_SIZE]   # all, by code, chained through Block.same
    Block* by_ip[TABLE_SIZE]     # those that have operations, chained through Block.beside
    Block* translated            # the same, chained through Block.translated
    Table* table
    MappedFile* files            # mapped at present
    uint32_t file_count
    uint32_t max_block           # instructions in a block, at most (1: instruction by instruction)
    uint32_t trace               # write the addresses of memory accesses
    Link** page_links            # system mode: links from one page of code to another
    uint64_t page_link_count
    uint64_t page_link_capacity

# The physical address of a block's code, and the mode (Cpu.mode) that it was translated for; both are 0 in user mode.
cdef struct BlockPlace:
    uint64_t physical
    uint32_t mode
    uint32_t privilege           # of BlockInstruction

cdef BlockPlace place_of_block(const Cpu* cpu, uint64_t ip) noexcept nogil
cdef void note_page_link(BlockCache* blocks, Link* link) noexcept nogil
cdef void unlink_pages(Cpu* cpu, BlockCache* blocks) noexcept nogil
cdef Block* find_block(BlockCache* blocks, uint64_t ip, const BlockPlace* place) noexcept nogil
cdef Block* cut_block(BlockCache* blocks, Block* whole, uint32_t length, uint32_t kind) noexcept nogil
cdef Block* block_of(const Cpu* cpu, BlockCache* blocks, uint64_t ip, Instruction* code, uint32_t length,
                     const BlockPlace* place) noexcept nogil
cdef void note_translation(BlockCache* blocks, Block* block) noexcept nogil
cdef void forget_translations(Cpu* cpu, BlockCache* blocks) noexcept nogil
cdef void free_blocks(BlockCache* blocks) noexcept nogil
