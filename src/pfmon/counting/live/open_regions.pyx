"""Follows the marks with which a program's threads enter and leave regions (REGION_START, REGION_STOP).

Regions nest in any way: a thread is in a region from its first start on to the stop of it that is one for each start. Each
thread is in regions of its own, and begins outside of all. Names are the guest's memory: they are checked.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcmp, memcpy, memset

from pfmon.stream._stream cimport MAX_REGION_NAME, Mark, mark_kind, mark_value


cdef class OpenRegions:
    """``names``: the regions that count; without any, all those that the program names. ValueError: too many, or no
    valid name."""

    def __cinit__(self, names=()):
        if len(names) > MAX_REGIONS:
            raise ValueError(f"{len(names)} regions: there is room for {MAX_REGIONS}")
        self.thread_count = 1
        self.threads = <ThreadRegions*>calloc(1, sizeof(ThreadRegions))
        if self.threads == NULL:
            raise MemoryError
        self.takes_all = not names
        for name in names:
            if not 0 < len(name) <= MAX_REGION_NAME:
                raise ValueError(f"{name}: a region's name has 1 to {MAX_REGION_NAME} bytes")
            memcpy(self.name, <const char*>name, len(name))
            if not self.is_valid(len(name)):
                raise ValueError(f"{name}: no name of a region")
            self.wanted |= <uint64_t>1 << self.number_of_name(len(name))
        self.named = self.count

    def __dealloc__(self):
        free(self.threads)

    cdef bint switch_thread(self, uint64_t thread) noexcept nogil:
        """Another thread runs; False: there is no memory for it."""
        cdef ThreadRegions* more
        cdef uint64_t count
        if thread >= self.thread_count:
            count = thread + thread // 2 + 1
            more = <ThreadRegions*>realloc(self.threads, count * sizeof(ThreadRegions))
            if more == NULL:
                return False
            memset(more + self.thread_count, 0, (count - self.thread_count) * sizeof(ThreadRegions))
            self.threads, self.thread_count = more, count
        self.thread = thread
        self.now = self.threads[thread].open & self.wanted
        return True

    cdef void take_name(self, uint64_t mark) noexcept nogil:
        """Takes the next bytes of the name of the mark that comes."""
        cdef uint32_t part = <uint32_t>mark_value(mark)
        if self.bytes <= MAX_REGION_NAME:        # a longer one is not valid
            memcpy(self.name + self.bytes, &part, sizeof(part))
            self.bytes += sizeof(part)

    cdef void take_mark(self, uint64_t mark) noexcept nogil:
        """Enters or leaves the region of a mark."""
        cdef uint64_t bytes = mark_value(mark)
        cdef uint32_t number = UNNAMED
        cdef ThreadRegions* own = &self.threads[self.thread]
        if bytes > self.bytes or not self.is_valid(bytes):
            self.invalid += 1
        else:
            number = self.number_of_name(bytes)
            self.beyond += number == UNNAMED
        self.bytes = 0
        if number == UNNAMED:
            return
        if mark_kind(mark) == Mark.REGION_START:
            self.regions[number].entered += own.depth[number] == 0
            own.depth[number] += 1
            own.open |= <uint64_t>1 << number
        elif own.depth[number] == 0:
            self.regions[number].stray += 1
        else:
            own.depth[number] -= 1
            if own.depth[number] == 0:
                own.open &= ~(<uint64_t>1 << number)
        self.now = own.open & self.wanted

    cdef bint is_valid(self, uint64_t bytes) noexcept nogil:
        """Whether the name consists of characters that can be printed and given in an option: UTF-8 without control
        characters, commas and spaces around it."""
        cdef uint64_t i
        if bytes == 0 or bytes > MAX_REGION_NAME or self.name[0] == c" " or self.name[bytes - 1] == c" ":
            return False
        for i in range(bytes):
            if <unsigned char>self.name[i] < 0x20 or self.name[i] == 0x7F or self.name[i] == c",":
                return False
        return True

    cdef uint32_t number_of_name(self, uint64_t bytes) noexcept nogil:
        """Returns the number of the region with the name, a new one if there is room; else UNNAMED."""
        cdef uint32_t number
        cdef KnownRegion* fresh
        for number in range(self.count):
            if self.regions[number].bytes == bytes and memcmp(self.regions[number].name, self.name, bytes) == 0:
                return number
        if self.count == MAX_REGIONS:
            return UNNAMED
        fresh = &self.regions[self.count]
        memcpy(fresh.name, self.name, bytes)
        fresh.bytes = <uint32_t>bytes
        if self.takes_all:
            self.wanted |= <uint64_t>1 << self.count
        self.count += 1
        return self.count - 1

    def seen(self) -> list[tuple[bytes, bool, int, int, int]]:
        """Of each region, by number: its name, whether it counts, how often it was entered from outside, its stops by
        threads outside of it, and how many threads are in it."""
        return [(self.regions[k].name[:self.regions[k].bytes], bool(self.wanted >> k & 1), self.regions[k].entered,
                 self.regions[k].stray, sum(self.threads[t].depth[k] > 0 for t in range(self.thread_count)))
                for k in range(self.count)]

    @property
    def ignored(self) -> tuple[int, int]:
        """Marks without a valid name, and those of regions for which there was no room."""
        return self.invalid, self.beyond
