"""Files in memory that several processes map."""

from libc.stdint cimport uint64_t

# Makes a file of so many bytes, sealed against changes of its size; returns its descriptor. MemoryError, OSError.
cdef int make_memory_file(name, uint64_t size) except -1

# Seals the size of a file. OSError.
cdef int seal_size(int descriptor) except -1
