"""The words of the retirement stream (docs/dev/stream.md).

A word with bit 63 clear is a block that retired: bits 0-31 its number, bits 32-62 which of its conditional
instructions executed. The addresses of the memory accesses that executed follow, if addresses are requested, one
word each, then marks. A word with bit 63 set instead of a block is a mark: bits 56-62 its kind, bits 32-39 the
number of the instruction in the block that caused it, bits 0-31 a value.
"""

from libc.stdint cimport uint64_t

cdef extern from *:
    """
    /* The place behind a number of addresses. By branches, which the host predicts: a sum would let the load of each
       block's word wait for what is looked up of the block before. */
    static inline uint64_t pfmon_past_addresses(uint64_t place, uint64_t count) {
        if (count == 0)
            return place;
        if (count == 1) {
            __asm__("" : "+r"(place));
            return place + 1;
        }
        if (count == 2) {
            __asm__("" : "+r"(place));
            return place + 2;
        }
        if (count == 3) {
            __asm__("" : "+r"(place));
            return place + 3;
        }
        return place + count;
    }
    """
    uint64_t past_addresses "pfmon_past_addresses"(uint64_t place, uint64_t count) nogil

cdef enum:
    CONDITION_SHIFT = 32
    BLOCK_MASK = 0xFFFFFFFF
    MARK_SHIFT = 56
    INDEX_SHIFT = 32             # of the instruction within a mark's value
    NO_INSTRUCTION = 255         # instead of an index: none of the block before the mark
    OUTSIDE = 224                # ... of LEVEL_LEFT and LEVEL_ENTERED; the privilege that was left is added
                                 # (BlockInstruction.privilege)

cpdef enum Mark:                 # kinds of marks
    SYSTEM_CALL = 1              # value: its number
    FAULT = 2                    # value: the vector (cpu.pxd, Fault)
    MODE = 3                     # value: the user mask from the next instruction on
    SPILL = 4                    # value: registers that the RSE stored, NaT collections << 16
    FILL = 5                     # value: registers that the RSE loaded, NaT collections << 16
    ALAT_MISS = 6                # a failed check; value: 0 ld.c, 1 ldf.c, 2 chk.a of a GR, 3 of an FR
    ALAT_REPLACE = 7             # an entry evicted for lack of room; value: 0 integer, 1 floating-point
    MISALIGNED_LOAD = 8          # value: 1
    MISALIGNED_STORE = 9
    DEFERRED = 10                # a speculative load that delivered NaT; value: the reason (Deferral)
    FLUSH_TO_ZERO = 11           # a tiny result; value: 1 flushed to zero, 0 not (flush-to-zero mode was off)
    EXIT = 12                    # value: exit status
    RSE_ADDRESS = 13             # traced streams: the lowest address of the SPILL or FILL before, without an
                                 # instruction: bits 53-55 are the region, bits 0-52 the rest (bits 53-60 of user
                                 # addresses are 0)
    STRING = 14                  # traced streams: a string instruction repeated; value: bytes from the lowest of its
                                 # accesses, whose addresses the block has, to the highest
    TIMES = 15                   # only for readers that add up: the block before ran so many times more
    THREAD = 16                  # another thread of the process runs next; value: its number in order of creation
    PYTHON_CALL = 17             # before the next block a Python function was called; value: its number, from 1 on
    PYTHON_RETURN = 18           # ... so many of those that the interpreter called itself have returned
    PYTHON_LINE = 19             # ... another line began; value: its number in the function's file
    INTERRUPTION = 20            # system mode: delivered before the next instruction; value: its vector's offset
                                 # from IVA
    WALK = 21                    # ... a TLB missed; value: bit 0 of a data reference, bits 1-2 Walk, bits 3-8 the size of
                                 # the inserted page as a power of two
    WALK_ADDRESS = 22            # traced streams: the physical address of the VHPT entry that the WALK before read
    PAGE_ADDRESS = 23            # traced streams: the PAGE_FRAME after it is that of this page of data: its virtual
                                 # address / 4096 in bits 0-51; bit 54: the reference was translated, bit 55: the frame
                                 # is that of all of the 16 KB around it
    PAGE_FRAME = 24              # ... physical address / 4096 in bits 0-37, memory attribute in bits 38-40, bits 0-14 of
                                 # the region identifier in bits 41-55
    LEVEL_LEFT = 25              # system mode: the privilege level changed behind the block; value: the old level
    LEVEL_ENTERED = 26           # ... and the new one
    HALTED = 27                  # system mode: the processor was halted; value: cycles, below 65536
    HALTED_LONG = 28             # ... value: pieces of 65536 cycles
    PURGE = 29                   # traced streams of system mode: translations left the TLBs; value: bit 0 of code, bit 1
                                 # of data, bits 2-7 the size of the range as a power of two, bits 8-22 of the region
                                 # identifier
    PURGE_ADDRESS = 30           # ... the first page of the PURGE before: bits 60-12 of its virtual address
    FRAME = 31                   # traced streams of system mode: the register frame changed otherwise than by calls,
                                 # returns and alloc, and those below it are unknown; value: bits 0-6 its size, 7-13 its
                                 # locals, 14-20 its rotating registers, 21-27 dirty registers of lower frames
    CACHE_FLUSH = 32             # system mode: firmware flushed caches; value: bit 0 those with code, bit 1 those with
                                 # data, bit 2 those of code alone, bit 3 their lines became invalid, else clean
    HW_POLICY = 33               # system mode: firmware was told how threads share a core (PAL_SET_HW_POLICY); value:
                                 # the policy
    TASK = 34                    # system mode: another task of the kernel runs next; value: bits 0-15 its number for
                                 # readers that count by task, and stream_words.TaskBits
    REGION_NAME = 35             # four bytes of the name of the REGION_START or REGION_STOP behind it, the first in bits 0-7; 0
                                 # behind its end
    REGION_START = 36            # the running thread entered a region of its program before the next instruction; value: bytes
                                 # of its name, 0: it has no valid one
    REGION_STOP = 37             # ... and left it
    INTERRUPTED = 38             # system mode, behind an INTERRUPTION that saved the processor's state: the bundle that a
                                 # return from it goes on at, without an instruction; as RSE_ADDRESS

cdef enum TaskBits:              # in TASK
    TASK_NUMBER = 0xFFFF
    TASK_IDLE = 1 << 16          # the processor has nothing to do
    TASK_UNCOUNTED = 1 << 17     # it is not among those to be counted

cdef enum Walk:                  # outcomes in WALK
    WALK_DISABLED = 0            # the walker did not search: an alternate TLB fault
    WALK_MISSED = 1              # its own reference missed: a VHPT translation fault
    WALK_FAILED = 2              # the VHPT has no such translation: a TLB fault
    WALK_INSERTED = 3

cdef enum Deferral:              # values of DEFERRED
    NOT_ALIGNED = 0
    NO_PAGE = 1                  # a TLB miss, on which Linux faults (DCR.dm is 0), sets PSR.ed and restarts the load
    NO_ADDRESS = 2               # the address was a NaT
    NO_RIGHT = 3                 # a fault of the page's access rights, which Linux defers (DCR.dr)

cdef enum:
    MARK_KINDS = 39
    MAX_REGION_NAME = 64         # bytes

cdef inline uint64_t mark_word(int kind, uint64_t value) noexcept nogil:
    return (<uint64_t>1 << 63) | (<uint64_t>kind << MARK_SHIFT) | (value & ((<uint64_t>1 << MARK_SHIFT) - 1))


cdef inline uint64_t indexed(uint64_t value, uint64_t instruction) noexcept nogil:
    """Returns a mark's value with the number of the instruction that caused it."""
    return (value & 0xFFFFFFFFULL) | instruction << INDEX_SHIFT


cdef inline uint64_t packed_address(uint64_t address) noexcept nogil:
    """Packs an address into the value of RSE_ADDRESS."""
    return (address >> 61) << 53 | (address & ((<uint64_t>1 << 53) - 1))


cdef inline uint64_t unpacked_address(uint64_t value) noexcept nogil:
    return (value >> 53 & 7) << 61 | (value & ((<uint64_t>1 << 53) - 1))


cdef inline int mark_kind(uint64_t word) noexcept nogil:
    """Returns the kind of a mark (Mark)."""
    return <int>(word >> MARK_SHIFT & 0x7F)


cdef inline bint names_instruction(uint64_t word) noexcept nogil:
    """Whether a mark has the number of an instruction; those of addresses have not."""
    cdef int kind = mark_kind(word)
    return (kind != Mark.RSE_ADDRESS and not Mark.WALK_ADDRESS <= kind <= Mark.PAGE_FRAME
            and kind != Mark.PURGE_ADDRESS and kind != Mark.INTERRUPTED)


cdef inline uint64_t mark_value(uint64_t word) noexcept nogil:
    return word & 0xFFFFFFFFULL


cdef inline uint64_t mark_instruction(uint64_t word) noexcept nogil:
    """Returns the number of the instruction that caused a mark, or one from OUTSIDE on. RSE_ADDRESS has none."""
    return word >> INDEX_SHIFT & 0xFF


cdef inline bint is_outside(uint64_t word) noexcept nogil:
    """Whether a mark is of no instruction of the block before it."""
    cdef int kind = mark_kind(word)
    return kind == Mark.LEVEL_LEFT or kind == Mark.LEVEL_ENTERED or mark_instruction(word) == NO_INSTRUCTION
