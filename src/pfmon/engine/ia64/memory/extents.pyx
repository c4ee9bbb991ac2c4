"""Ranges of an address space with one mapping, and their host memory."""

from libc.stdint cimport uint32_t, uint64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy
from posix.mman cimport MAP_ANONYMOUS, MAP_FAILED, MAP_NORESERVE, MAP_PRIVATE, PROT_READ, PROT_WRITE, mmap, munmap


cdef class Extent:
    """Addresses [start, end), whole pages. Its host memory is contiguous until it is shared with another space."""

    cdef Extent cut(self, uint64_t address):
        """Keep the part below ``address``; returns the other part."""
        cdef Extent upper = Extent.__new__(Extent)
        cdef uint64_t below = (address - self.start) >> PAGE_SHIFT, above = (self.end - address) >> PAGE_SHIFT
        upper.start, upper.end, upper.protection, upper.shared = address, self.end, self.protection, self.shared
        if self.pages == NULL:
            upper.host = self.host + (address - self.start)
        else:
            upper.pages = <PageFrame*>malloc(above * sizeof(PageFrame))
            if upper.pages == NULL:
                raise MemoryError
            memcpy(upper.pages, self.pages + below, above * sizeof(PageFrame))
        self.end = address
        return upper

    cdef int separate(self) except -1:
        """Give each page a host address of its own. MemoryError."""
        cdef uint64_t count = (self.end - self.start) >> PAGE_SHIFT, i
        cdef PageFrames* frames
        if self.pages != NULL:
            return 0
        frames = new_frames(self.host, count)
        self.pages = <PageFrame*>malloc(count * sizeof(PageFrame))
        if frames == NULL or self.pages == NULL:
            free(self.pages)
            self.pages = NULL
            raise MemoryError
        for i in range(count):
            self.pages[i] = PageFrame(self.host + (i << PAGE_SHIFT), frames)
            share_page(&self.pages[i])
        self.host = NULL

    cdef Extent share(self):
        """An extent of another address space with the same pages. MemoryError."""
        cdef Extent other = Extent.__new__(Extent)
        cdef uint64_t count = (self.end - self.start) >> PAGE_SHIFT, i
        self.separate()
        other.pages = <PageFrame*>malloc(count * sizeof(PageFrame))
        if other.pages == NULL:
            raise MemoryError
        other.start, other.end, other.protection, other.shared = self.start, self.end, self.protection, self.shared
        memcpy(other.pages, self.pages, count * sizeof(PageFrame))
        for i in range(count):
            share_page(&other.pages[i])
        return other

    cdef int make_all_private(self, SpareFrames* spare) except -1:
        """Copy every page that another address space also has. MemoryError."""
        cdef uint64_t i
        if self.pages == NULL or self.shared:
            return 0
        for i in range((self.end - self.start) >> PAGE_SHIFT):
            if not make_private(spare, &self.pages[i]):
                raise MemoryError

    cdef void release(self):
        """Free the memory; the extent is then empty."""
        cdef uint64_t i
        if self.pages != NULL:
            for i in range((self.end - self.start) >> PAGE_SHIFT):
                drop_page(&self.pages[i])
            free(self.pages)
            self.pages = NULL
        elif self.host != NULL:
            munmap(self.host, self.end - self.start)
            self.host = NULL
        self.end = self.start

    def __dealloc__(self):
        self.release()

    def with_protection(self, uint32_t protection):
        """The same extent with another protection."""
        self.protection = protection
        return self


def new_extent(uint64_t start, uint64_t end, uint32_t protection, bint shared):
    """Zero-filled pages; None: the host has no address space left."""
    cdef Extent made = Extent.__new__(Extent)
    cdef void* host = mmap(
        NULL, end - start, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
    if host == MAP_FAILED:
        return None
    made.start, made.end, made.protection, made.shared, made.host = start, end, protection, shared, <uint8_t*>host
    return made
