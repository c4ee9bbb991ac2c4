"""Register frames as the pipeline follows them: sizes, and where r32 stands in the scoreboard's ring.

The stream does not say how large frames are; alloc, calls and returns do (SDM volume 1, 4.1).
"""

from libc.stdint cimport int64_t, uint32_t

cdef enum:
    MOST_FRAMES = 4096           # older ones are forgotten: their callers' frames count as empty

cdef struct Frame:
    int64_t sof
    int64_t sol
    int64_t sor

cdef struct Frames:
    Frame now
    uint32_t base                # place of r32 in the ring
    int64_t depth                # frames below the current one
    Frame below[MOST_FRAMES]
    int64_t dirty                # registers of frames below that the register stack engine has not stored


cdef inline uint32_t enter_frame(Frames* frames) noexcept nogil:
    """A call; returns how far r32 moved."""
    cdef uint32_t moved = <uint32_t>frames.now.sol
    frames.below[frames.depth & (MOST_FRAMES - 1)] = frames.now
    frames.depth += 1
    frames.dirty += frames.now.sol
    frames.now.sof -= frames.now.sol
    frames.now.sol = frames.now.sor = 0
    frames.base += moved
    return moved


cdef inline uint32_t leave_frame(Frames* frames) noexcept nogil:
    """A return; returns how far r32 moved down."""
    cdef uint32_t moved
    if frames.depth == 0:
        return 0
    frames.depth -= 1
    frames.now = frames.below[frames.depth & (MOST_FRAMES - 1)]
    moved = <uint32_t>frames.now.sol
    frames.dirty -= frames.now.sol
    if frames.dirty < 0:
        frames.dirty = 0
    frames.base -= moved
    return moved
