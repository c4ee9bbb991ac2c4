"""Parallel integer arithmetic: a general register as eight, four or two lanes of 8, 16 or 32 bits."""

from libc.stdint cimport int64_t, uint64_t

ctypedef int64_t (*Lane)(int64_t x, int64_t y) noexcept nogil


cdef inline int64_t signed_lane(uint64_t value, int lane, int width) noexcept nogil:
    """A lane, sign-extended; lane 0 is the least significant."""
    return <int64_t>(value << (64 - width * (lane + 1))) >> (64 - width)


cdef inline int64_t unsigned_lane(uint64_t value, int lane, int width) noexcept nogil:
    return <int64_t>((value << (64 - width * (lane + 1))) >> (64 - width))


cdef inline int64_t clamp(int64_t value, int64_t low, int64_t high) noexcept nogil:
    return low if value < low else high if value > high else value


cdef inline uint64_t joined(int64_t value, int lane, int width) noexcept nogil:
    """The low bits of ``value`` at a lane's position."""
    return (<uint64_t>value & ((<uint64_t>1 << width) - 1)) << (width * lane)


cdef inline uint64_t each_signed(uint64_t x, uint64_t y, int width, Lane operation) noexcept nogil:
    """``operation`` on every pair of lanes, taken as signed; the result's low bits are kept."""
    cdef uint64_t result = 0
    cdef int lane
    for lane in range(64 // width):
        result |= joined(operation(signed_lane(x, lane, width), signed_lane(y, lane, width)), lane, width)
    return result


cdef inline uint64_t each_unsigned(uint64_t x, uint64_t y, int width, Lane operation) noexcept nogil:
    """``operation`` on every pair of lanes, taken as unsigned; the result's low bits are kept."""
    cdef uint64_t result = 0
    cdef int lane
    for lane in range(64 // width):
        result |= joined(operation(unsigned_lane(x, lane, width), unsigned_lane(y, lane, width)), lane, width)
    return result


cdef inline uint64_t saturate_sss(uint64_t x, uint64_t y, int width, Lane operation) noexcept nogil:
    """Signed lanes, signed result: clipped to ``width`` bits."""
    cdef uint64_t result = 0
    cdef int lane
    cdef int64_t most = (<int64_t>1 << (width - 1)) - 1
    cdef int64_t value
    for lane in range(64 // width):
        value = operation(signed_lane(x, lane, width), signed_lane(y, lane, width))
        result |= joined(clamp(value, -most - 1, most), lane, width)
    return result


cdef inline uint64_t saturate_uuu(uint64_t x, uint64_t y, int width, Lane operation) noexcept nogil:
    """Unsigned lanes, unsigned result."""
    cdef uint64_t result = 0
    cdef int lane
    cdef int64_t most = (<int64_t>1 << width) - 1
    cdef int64_t value
    for lane in range(64 // width):
        value = operation(unsigned_lane(x, lane, width), unsigned_lane(y, lane, width))
        result |= joined(clamp(value, 0, most), lane, width)
    return result


cdef inline uint64_t saturate_uus(uint64_t x, uint64_t y, int width, Lane operation) noexcept nogil:
    """Unsigned result of unsigned lanes of x and signed lanes of y."""
    cdef uint64_t result = 0
    cdef int lane
    cdef int64_t most = (<int64_t>1 << width) - 1
    cdef int64_t value
    for lane in range(64 // width):
        value = operation(unsigned_lane(x, lane, width), signed_lane(y, lane, width))
        result |= joined(clamp(value, 0, most), lane, width)
    return result


cdef inline uint64_t narrowed(uint64_t x, uint64_t y, int width, int64_t low, int64_t high) noexcept nogil:
    """The signed lanes of x, above them those of y, each clipped to half its width."""
    cdef uint64_t result = 0
    cdef int lane
    cdef int lanes = 64 // width
    for lane in range(lanes):
        result |= joined(clamp(signed_lane(x, lane, width), low, high), lane, width // 2)
        result |= joined(clamp(signed_lane(y, lane, width), low, high), lane + lanes, width // 2)
    return result


cdef inline uint64_t interleaved(uint64_t x, uint64_t y, int width, int first, int step) noexcept nogil:
    """Lanes first, first + step, ... of both, alternating; each lane of x left of that of y."""
    cdef uint64_t result = 0
    cdef int pair
    for pair in range(32 // width):
        result |= joined(unsigned_lane(y, first + pair * step, width), 2 * pair, width)
        result |= joined(unsigned_lane(x, first + pair * step, width), 2 * pair + 1, width)
    return result


cdef inline int64_t plus(int64_t x, int64_t y) noexcept nogil:
    return x + y


cdef inline int64_t minus(int64_t x, int64_t y) noexcept nogil:
    return x - y


cdef inline int64_t average(int64_t x, int64_t y) noexcept nogil:
    """The average, rounded without bias: the low bit is set when either of the sum's two low bits is."""
    return ((x + y) >> 1) | ((x + y) & 1)


cdef inline int64_t average_away(int64_t x, int64_t y) noexcept nogil:
    """The average, rounded away from zero."""
    return (x + y + 1) >> 1


cdef inline int64_t average_difference(int64_t x, int64_t y) noexcept nogil:
    return ((x - y) >> 1) | ((x - y) & 1)


cdef inline int64_t equal(int64_t x, int64_t y) noexcept nogil:
    return -(x == y)


cdef inline int64_t greater(int64_t x, int64_t y) noexcept nogil:
    return -(x > y)


cdef inline int64_t least(int64_t x, int64_t y) noexcept nogil:
    return x if x < y else y


cdef inline int64_t most_of(int64_t x, int64_t y) noexcept nogil:
    return x if x > y else y
