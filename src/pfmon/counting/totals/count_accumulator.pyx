"""Sums of increments by monitor, and by instruction of the program (profiles)."""

from libc.stdlib cimport calloc, free, malloc

from pfmon.stream._stream cimport BANK_MASK, BANK_SHIFT, BlockHead


cdef class CountAccumulator:
    """``by_place``: accumulate by instruction of the blocks of ``table``, too."""

    def __cinit__(self, uint32_t monitors, BlockTable table=None, bint by_place=False):
        cdef uint32_t bank
        self.monitors = monitors
        self.table = table
        self.by_place = by_place
        self.sums = <int64_t*>calloc(monitors + 1, sizeof(int64_t))
        self.nowhere = <int64_t*>calloc(monitors + 1, sizeof(int64_t))
        if self.sums == NULL or self.nowhere == NULL:
            raise MemoryError
        if by_place:
            for bank in range(BANKS):
                self.known[bank] = table.c.header.bank[bank].blocks
                self.rows[bank] = <int64_t**>calloc(self.known[bank] + 1, sizeof(int64_t*))
                if self.rows[bank] == NULL:
                    raise MemoryError

    def __dealloc__(self):
        cdef uint32_t bank
        cdef uint64_t i
        for bank in range(BANKS):
            if self.rows[bank] != NULL:
                for i in range(self.known[bank]):
                    free(self.rows[bank][i])
            free(self.rows[bank])
        free(self.sums)
        free(self.nowhere)

    cdef void place(self, uint32_t monitor, uint32_t block, uint32_t instruction, int64_t increment) noexcept nogil:
        cdef const BlockHead* head
        cdef int64_t** row
        if block == NO_BLOCK:
            self.nowhere[monitor] += increment
            return
        head = &self.table.c.heads[block]
        row = &self.rows[block >> BANK_SHIFT][block & BANK_MASK]
        if row[0] == NULL:
            row[0] = <int64_t*>calloc((head.length + 1) * self.monitors, sizeof(int64_t))
            if row[0] == NULL:
                self.failed = True
                return
        if instruction >= head.length:
            instruction = head.length
        row[0][instruction * self.monitors + monitor] += increment

    cdef object counts_at(self, const int64_t* row):
        cdef uint32_t monitor
        return [row[monitor] for monitor in range(self.monitors)]

    def add_elsewhere(self, uint32_t monitor, int64_t increment):
        """Adds a count at no instruction."""
        if increment:
            self.sums[monitor] += increment
            self.nowhere[monitor] += increment

    def totals(self):
        """Returns the counts of all monitors."""
        if self.failed:
            raise MemoryError("there is no memory for a profile")
        return self.counts_at(self.sums)

    def outside_blocks(self):
        """Returns the counts before the first block."""
        return self.counts_at(self.nowhere)

    def by_address(self, uint64_t first=0, uint64_t beyond=<uint64_t>-1, files=None):
        """{address of an instruction: counts}, from ``first`` to before ``beyond``; counts of no instruction are at the
        end of their block. ``files``: only code from these (BlockHead.file)."""
        found = {}
        cdef AccumulatorWalk walk
        begin(&walk)
        while self.next_row(&walk):
            if first <= walk.address < beyond and (files is None or self.file_of(&walk) in files):
                add_to(found, walk.address, self.counts_at(walk.row))
        return found

    def files(self):
        """Numbers of the mapped files with counted code (BlockHead.file)."""
        found = set()
        cdef AccumulatorWalk walk
        cdef uint64_t before = <uint64_t>-1
        begin(&walk)
        while self.next_row(&walk):
            if self.file_of(&walk) != before:
                before = self.file_of(&walk)
                found.add(before)
        return found

    cdef uint32_t file_of(self, const AccumulatorWalk* walk) noexcept nogil:
        """Returns the number of the file that holds a row's code."""
        return self.table.c.heads[walk.block].file

    def by_piece(self, boundaries, uint32_t file=0):
        """{n: counts} of the code of a file from boundary n - 1 to before boundary n; ``boundaries`` are in order."""
        found = {}
        cdef AccumulatorWalk walk
        cdef uint64_t count = len(boundaries), i, piece = 0
        cdef uint64_t* places = <uint64_t*>malloc((count + 1) * sizeof(uint64_t))
        cdef int64_t* sums = <int64_t*>calloc((count + 1) * self.monitors + 1, sizeof(int64_t))
        cdef uint32_t m
        if places == NULL or sums == NULL:
            free(places)
            free(sums)
            raise MemoryError
        for i in range(count):
            places[i] = boundaries[i]
        begin(&walk)
        with nogil:
            while self.next_row(&walk):
                if self.file_of(&walk) != file:
                    continue
                if not ((piece == 0 or places[piece - 1] <= walk.address) and
                        (piece == count or walk.address < places[piece])):
                    piece = piece_of(places, count, walk.address)
                for m in range(self.monitors):
                    sums[piece * self.monitors + m] += walk.row[m]
        for i in range(count + 1):
            if any_of(sums + i * self.monitors, self.monitors):
                found[i] = self.counts_at(sums + i * self.monitors)
        free(places)
        free(sums)
        return found

    def by_block(self):
        """{number of its file, address of a block's first instruction: counts}."""
        found = {}
        cdef AccumulatorWalk walk
        begin(&walk)
        while self.next_row(&walk):
            ip = self.table.c.heads[self.table.c.heads[walk.block].whole].ip
            add_to(found, (self.file_of(&walk), ip), self.counts_at(walk.row))
        return found

    cdef bint next_row(self, AccumulatorWalk* walk) noexcept nogil:
        """Advances to the next instruction with counts; False: there is none."""
        cdef const BlockHead* head
        cdef int64_t* row
        while walk.bank < BANKS:
            if walk.number == self.known[walk.bank]:
                walk.bank += 1
                walk.number = walk.instruction = 0
                continue
            row = self.rows[walk.bank][walk.number]
            walk.block = (<uint64_t>walk.bank << BANK_SHIFT) + walk.number
            head = &self.table.c.heads[walk.block]
            if row == NULL or walk.instruction > head.length:
                walk.number += 1
                walk.instruction = 0
                continue
            walk.row = row + walk.instruction * self.monitors
            walk.address = self.table.c.instructions[head.first + min(walk.instruction, head.length - 1)].address
            walk.instruction += 1
            if any_of(walk.row, self.monitors):
                return True
        return False


cdef void begin(AccumulatorWalk* walk) noexcept nogil:
    walk.bank = walk.instruction = 0
    walk.number = 0


cdef object add_to(dict found, key, counts):
    known = found.get(key)
    found[key] = counts if known is None else [a + b for a, b in zip(known, counts)]


cdef uint64_t piece_of(const uint64_t* places, uint64_t count, uint64_t address) noexcept nogil:
    """Returns how many boundaries are at or below an address."""
    cdef uint64_t low = 0, high = count, middle
    while low < high:
        middle = (low + high) // 2
        if places[middle] <= address:
            low = middle + 1
        else:
            high = middle
    return low


cdef bint any_of(const int64_t* row, uint32_t monitors) noexcept nogil:
    cdef uint32_t monitor
    for monitor in range(monitors):
        if row[monitor]:
            return True
    return False
