"""mmap(2)."""

cdef extern from "<sys/mman.h>" nogil:
    void* mmap(void*, size_t, int, int, int, long)
    int munmap(void*, size_t)
    int PROT_READ, PROT_WRITE, MAP_SHARED, MAP_PRIVATE, MAP_ANONYMOUS, MAP_NORESERVE
    int MAP_POPULATE             # all pages at once: a fault for each takes four times as long
    void* MAP_FAILED
