"""Pages that address spaces share until one of them writes (see page_frames.pxd); used by fork."""

from libc.stdlib cimport calloc, free
from libc.string cimport memcpy
from posix.mman cimport (
    MADV_DONTNEED, MAP_ANONYMOUS, MAP_FAILED, MAP_NORESERVE, MAP_PRIVATE, PROT_READ, PROT_WRITE, madvise, mmap, munmap)


cdef enum:
    SPARE_PAGES = 64             # in a piece for copies: 1 MB


cdef PageFrames* new_frames(uint8_t* host, uint64_t pages) noexcept nogil:
    """Records for ``pages`` pages of host memory, which they then own; NULL when out of memory."""
    cdef PageFrames* frames = <PageFrames*>calloc(1, sizeof(PageFrames))
    if frames == NULL:
        return NULL
    frames.shares = <uint32_t*>calloc(pages, sizeof(uint32_t))
    if frames.shares == NULL:
        free(frames)
        return NULL
    frames.host, frames.pages = host, pages
    return frames


cdef void release(PageFrames* frames) noexcept nogil:
    """Drop one reference; the last one returns the memory to the host."""
    frames.live -= 1
    if frames.live == 0:
        munmap(frames.host, frames.pages << PAGE_SHIFT)
        free(frames.shares)
        free(frames)


cdef void drop_page(PageFrame* page) noexcept nogil:
    """Drop a table's reference to a page."""
    cdef uint32_t* shares = shares_of(page)
    shares[0] -= 1
    if shares[0] == 0 and page.frames.live > 1:
        madvise(page.data, PAGE_SIZE, MADV_DONTNEED)
    release(page.frames)


cdef bint allocate_page(SpareFrames* spare, PageFrame* page) noexcept nogil:
    """A page for a copy; False when out of memory."""
    cdef void* host
    if spare.frames == NULL or spare.used == spare.frames.pages:
        host = mmap(NULL, SPARE_PAGES << PAGE_SHIFT, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        if host == MAP_FAILED:
            return False
        drop_spare(spare)
        spare.frames = new_frames(<uint8_t*>host, SPARE_PAGES)
        if spare.frames == NULL:
            munmap(host, SPARE_PAGES << PAGE_SHIFT)
            return False
        spare.frames.live = 1
    page.frames = spare.frames
    page.data = spare.frames.host + (spare.used << PAGE_SHIFT)
    spare.used += 1
    share_page(page)
    return True


cdef bint make_private(SpareFrames* spare, PageFrame* page) noexcept nogil:
    """Make the page exclusive: copy it if it is shared. False when out of memory."""
    cdef PageFrame fresh
    if shares_of(page)[0] == 1:
        return True
    if not allocate_page(spare, &fresh):
        return False
    memcpy(fresh.data, page.data, PAGE_SIZE)
    drop_page(page)
    page[0] = fresh
    return True


cdef void drop_spare(SpareFrames* spare) noexcept nogil:
    """Release the pages left for copies."""
    if spare.frames != NULL:
        release(spare.frames)
    spare.frames = NULL
    spare.used = 0
