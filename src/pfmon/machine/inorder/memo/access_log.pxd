"""The access log of a block: its requests to memory in order, with their cycles and results.

All requests of a block (pipeline.pyx, front_end.pyx) go through it; a request already in the log is not repeated. The
log determines the block's timing, so a block with a memoized log needs no simulation (response_tree.pyx).
"""

from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t, uint8_t


cdef enum:
    MAX_MEMORY_EVENTS = 96       # of a block
    MAX_LOG_WORDS = 2048         # of all their results
    MAX_RESPONSE_WORDS = 512     # ... of one, if the memo is to use it

cdef enum MemoryEventKind:
    EVENT_FETCH = 0              # a window of the front end
    EVENT_ACCESS                 # a memory access
    EVENT_FENCE
    EVENT_STORE                  # issue of a store of the fast path, without a result: later loads may conflict with it
    EVENT_BANK                   # ... of a read of the fast path: later reads may conflict with it in a bank of L2

cdef enum:
    OCCUPIES_BANK = 1            # flag of EVENT_STORE and EVENT_BANK: it occupies a tag port, a read also a bank
    REISSUE_SHIFT = 1            # ... above it the number of reissues of a read

cdef struct MemoryEvent:
    int32_t at                   # cycles since the block began
    uint8_t kind                 # MemoryEventKind
    uint8_t instruction          # number in the block
    uint16_t access              # number of the access
    uint32_t flags               # of it
    uint16_t window              # of a fetch: bytes after the block's first window
    uint8_t access_kind          # AccessKind
    uint8_t size                 # bytes


cdef inline MemoryEvent fetch_event(uint32_t instruction, uint64_t window) noexcept nogil:
    cdef MemoryEvent event
    event.at, event.kind, event.instruction, event.window = 0, EVENT_FETCH, <uint8_t>instruction, <uint16_t>window
    event.access = event.flags = event.access_kind = event.size = 0
    return event


cdef inline MemoryEvent access_event(int kind, uint32_t instruction, uint32_t access, uint32_t flags, int access_kind,
                               uint32_t size) noexcept nogil:
    cdef MemoryEvent event
    event.at, event.kind, event.instruction, event.window = 0, <uint8_t>kind, <uint8_t>instruction, 0
    event.access, event.flags, event.access_kind = <uint16_t>access, flags, <uint8_t>access_kind
    event.size = <uint8_t>size
    return event


cdef struct AccessLog:
    bint on                      # requests of this block are logged
    bint lost                    # it overflowed
    uint32_t count               # of its events
    uint32_t next                # index of the next request
    int64_t began                # cycle in which the block began
    MemoryEvent events[MAX_MEMORY_EVENTS]
    uint32_t starts[MAX_MEMORY_EVENTS + 1]  # of their results
    uint64_t words[MAX_LOG_WORDS]


cdef inline void begin_log(AccessLog* log, bint on) noexcept nogil:
    log.on, log.lost, log.count, log.next = on, False, 0, 0


cdef inline bint has_room(const AccessLog* log) noexcept nogil:
    """Whether there is room for one more event."""
    return log.on and log.count < MAX_MEMORY_EVENTS and log.starts[log.count] + MAX_RESPONSE_WORDS <= MAX_LOG_WORDS


# Request a fetch window, an access or a fence from memory, or return the logged result. Events are recorded in
# ``event_log``. `MemoryEvent.at` is computed from ``now``.
cdef void request_fetch_window(AccessLog* log, InstructionFetch fetch, EventLog* event_log, const MemoryEvent* event,
                               uint64_t window, int64_t now,
                    Fetched* out) noexcept nogil
cdef void request_access(AccessLog* log, DataMemory data, EventLog* event_log, const MemoryEvent* event,
                         uint64_t address,
                     int64_t now, AccessResult* out) noexcept nogil
# Logs an event without result; ``address``: of a store or a read of a bank.
cdef void log_event(AccessLog* log, DataMemory data, const MemoryEvent* event, uint64_t address,
                    int64_t now) noexcept nogil
