"""Which file a page of a process's code is a copy of, by its content: the kernel alone knows what it has mapped.

A page whose content no file has (code that was generated, or written to) belongs to none.
"""

from libc.stdint cimport uint32_t, uint64_t, uint8_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcmp, memcpy


cdef uint64_t page_hash(const uint8_t* content) noexcept nogil:
    cdef uint64_t hash = SMALL_PAGE, word
    cdef uint32_t at
    for at in range(0, SMALL_PAGE, 8):
        memcpy(&word, content + at, 8)
        hash = (hash ^ word) * <uint64_t>0x9E3779B97F4A7C15
        hash ^= hash >> 29
    return hash


cdef void enter_page(FilePages* known, const FilePage* page) noexcept nogil:
    cdef uint64_t at = page.hash & (known.capacity - 1)
    while known.pages[at].content != NULL:
        at = (at + 1) & (known.capacity - 1)
    known.pages[at] = page[0]
    known.count += 1


cdef bint double_pages(FilePages* known) noexcept nogil:
    """Double the room for pages; False: out of memory."""
    cdef FilePages wider = known[0]
    cdef uint64_t i
    wider.capacity, wider.count = 2 * known.capacity or 256, 0
    wider.pages = <FilePage*>calloc(wider.capacity, sizeof(FilePage))
    if wider.pages == NULL:
        return False
    for i in range(known.capacity):
        if known.pages[i].content != NULL:
            enter_page(&wider, &known.pages[i])
    free(known.pages)
    known[0] = wider
    return True


cdef uint32_t number_of_place(const FilePages* known, uint32_t file, uint64_t base) noexcept nogil:
    """The number of a file at its place, from 1 on; 0: no code of it there was executed yet."""
    cdef uint32_t i
    for i in range(known.placed_count):
        if known.placed[i].file == file and known.placed[i].base == base:
            return i + 1
    return 0


cdef uint32_t place_file(FilePages* known, uint32_t file, uint64_t base) noexcept nogil:
    """Give a file at its place the next number; 0: out of memory."""
    cdef PlacedFile* wider = <PlacedFile*>realloc(known.placed, (known.placed_count + 1) * sizeof(PlacedFile))
    if wider == NULL:
        return 0
    known.placed = wider
    known.placed[known.placed_count].file, known.placed[known.placed_count].base = file, base
    known.placed_count += 1
    return known.placed_count


cdef uint32_t placed_file(FilePages* known, uint64_t address, const uint8_t* content) noexcept nogil:
    """The number of the file that a page at a virtual address is a copy of, at the place where it then is; 0: none.
    Of several, one that has a number."""
    cdef uint64_t hash, at
    cdef uint32_t number
    cdef const FilePage* page
    cdef const FilePage* first = NULL
    if known.count == 0:
        return 0
    hash = page_hash(content)
    at = hash & (known.capacity - 1)
    while known.pages[at].content != NULL:
        page = &known.pages[at]
        if page.hash == hash and memcmp(page.content, content, SMALL_PAGE) == 0:
            number = number_of_place(known, page.file, address - page.offset)
            if number:
                return number
            first = first or page
        at = (at + 1) & (known.capacity - 1)
    return place_file(known, first.file, address - first.offset) if first != NULL else 0


cdef class ExecutableFiles:
    """Files of which a system's processors may execute code. Processors that have it mark their blocks."""

    def __cinit__(self):
        self.contents = []

    def __dealloc__(self):
        free(self.c.pages)
        free(self.c.placed)

    def add(self, content, ranges):
        """Add a file; its number, from 0 on. ``ranges``: offsets (first, beyond) of its code in it."""
        cdef bytes padded = bytes(content).ljust(len(content) + SMALL_PAGE - 1 & -SMALL_PAGE, b"\0")
        cdef const uint8_t* start = padded
        cdef FilePage page
        cdef uint64_t at
        self.contents.append(padded)                     # the pages point into it
        page.file = len(self.contents) - 1
        for first, beyond in ranges:
            for at in range(first & -SMALL_PAGE, min(beyond, len(padded)), SMALL_PAGE):
                if 2 * self.c.count >= self.c.capacity and not double_pages(&self.c):
                    raise MemoryError
                page.content, page.offset = start + at, at
                page.hash = page_hash(page.content)
                enter_page(&self.c, &page)
        return page.file

    def placed(self):
        """(file, virtual address of its first byte) of each file that code was executed from, by the numbers that blocks
        have, from 1 on."""
        return [(self.c.placed[i].file, self.c.placed[i].base) for i in range(self.c.placed_count)]
