"""Register frames as the pipeline follows them: sizes, and where r32 stands in the scoreboard's ring.

The stream does not say how large frames are; alloc, calls and returns do (SDM volume 1, 4.1).
"""

from libc.stdint cimport int64_t, uint32_t
from libc.stdlib cimport realloc

cdef enum:
    FIRST_FRAMES = 1024
    STACKED_REGISTERS = 96       # physical ones

cdef struct Frame:
    int64_t sof
    int64_t sol
    int64_t sor

cdef struct Frames:
    Frame now
    uint32_t base                # place of r32 in the ring
    int64_t depth                # frames below the current one
    int64_t capacity
    Frame* below
    bint lost                    # sticky: there was no memory for a frame
    int64_t dirty                # registers of frames below that the register stack engine has not stored


cdef inline void grow_frames(Frames* frames) noexcept nogil:
    """Room for as many frames again. Its owner frees `below`."""
    cdef int64_t capacity = 2 * frames.capacity if frames.capacity else FIRST_FRAMES
    cdef Frame* fresh = <Frame*>realloc(frames.below, <size_t>capacity * sizeof(Frame))
    if fresh == NULL:
        frames.lost = True
        return
    frames.below, frames.capacity = fresh, capacity


cdef inline uint32_t enter_frame(Frames* frames) noexcept nogil:
    """A call; returns how far r32 moved."""
    cdef uint32_t moved = <uint32_t>frames.now.sol
    if frames.depth == frames.capacity:
        grow_frames(frames)
    if frames.depth < frames.capacity:
        frames.below[frames.depth] = frames.now
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
    frames.now = frames.below[frames.depth]
    moved = <uint32_t>frames.now.sol
    frames.dirty -= frames.now.sol
    if frames.dirty < 0:
        frames.dirty = 0
    frames.base -= moved
    return moved


cdef inline uint32_t dirty_level(const Frames* frames) noexcept nogil:
    """Dirty registers: no more than there are. What is followed may be more, where a program leaves frames without
    returns (longjmp) or takes another backing store: the stream does not say so."""
    return <uint32_t>(frames.dirty if frames.dirty < STACKED_REGISTERS else STACKED_REGISTERS)
