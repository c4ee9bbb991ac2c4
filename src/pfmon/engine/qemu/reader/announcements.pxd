"""The plugin's announcements, checked and copied by the reader; see announcements.pyx."""

cimport cython
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from pfmon.stream._stream cimport PathTable


cdef enum:
    MAX_CODE_BYTES = 15               # bytes of an instruction
    MAX_ANNOUNCED_PATH = 4096             # of a file's path
    MAX_BODY_BYTES = 255 + 255 * 15 + MAX_ANNOUNCED_PATH

cpdef enum Announced:            # type of an announcement
    NOTHING_NEW = 0
    A_BLOCK = 1                  # a block or a part of one
    A_FILE = 2
    A_PATH = 3
    DAMAGED = 4                  # invalid: not written by the plugin
    NO_ROOM = 5
    A_FUNCTION = 6               # of a Python program

cdef struct Kept:                # of a block, or a part of one
    uint64_t place               # offset of its announcement after the area's head
    uint64_t counters_place      # offset of its counters
    uint64_t counter             # the number of its counter, of translated code that counts in line
    uint64_t last_ip
    uint64_t first_size          # start of its sizes; a block's parts are contiguous
    uint32_t whole               # markers passed when it retires whole
    uint32_t instructions        # of all its parts
    uint32_t counters
    uint8_t parts                # 0: not a block's first
    uint8_t tail
    uint8_t accesses


@cython.final
cdef class Announcements:
    cdef const area* shared      # owned by the ring's reader
    cdef uint64_t area_bytes     # of the whole area
    cdef bint totals             # blocks may have counters
    cdef bint in_line            # translated code writes the stream in line (layout.h)
    cdef uint64_t done           # bytes that were read
    cdef uint64_t count          # blocks and parts
    cdef uint32_t file_count, function_count
    cdef PathTable paths         # of translated code that writes the stream in line; the sizes of blocks, too
    cdef announcement head       # the last one read, copied before its check
    cdef uint8_t body[MAX_BODY_BYTES]  # its sizes and code, or its path
    cdef Kept* kept
    cdef uint8_t* sizes          # of all instructions so far, as announced
    cdef uint64_t capacity, sizes_used, sizes_capacity
    cdef uint32_t parts_left, instructions_left
    cdef uint32_t gathered       # addresses of gathers and scatters in the block at hand

    # Read and check the next one.
    cdef Announced next(self) noexcept nogil
    cdef Announced kind_without_parts(self) noexcept nogil
    cdef bint is_sound(self, uint64_t left) noexcept nogil
    cdef bint is_file(self) noexcept nogil
    cdef bint is_function(self) noexcept nogil
    cdef bint is_path(self) noexcept nogil
    cdef bint is_part(self) noexcept nogil
    cdef bint keep_part(self) noexcept nogil
    cdef bint keep_path(self) noexcept nogil
    cdef bint grow(self, uint64_t capacity) noexcept nogil
    # The block at an offset in the area; NULL: none begins there.
    cdef const Kept* at(self, uint64_t place) noexcept nogil
    # The counters of a block, which the program can overwrite.
    cdef const uint64_t* counters(self, const Kept* block) noexcept nogil
    # ... of one of translated code that counts in line.
    cdef uint64_t counter_in_line(self, uint64_t number) noexcept nogil
