"""Reads the plugin's announcements: blocks with their code, and mapped files.

The program can write to the area. So an announcement is copied first, then checked against the plugin's format, and
kept in memory that no program reaches.
"""

from libc.stdlib cimport free, realloc
from libc.string cimport memchr, memcpy

from pfmon.stream._stream cimport BlockSize, CONDITION_SHIFT, Cut, MAX_BLOCK_LENGTH, PathHead, PathTable


cdef enum:
    INITIAL_BLOCKS = 1 << 10
    MAX_PATH_ADDRESSES = 1 << 14     # a fraction of a buffer


cdef inline uint64_t body_bytes(const announcement* it) noexcept nogil:
    return <uint64_t>it.length + it.bytes


cdef inline uint64_t before_counters(const announcement* it) noexcept nogil:
    """Bytes of an announcement without its counters."""
    return (sizeof(announcement) + body_bytes(it) + 7) & ~<uint64_t>7


cdef class Announcements:
    """The announcements of one area, in order."""

    def __cinit__(self):
        self.paths = PathTable()

    def __dealloc__(self):
        free(self.kept)
        free(self.sizes)

    cdef Announced next(self) noexcept nogil:
        cdef uint64_t announced = read_once(&self.shared.announced), left
        cdef const uint8_t* place = <const uint8_t*>self.shared + AREA_HEAD + self.done
        cdef Announced what
        if announced == self.done:
            return DAMAGED if self.parts_left else NOTHING_NEW
        left = announced - self.done
        if announced < self.done or announced > self.area_bytes - AREA_HEAD or left < sizeof(announcement):
            return DAMAGED
        memcpy(&self.head, place, sizeof(announcement))
        if body_bytes(&self.head) > MAX_BODY_BYTES or before_counters(&self.head) > left:
            return DAMAGED
        memcpy(self.body, place + sizeof(announcement), body_bytes(&self.head))
        if not self.is_sound(left):
            return DAMAGED
        what = A_BLOCK if self.head.parts else self.kind_without_parts()
        if (what == A_BLOCK and not self.keep_part()) or (what == A_PATH and not self.keep_path()):
            return NO_ROOM
        self.done += before_counters(&self.head) + self.head.counters * sizeof(uint64_t)
        return what

    cdef Announced kind_without_parts(self) noexcept nogil:
        if not self.head.bytes:
            return A_PATH
        return A_FUNCTION if self.head.number == ANNOUNCES_FUNCTION else A_FILE

    cdef bint is_sound(self, uint64_t left) noexcept nogil:
        """Whether the plugin can have written this announcement here. ``left``: announced bytes not yet read."""
        if before_counters(&self.head) + <uint64_t>self.head.counters * sizeof(uint64_t) > left:
            return False
        if self.head.parts:
            return self.is_part()
        if self.in_line and self.head.bytes and self.head.number == ANNOUNCES_FUNCTION:
            return self.is_function()
        return self.is_file() if self.head.bytes or not self.in_line else self.is_path()

    cdef bint is_file(self) noexcept nogil:
        cdef bint sound = self.parts_left == 0 and self.head.length == 0 and self.head.counters == 0 \
            and 0 < self.head.bytes <= MAX_ANNOUNCED_PATH and self.head.ip < self.head.last_ip \
            and memchr(self.body, 0, self.head.bytes) == NULL
        self.file_count += sound
        return sound

    cdef bint is_function(self) noexcept nogil:
        """Whether this is a function of a Python program: its name, then its file's."""
        cdef bint sound = self.parts_left == 0 and self.head.length == 0 and self.head.counters == 0 \
            and self.head.bytes <= MAX_ANNOUNCED_PATH and 0 < self.head.last_ip <= self.head.bytes \
            and self.head.ip < <uint64_t>1 << 32 and memchr(self.body, 0, self.head.bytes) == NULL
        self.function_count += sound
        return sound

    cdef bint is_path(self) noexcept nogil:
        """Whether this is a path: of known blocks, and not too long."""
        cdef const announcement* it = &self.head
        cdef uint64_t before = it.ip & (TAKEN_IN_LINE - 1), addresses
        if it.number != self.paths.count or it.length or it.counters or it.last_ip >= self.count \
                or it.ip >= 2 * <uint64_t>PATH_IN_LINE:
            return False
        if not it.ip & PATH_IN_LINE:
            return before < self.count
        if before >= self.paths.count:
            return False
        addresses = self.paths.sizes[before].addresses + self.paths.block_sizes[it.last_ip].addresses
        return self.paths.heads[before].blocks < MAX_PATH_BLOCKS and addresses < MAX_PATH_ADDRESSES

    cdef bint keep_path(self) noexcept nogil:
        """Keep this path; False: out of memory."""
        cdef const announcement* it = &self.head
        cdef uint64_t before = it.ip & (TAKEN_IN_LINE - 1), blocks = 1
        cdef uint64_t words[MAX_PATH_BLOCKS]
        cdef uint64_t taken = <uint64_t>(it.ip & TAKEN_IN_LINE != 0) << CONDITION_SHIFT
        cdef BlockSize size = self.paths.block_sizes[it.last_ip], size_before
        cdef PathHead* head
        if it.ip & PATH_IN_LINE:
            head = &self.paths.heads[before]
            blocks = head.blocks
            memcpy(words, self.paths.words + head.first, blocks * sizeof(uint64_t))
            size_before = self.paths.sizes[before]
        else:
            words[0] = before
            size_before = self.paths.block_sizes[before]
        words[blocks - 1] |= taken
        size.addresses += size_before.addresses
        size.instructions += size_before.instructions
        head = self.paths.enter(words, blocks, it.last_ip, size)
        if head == NULL:
            return False
        head.counter = <uint32_t>(self.count + self.paths.count - 1)
        return True

    cdef bint is_part(self) noexcept nogil:
        """Whether this is the next part of the last block, or the first of another one."""
        cdef const announcement* it = &self.head
        cdef uint64_t bytes = 0, slots = 0
        cdef uint32_t i, size, instruction_slots, first = self.parts_left == 0
        if first:
            self.gathered = 0
            self.instructions_left = it.instructions
            self.parts_left = it.parts
            if not 0 < it.instructions <= MAX_TRANSLATED_INSTRUCTIONS \
                    or it.parts != (it.instructions + MAX_BLOCK_LENGTH - 1) // MAX_BLOCK_LENGTH:
                return False
        if it.number != self.count or it.length != min(<uint32_t>MAX_BLOCK_LENGTH, self.instructions_left) \
                or it.file > self.file_count or it.tail > REPEATED or it.counters > MAX_TRANSLATED_INSTRUCTIONS + 1 \
                or (it.counters and not (first and self.totals)) or (it.counters == 1) \
                or it.cut not in (Cut.WHOLE, Cut.FAULTED, Cut.EDGE):
            return False
        for i in range(it.length):
            size = self.body[i] & SIZE_BITS
            if not 0 < size <= MAX_CODE_BYTES or bytes + size > it.bytes:
                return False
            instruction_slots = self.body[i] >> SLOTS_SHIFT & 3
            if instruction_slots == GATHER_SLOTS:
                instruction_slots = x86_gather_of(self.body + it.length + bytes, size).elements
                self.gathered += instruction_slots
                if instruction_slots == 0:
                    return False
            bytes += size
            slots += instruction_slots
        if bytes != it.bytes or slots != it.slots or self.gathered > MAX_GATHER_SLOTS:
            return False
        self.parts_left -= 1
        self.instructions_left -= it.length
        return True

    cdef bint keep_part(self) noexcept nogil:
        """Keep the needed data of this part; False: out of memory."""
        cdef const announcement* it = &self.head
        cdef Kept* kept
        cdef uint8_t* sizes
        if self.count == self.capacity and not self.grow(max(INITIAL_BLOCKS, 2 * self.capacity)):
            return False
        if self.sizes_used + it.length > self.sizes_capacity:
            sizes = <uint8_t*>realloc(self.sizes, 2 * (self.sizes_capacity + MAX_BODY_BYTES))
            if sizes == NULL:
                return False
            self.sizes, self.sizes_capacity = sizes, 2 * (self.sizes_capacity + MAX_BODY_BYTES)
        kept = &self.kept[self.count]
        kept.place, kept.counters_place = self.done, self.done + before_counters(it)
        kept.counter = self.count + self.paths.count
        kept.last_ip, kept.whole, kept.instructions = it.last_ip, <uint32_t>it.whole, it.instructions
        kept.counters, kept.tail, kept.accesses = it.counters, it.tail, it.accesses
        kept.parts = it.parts if self.parts_left == it.parts - 1 else 0
        kept.first_size = self.sizes_used
        memcpy(self.sizes + self.sizes_used, self.body, it.length)
        self.sizes_used += it.length
        self.count += 1
        self.paths.block_count = self.count
        return True

    cdef bint grow(self, uint64_t capacity) noexcept nogil:
        """Make room for ``capacity`` blocks; False: out of memory."""
        cdef Kept* kept = <Kept*>realloc(self.kept, capacity * sizeof(Kept))
        cdef BlockSize* sizes
        if kept == NULL:
            return False
        self.kept = kept
        sizes = <BlockSize*>realloc(self.paths.block_sizes, capacity * sizeof(BlockSize))
        if sizes == NULL:
            return False
        self.paths.block_sizes, self.capacity = sizes, capacity
        return True

    cdef const Kept* at(self, uint64_t place) noexcept nogil:
        cdef const announcement* there = <const announcement*>(<const uint8_t*>self.shared + AREA_HEAD + place)
        cdef uint64_t number
        if place >= self.done or self.done - place < sizeof(announcement) or place % 8:
            return NULL
        number = read_once(&there.number)
        if number >= self.count or self.kept[number].place != place or self.kept[number].parts == 0:
            return NULL
        return &self.kept[number]

    cdef const uint64_t* counters(self, const Kept* block) noexcept nogil:
        return <const uint64_t*>(<const uint8_t*>self.shared + AREA_HEAD + block.counters_place)

    cdef uint64_t counter_in_line(self, uint64_t number) noexcept nogil:
        return read_once(<const uint64_t*>(<const uint8_t*>self.shared + self.area_bytes) - number - 1)
