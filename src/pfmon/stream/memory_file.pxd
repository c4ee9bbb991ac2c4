"""Files in memory that several processes map."""

from libc.stdint cimport uint64_t

# A descriptor of a file of so many bytes, which nobody can make shorter or longer. MemoryError, OSError.
cdef int make_memory_file(name, uint64_t size) except -1

# Nobody can make the file shorter or longer from here on. OSError.
cdef int seal_size(int descriptor) except -1
