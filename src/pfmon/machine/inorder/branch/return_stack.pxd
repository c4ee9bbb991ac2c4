"""The return stack: calls push their return addresses; beyond its depth the oldest are overwritten."""

from libc.stdint cimport uint32_t, uint64_t

cdef enum:
    MAX_RETURN_ADDRESSES = 64

cdef struct ReturnStack:
    uint32_t depth               # 1 .. MAX_RETURN_ADDRESSES
    uint32_t top                 # the next return's entry
    uint64_t addresses[MAX_RETURN_ADDRESSES]


cdef inline void push_return(ReturnStack* stack, uint64_t address) noexcept nogil:
    stack.top = stack.top + 1 if stack.top + 1 < stack.depth else 0
    stack.addresses[stack.top] = address


cdef inline uint64_t pop_return(ReturnStack* stack) noexcept nogil:
    """Pops the return address of the latest call; entries stay, so that overwritten ones are mispredicted."""
    cdef uint64_t address = stack.addresses[stack.top]
    stack.top = stack.top - 1 if stack.top > 0 else stack.depth - 1
    return address
