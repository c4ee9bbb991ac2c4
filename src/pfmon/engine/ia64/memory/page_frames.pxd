"""Host memory of pages that several address spaces may have: each is copied at its first write."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t


cdef struct PageFrames:          # one piece of the host's address space
    uint8_t* host
    uint64_t pages
    uint64_t live                # references to all of its pages, and from Spare
    uint32_t* shares             # references by page

cdef struct PageFrame:           # location of a region's page
    uint8_t* data
    PageFrames* frames

cdef struct SpareFrames:         # pages allocated one by one, for copies
    PageFrames* frames
    uint64_t used

cdef PageFrames* new_frames(uint8_t* host, uint64_t pages) noexcept nogil
cdef bint make_private(SpareFrames* spare, PageFrame* page) noexcept nogil
cdef void drop_page(PageFrame* page) noexcept nogil
cdef void drop_spare(SpareFrames* spare) noexcept nogil


cdef inline uint32_t* shares_of(const PageFrame* page) noexcept nogil:
    """The number of references to a page."""
    return &page.frames.shares[<uint64_t>(page.data - page.frames.host) >> PAGE_SHIFT]


cdef inline void share_page(const PageFrame* page) noexcept nogil:
    """Add a reference to a page."""
    shares_of(page)[0] += 1
    page.frames.live += 1
