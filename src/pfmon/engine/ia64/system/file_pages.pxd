"""Files by the contents of their pages: see file_pages.pyx."""

cimport cython
from libc.stdint cimport uint32_t, uint64_t, uint8_t

cdef struct FilePage:            # a small page of a file
    uint64_t hash
    const uint8_t* content       # NULL: no page is here
    uint32_t file
    uint64_t offset              # in the file

cdef struct PlacedFile:          # a file that code was executed from
    uint32_t file
    uint64_t base                # virtual address of the file's first byte

cdef struct FilePages:
    FilePage* pages              # by hash, with open addressing
    uint64_t capacity, count
    PlacedFile* placed
    uint32_t placed_count

@cython.final
cdef class ExecutableFiles:
    cdef FilePages c
    cdef list contents           # of the files

cdef uint32_t placed_file(FilePages* known, uint64_t address, const uint8_t* content) noexcept nogil
