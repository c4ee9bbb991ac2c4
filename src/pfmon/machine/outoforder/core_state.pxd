"""The state of an out-of-order core between two instructions: see core_state.pyx."""

cimport cython
from libc.stdint cimport int16_t, int32_t, uint8_t, uint32_t, uint64_t

cdef enum:
    CORE_REGISTERS = 64          # bits of RegisterMasks
    CORE_OPERANDS = 72           # registers, and one that is always ready
    CARRY_FLAG = 16
    OTHER_FLAGS = 17
    X87_REGISTER = 18            # the first of eight
    CORE_PORTS = 16              # execution ports, then units that are not pipelined
    LATE_PORTS = 8
    PORT_RING = 10               # lines from and to L3
    PORT_WALKER = 11             # page walks
    PORT_BUS = 12                # lines from and to memory
    PORT_DIVIDER = 13
    PORT_LOCK = 14               # locked accesses: one at a time
    PORT_FILL = 15               # lines on their way to L1D: line fill buffers
    BUFFER_GROUPS = 16
    QUARTER = 4                  # of a cycle: the front end's unit
    LONGEST_QUEUE = 20000        # cycles of work queued for a unit
    LONGEST_LAG = 15000          # cycles that retirement may be behind dispatch
    LONGEST_BLOCK = 12000        # cycles of dispatch before times are made relative again

cdef enum:
    REORDER_BUFFER = 0           # µops, until they retire
    RESERVATION_STATION          # µops that wait for their operands
    LOAD_BUFFER                  # loads, until they retire
    STORE_BUFFER                 # stores, until they are committed to L1D
    CORE_BUFFERS

cdef struct Occupants:           # of a buffer that is left in order: the cycles until groups of them have left
    int16_t left[BUFFER_GROUPS]  # the oldest group first
    int16_t last                 # of the group that is being entered
    int16_t entered              # entries of that group so far
    int16_t active               # 0: no group is counted, as all leave before the buffer can be full
    int16_t spare

cdef struct BufferSize:
    int32_t group, groups        # entries of a group; their number
    int32_t hidden               # cycles in which the buffer cannot be filled

# Times are cycles from the one in which the next instruction may dispatch; 0: not later than it.
cdef struct CoreState:
    int16_t registers[CORE_OPERANDS]  # until their values are ready
    int16_t ports[CORE_PORTS]    # work queued for a port
    int16_t late[LATE_PORTS]     # until the last µop that waited for its operands has started there
    int16_t retired              # until all instructions so far have retired
    int16_t committed            # until their stores are in L1D
    int16_t front_end            # quarters of a cycle until the next instructions are decoded; negative: lead
    int16_t slot                 # µops that dispatched in this cycle
    int16_t front_cause          # DelayCause of the front end's delay
    int16_t spare[11]            # words of a whole number of hash lanes
    Occupants buffers[CORE_BUFFERS]


cdef inline bint has_occupants(const CoreState* state) noexcept nogil:
    return state.buffers[0].active | state.buffers[1].active | state.buffers[2].active | state.buffers[3].active


cdef inline uint64_t state_bytes(const CoreState* state) noexcept nogil:
    """Returns how many bytes of a state are not 0 at its end."""
    return sizeof(CoreState) if has_occupants(state) else sizeof(CoreState) - CORE_BUFFERS * sizeof(Occupants)


cdef inline int32_t until_room(const Occupants* buffer, int32_t cycle) noexcept nogil:
    """Returns the cycle in which an entry is free, not before ``cycle``."""
    if buffer.entered == 0 and buffer.left[0] > cycle:
        return buffer.left[0]
    return cycle


cdef inline void enter(Occupants* buffer, const BufferSize* size, int32_t cycle, int32_t leaves,
                       int32_t entries) noexcept nogil:
    """Enters so many that dispatch in a cycle and leave in another one."""
    if not buffer.active:
        if leaves - cycle <= size.hidden:
            return
        buffer.active = 1
    if leaves > buffer.last:
        buffer.last = <int16_t>leaves
    buffer.entered += entries
    if buffer.entered >= size.group:
        next_group(buffer, size)


cdef void next_group(Occupants* buffer, const BufferSize* size) noexcept nogil
# Lets so many cycles pass.
cdef void advance(CoreState* state, int32_t cycles, const BufferSize* sizes) noexcept nogil
