"""Lines of memory that several threads access and at least one stores to, with the instructions that do.

Each thread has a cache of its own without a limit, and a line is in the states of MSI: an access moves a line that another
thread owns, as its last store left it; a load leaves both a copy, a store takes the line. Accesses are kept from the one on
with which a line is both shared and stored to; what the first thread did alone, such as to initialize it, is not.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from pfmon.stream._stream cimport (
    AccessKind, BLOCK_MASK, BlockAccess, BlockHead, BlockInstruction, Failure, Mark, executed, further_kind, is_second,
    mark_instruction, mark_kind, mark_value, max_accesses)

cdef enum:
    FIRST_LINES = 1 << 14        # places of the hash tables; doubled whenever half are used
    FIRST_USES = 1 << 10

cdef uint64_t LINE_HASH = 0x9E3779B97F4A7C15ULL


cdef class SharedLines(Consumer):
    """``line``: bytes of a line, 64 or 128. The stream has addresses."""

    def __cinit__(self, BlockTable table, uint32_t line):
        self.table = table
        self.line_shift = (<object>line).bit_length() - 1
        self.lines = <LineUse*>calloc(FIRST_LINES, sizeof(LineUse))
        self.uses = <SharedUse*>calloc(FIRST_USES, sizeof(SharedUse))
        if self.lines == NULL or self.uses == NULL:
            raise MemoryError
        self.line_room, self.use_room = FIRST_LINES, FIRST_USES

    def __dealloc__(self):
        free(self.lines)
        free(self.uses)

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        cdef uint64_t i = 0, k, at, marks, extent
        cdef const BlockHead* head
        cdef const BlockAccess* access
        cdef const BlockInstruction* instruction
        while i < count:
            if words[i] >> 63:
                if mark_kind(words[i]) == Mark.THREAD:
                    self.thread = <uint32_t>mark_value(words[i])
                i += 1
                continue
            head = &self.table.c.heads[words[i] & BLOCK_MASK]
            access = self.table.c.accesses + head.first_access
            at = marks = i + 1
            for k in range(max_accesses(head)):
                marks += executed(words[i], access[k].condition)
            for k in range(max_accesses(head)):
                if not executed(words[i], access[k].condition):
                    continue
                if words[at]:
                    instruction = &self.table.c.instructions[head.first + access[k].instruction]
                    extent = string_extent(words + marks, count - marks, access[k].instruction)
                    self.access(head.first + access[k].instruction, words[at], instruction.size + extent,
                                further_kind(instruction) if is_second(access, k) else instruction.access)
                at += 1
            i = marks

    cdef void access(self, uint64_t instruction, uint64_t address, uint64_t size, uint32_t kind) noexcept nogil:
        """Adds an access, line by line."""
        cdef uint64_t line = <uint64_t>1 << self.line_shift, offset, part
        if not kind & AccessKind.READ_WRITE:
            return
        while size:
            offset = address & (line - 1)
            part = min(size, line - offset)
            self.access_line(instruction, address >> self.line_shift, <uint8_t>offset, <uint8_t>part, kind)
            address += part
            size -= part

    cdef void access_line(self, uint64_t instruction, uint64_t number, uint8_t offset, uint8_t size,
                          uint32_t kind) noexcept nogil:
        cdef LineUse* line = self.line_of(number)
        cdef SharedUse wanted
        cdef SharedUse* use
        cdef uint64_t thread = <uint64_t>1 << (self.thread & 63), part
        cdef bint moved, unrelated
        if line == NULL:
            return
        part = part_of(offset, size, self.line_shift)
        moved = line.dirty != 0 and not line.holders & thread
        unrelated = moved and not line.dirty & part
        line.shared |= line.first != self.thread
        line.stored |= kind & AccessKind.WRITE != 0
        if kind & AccessKind.WRITE:
            line.dirty = part | (line.dirty if line.holders == thread else 0)
            line.holders = thread
        else:
            line.dirty = 0 if moved else line.dirty
            line.holders |= thread
        if not line.shared or not line.stored:
            return
        memset(&wanted, 0, sizeof(SharedUse))
        wanted.key, wanted.instruction, wanted.thread = number + 1, instruction, self.thread
        wanted.offset, wanted.size = offset, size
        use = self.use_of(&wanted)
        if use != NULL:
            use.loads += kind & AccessKind.READ
            use.stores += (kind & AccessKind.WRITE) >> 1
            use.moved += moved
            use.unrelated += unrelated

    cdef LineUse* line_of(self, uint64_t number) noexcept nogil:
        """Returns the use of a line; NULL: there is no memory."""
        cdef LineUse* line
        if 2 * self.line_count >= self.line_room and not self.grow_lines():
            self.fail(Failure.OUT_OF_MEMORY)
            return NULL
        line = self.place_of_line(number + 1)
        if line.key == 0:
            line.key, line.first = number + 1, self.thread
            self.line_count += 1
        return line

    cdef LineUse* place_of_line(self, uint64_t key) noexcept nogil:
        """Returns where a line is, or a free place for it."""
        cdef uint64_t place = (key - 1) * LINE_HASH >> 20 & (self.line_room - 1)
        while self.lines[place].key and self.lines[place].key != key:
            place = (place + 1) & (self.line_room - 1)
        return &self.lines[place]

    cdef SharedUse* use_of(self, const SharedUse* wanted) noexcept nogil:
        """Returns the accesses of an instruction of a thread to a place in a line; NULL: there is no memory."""
        cdef SharedUse* use
        if 2 * self.use_count >= self.use_room and not self.grow_uses():
            self.fail(Failure.OUT_OF_MEMORY)
            return NULL
        use = self.place_of_use(wanted)
        if use.key == 0:
            use[0] = wanted[0]
            self.use_count += 1
        return use

    cdef SharedUse* place_of_use(self, const SharedUse* wanted) noexcept nogil:
        """Returns where these accesses are counted, or a free place for them."""
        cdef uint64_t place = use_hash(wanted) & (self.use_room - 1)
        while self.uses[place].key and not is_same_use(&self.uses[place], wanted):
            place = (place + 1) & (self.use_room - 1)
        return &self.uses[place]

    cdef bint grow_lines(self) noexcept nogil:
        cdef LineUse* before = self.lines
        cdef uint64_t i, room = self.line_room
        cdef LineUse* lines = <LineUse*>calloc(2 * room, sizeof(LineUse))
        if lines == NULL:
            return False
        self.lines, self.line_room = lines, 2 * room
        for i in range(room):
            if before[i].key:
                self.place_of_line(before[i].key)[0] = before[i]
        free(before)
        return True

    cdef bint grow_uses(self) noexcept nogil:
        cdef SharedUse* before = self.uses
        cdef uint64_t i, room = self.use_room
        cdef SharedUse* uses = <SharedUse*>calloc(2 * room, sizeof(SharedUse))
        if uses == NULL:
            return False
        self.uses, self.use_room = uses, 2 * room
        for i in range(room):
            if before[i].key:
                self.place_of_use(&before[i])[0] = before[i]
        free(before)
        return True

    def accesses(self):
        """Returns (line's address, thread, address of the instruction, offset, size, loads, stores, moved, unrelated) of
        the accesses to shared lines that were stored to; the thread is its number in order of creation."""
        cdef uint64_t i
        cdef const SharedUse* use
        cdef dict found = {}
        for i in range(self.use_room):
            use = &self.uses[i]
            if use.key:
                where = ((use.key - 1) << self.line_shift, use.thread,
                         self.table.c.instructions[use.instruction].address, use.offset, use.size)
                before = found.get(where, (0, 0, 0, 0))  # the instruction is in several blocks
                found[where] = (before[0] + use.loads, before[1] + use.stores, before[2] + use.moved,
                                before[3] + use.unrelated)
        return [(*where, *found[where]) for where in sorted(found)]


cdef inline uint64_t part_of(uint8_t offset, uint8_t size, uint32_t line_shift) noexcept nogil:
    """Returns the 64ths of a line that bytes of it are in, a bit each."""
    cdef uint32_t shift = line_shift - 6
    cdef uint64_t first = offset >> shift, last = (offset + size - 1) >> shift
    return (~<uint64_t>0 >> (63 - (last - first))) << first


cdef inline bint is_same_use(const SharedUse* a, const SharedUse* b) noexcept nogil:
    return a.key == b.key and a.instruction == b.instruction and a.thread == b.thread and a.offset == b.offset \
        and a.size == b.size


cdef inline uint64_t use_hash(const SharedUse* use) noexcept nogil:
    cdef uint64_t mixed = (use.key * LINE_HASH ^ use.instruction) * LINE_HASH
    return (mixed ^ (<uint64_t>use.thread << 16 | <uint64_t>use.offset << 8 | use.size)) * LINE_HASH >> 20


cdef inline uint64_t string_extent(const uint64_t* marks, uint64_t count, uint32_t instruction) noexcept nogil:
    """Returns the bytes by which a repeated string instruction went on, by the marks of its block."""
    cdef uint64_t k = 0, bytes = 0
    while k < count and marks[k] >> 63:
        if mark_kind(marks[k]) == Mark.STRING and mark_instruction(marks[k]) == instruction:
            bytes += mark_value(marks[k])
        k += 1
    return bytes
