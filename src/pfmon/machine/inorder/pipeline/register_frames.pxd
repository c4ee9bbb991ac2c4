"""Register frames as tracked by the pipeline: sizes, and the position of r32 in the scoreboard's ring.

Alloc, calls and returns determine frame sizes (SDM volume 1, 4.1); only a whole system's stream has marks of other
changes.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport realloc


cdef enum:
    INITIAL_FRAMES = 1024
    STACKED_REGISTERS = 96       # physical ones

cdef struct Frame:
    int64_t sof
    int64_t sol
    int64_t sor

cdef struct Frames:
    Frame now
    uint32_t base                # index of r32 in the ring
    int64_t depth                # frames below the current one
    int64_t capacity
    Frame* below
    bint lost                    # sticky: there was no memory for a frame
    int64_t dirty                # registers of lower frames not yet stored by the register stack engine
    OccupancyLevel current_level  # registers of the current frame, over cycles
    OccupancyLevel dirty_level   # dirty registers, over cycles


cdef inline void grow_frames(Frames* frames) noexcept nogil:
    """Doubles the room for frames. Its owner frees `below`."""
    cdef int64_t capacity = 2 * frames.capacity if frames.capacity else INITIAL_FRAMES
    cdef Frame* fresh = <Frame*>realloc(frames.below, <size_t>capacity * sizeof(Frame))
    if fresh == NULL:
        frames.lost = True
        return
    frames.below, frames.capacity = fresh, capacity


cdef inline uint32_t enter_frame(Frames* frames) noexcept nogil:
    """Enters a call; returns the number of registers by which r32 moved up."""
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
    """Enters a return; returns the number of registers by which r32 moved down."""
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


cdef inline void set_frame(Frames* frames, uint64_t value) noexcept nogil:
    """Sets the current frame, by the value of a FRAME; those below it are no longer known."""
    frames.now.sof, frames.now.sol, frames.now.sor = value & 0x7F, value >> 7 & 0x7F, value >> 14 & 0x7F
    frames.dirty = value >> 21 & 0x7F
    frames.depth = 0


cdef inline void set_frame_levels(Frames* frames, int64_t now) noexcept nogil:
    """Sets the levels from cycle ``now`` on. The number of dirty registers is at most that of physical registers
    outside the frame: the others were stored. The tracked number may be larger after a longjmp or a switch of backing
    stores, which the stream does not show."""
    cdef int64_t others = STACKED_REGISTERS - frames.now.sof
    set_level(&frames.current_level, now, <uint32_t>frames.now.sof)
    set_level(&frames.dirty_level, now, <uint32_t>(frames.dirty if frames.dirty < others else others))
