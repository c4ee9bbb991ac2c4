"""Files in memory that several processes map."""

from libc.stdint cimport uint64_t


cdef extern from "<sys/mman.h>" nogil:
    void* mmap(void*, size_t, int, int, int, long)
    int munmap(void*, size_t)
    int PROT_READ, PROT_WRITE, MAP_SHARED, MAP_PRIVATE, MAP_ANONYMOUS, MAP_NORESERVE
    int MAP_POPULATE             # all pages at once: a fault for each takes four times as long
    void* MAP_FAILED


# Largest size of a file in bytes (RLIMIT_FSIZE); 2**64 - 1: it is not limited.
cdef uint64_t largest_file() noexcept

# Bytes of address space that the process may still take (RLIMIT_AS); 2**64 - 1: it is not limited.
cdef uint64_t free_address_space() except? 0

# Makes a file of so many bytes, sealed against changes of its size; returns its descriptor. MemoryError, OSError.
cdef int make_memory_file(name, uint64_t size) except -1

# Seals the size of a file. OSError.
cdef int seal_size(int descriptor) except -1
