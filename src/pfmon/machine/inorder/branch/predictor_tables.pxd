"""State of the branch predictors: two-bit counters, histories of outcomes, the return stack."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t


# Two-level direction prediction: a branch's latest outcomes (its history) select a two-bit counter.

cdef inline uint8_t fresh_counter(uint32_t history, uint32_t bits) noexcept nogil:
    """Returns an untrained counter: as the latest outcome, strongly if all outcomes were alike."""
    if history == 0:
        return 0
    if history == (1 << bits) - 1:
        return 3
    return 2 if history & 1 else 1


cdef enum:
    STEPS = 0xED84               # next state of a counter: two bits for each counter * 2 + taken


cdef inline uint8_t stepped(uint8_t counter, bint taken) noexcept nogil:
    """Returns a counter after one step towards 3 (taken) or 0 (not taken); 2 and 3 predict taken. Branchless: the host
    would often mispredict a branch where the program's own processor mispredicts."""
    return STEPS >> (counter * 4 + taken * 2) & 3


cdef inline void train(uint8_t* counter, bint taken) noexcept nogil:
    counter[0] = stepped(counter[0], taken)


cdef inline uint32_t longer_history(uint32_t history, uint32_t bits, bint taken) noexcept nogil:
    return (history << 1 | taken) & ((1 << bits) - 1)


# The return stack: calls push their return addresses; beyond its depth the oldest are overwritten.

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
