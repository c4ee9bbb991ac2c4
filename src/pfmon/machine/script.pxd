"""The access log of a block: its requests to memory in order, with their cycles and results.

All requests of a block (pipeline.pyx, front_end.pyx) go through it: a request already in the log is not made again. The
block's timing depends on the log and on nothing else: so a block whose log is memoized needs no simulation
(outcomes.pyx).
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from pfmon.machine.fetch cimport Fetched, InstructionFetch
from pfmon.machine.memory cimport DataMemory
from pfmon.machine.notes cimport Notes
from pfmon.machine.served cimport Served

cdef enum:
    MOST_EVENTS = 96             # of a block
    MOST_WORDS = 2048            # of all their results
    MOST_ANSWER = 512            # ... of one, if the memo is to use it

cdef enum EventKind:
    EVENT_FETCH = 0              # a window of the front end
    EVENT_ACCESS                 # a memory access
    EVENT_FENCE
    EVENT_STORE                  # no answer: a store that was made before issued, loads right behind it may meet it
    EVENT_BANK                   # ... a read that was made before issued: those behind it may meet it in a bank of L2

cdef enum:
    TAKES_A_TURN = 1             # flag of the latter two: others may meet it
    TURN_SHIFT = 1               # ... above it the turn of a read

cdef struct Event:
    int32_t at                   # cycles since the block began
    uint8_t kind                 # EventKind
    uint8_t instruction          # number in the block
    uint16_t access              # number of the access
    uint32_t flags               # of it
    uint16_t window              # of a fetch: bytes after the block's first window
    uint8_t access_kind          # AccessKind
    uint8_t size                 # bytes


cdef inline Event fetch_event(uint32_t instruction, uint64_t window) noexcept nogil:
    cdef Event event
    event.at, event.kind, event.instruction, event.window = 0, EVENT_FETCH, <uint8_t>instruction, <uint16_t>window
    event.access = event.flags = event.access_kind = event.size = 0
    return event


cdef inline Event access_event(int kind, uint32_t instruction, uint32_t access, uint32_t flags, int access_kind,
                               uint32_t size) noexcept nogil:
    cdef Event event
    event.at, event.kind, event.instruction, event.window = 0, <uint8_t>kind, <uint8_t>instruction, 0
    event.access, event.flags, event.access_kind = <uint16_t>access, flags, <uint8_t>access_kind
    event.size = <uint8_t>size
    return event


cdef struct Script:
    bint on                      # it is kept for this block
    bint lost                    # it overflowed
    uint32_t count               # of its events
    uint32_t next                # index of the next request
    int64_t began                # cycle in which the block began
    Event events[MOST_EVENTS]
    uint32_t starts[MOST_EVENTS + 1]     # of their results
    uint64_t words[MOST_WORDS]


cdef inline void begin_script(Script* script, bint on) noexcept nogil:
    script.on, script.lost, script.count, script.next = on, False, 0, 0


cdef inline bint has_room(const Script* script) noexcept nogil:
    """Whether there is room for one more event."""
    return script.on and script.count < MOST_EVENTS and script.starts[script.count] + MOST_ANSWER <= MOST_WORDS


# Ask memory (`ask_access`: for an access or a fence), or take what it has answered; what is noted goes to ``notes``. `Event.at` is worked out here from ``now``.
cdef void ask_fetch(Script* script, InstructionFetch fetch, Notes* notes, const Event* event, uint64_t window, int64_t now,
                    Fetched* out) noexcept nogil
cdef void ask_access(Script* script, DataMemory data, Notes* notes, const Event* event, uint64_t address,
                     int64_t now, Served* out) noexcept nogil
# Logs an event without result; ``address``: of a store or a read of a bank.
cdef void tell(Script* script, DataMemory data, const Event* event, uint64_t address, int64_t now) noexcept nogil
