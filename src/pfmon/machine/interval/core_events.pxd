"""Events of instructions on an out-of-order core besides misses: see core_events.pyx."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.stream._stream cimport ALWAYS, BranchKind

cdef enum:                       # CoreEvent: the order is that of the occurrences from CORE_LOAD_IN_FLIGHT on
    EVENT_LOAD_IN_FLIGHT = 0
    EVENT_LOAD_L2
    EVENT_LOAD_L3
    EVENT_LOAD_MEMORY
    EVENT_LOAD_WALKED
    EVENT_STORE_WALKED
    EVENT_LOAD_SPLIT
    EVENT_STORE_SPLIT
    EVENT_LOCK_SPLIT
    EVENT_LOAD_PAGE_SPLIT
    EVENT_LOAD_SNOOP_MISS        # + SnoopAnswer - SNOOP_MISS
    EVENT_LOAD_SNOOP_HIT
    EVENT_LOAD_SNOOP_HITM
    EVENT_LOAD_SECOND_TLB
    EVENT_STORE_SECOND_TLB
    EVENT_LOAD_WALK_CYCLE
    EVENT_STORE_WALK_CYCLE
    EVENT_LOAD_BLOCKED
    EVENT_LOAD_ALIASED
    EVENT_LOAD_FORWARDED
    EVENT_READ_L2
    EVENT_READ_L3
    EVENT_READ_MEMORY
    EVENT_OWN_L2
    EVENT_OWN_L3
    EVENT_OWN_MEMORY
    EVENT_FETCH_L2
    EVENT_FETCH_L3
    EVENT_FETCH_MEMORY
    EVENT_SOFTWARE_L2
    EVENT_SOFTWARE_L3
    EVENT_SOFTWARE_MEMORY
    EVENT_PREFETCH_HIT
    EVENT_PREFETCH_L3
    EVENT_PREFETCH_MEMORY
    EVENT_CODE_PREFETCH_HIT
    EVENT_CODE_PREFETCH_L3
    EVENT_CODE_PREFETCH_MEMORY
    EVENT_READ_CYCLE
    EVENT_OWN_CYCLE
    EVENT_FETCH_CYCLE
    EVENT_READ_MEMORY_CYCLE
    EVENT_L2_DROPPED
    EVENT_L2_WRITTEN
    EVENT_FETCH_SECOND_TLB
    EVENT_FETCH_WALK_CYCLE
    EVENT_FETCH_TRANSLATION_CYCLE
    EVENT_FETCH_LINE_CYCLE
    EVENT_REDIRECTED
    EVENT_DECODED_SLOT           # + CodeSource
    EVENT_CACHED_SLOT
    EVENT_LOOPED_SLOT
    EVENT_DECODED_INSTRUCTION
    EVENT_CACHE_LEFT
    EVENT_FULL_CYCLE
    EVENT_STORES_FULL_CYCLE
    EVENT_UNDELIVERED_SLOT
    EVENT_UNDELIVERED_CYCLE
    EVENT_EXECUTIONS             # from here on: those that follow from a block's executions
    EVENT_LOAD_HIT = EVENT_EXECUTIONS
    EVENT_SLOT
    EVENT_UOP
    EVENT_DIVIDER_CYCLE
    EVENT_FUSED
    EVENT_MICROCODE_SLOT
    EVENT_INTEGER_DIVIDER_CYCLE
    CORE_EVENTS

cdef enum:                       # BranchClass: the order is that of the occurrences from CORE_MISPREDICTED_NOT_TAKEN on
    CLASS_NOT_TAKEN = 0
    CLASS_TAKEN
    CLASS_CALL
    CLASS_RETURN
    CLASS_JUMP


cdef inline uint32_t branch_class(uint32_t kind, uint32_t condition, bint taken) noexcept nogil:
    """Returns the class of a branch; ``kind``, ``condition``: as in a description of its instruction."""
    if condition != ALWAYS:
        return CLASS_TAKEN if taken else CLASS_NOT_TAKEN
    if kind == BranchKind.RETURN_BRANCH:
        return CLASS_RETURN
    return CLASS_CALL if kind == BranchKind.DIRECT_CALL or kind == BranchKind.INDIRECT_CALL else CLASS_JUMP
