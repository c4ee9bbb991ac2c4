"""Sums of increments by monitor, and by instruction of the program (profiles)."""

from libc.stdlib cimport calloc, free

from pfmon.stream.table cimport BANK_MASK, BANK_SHIFT, BlockHead


cdef class Sink:
    """``by_place``: keep by instruction what is added; the places are those of ``table``."""

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

    def totals(self):
        """What every monitor counted."""
        if self.failed:
            raise MemoryError("there is no memory for a profile")
        return self.counts_at(self.sums)

    def elsewhere(self):
        """What was counted before the first block."""
        return self.counts_at(self.nowhere)

    def by_address(self):
        """{address of an instruction: counts}; what belongs to no instruction is where its block ended."""
        found = {}
        cdef uint32_t bank, i, k, last
        cdef uint64_t number
        cdef int64_t* row
        cdef const BlockHead* head
        for bank in range(BANKS):
            for number in range(self.known[bank]):
                row = self.rows[bank][number]
                if row == NULL:
                    continue
                head = &self.table.c.heads[(<uint64_t>bank << BANK_SHIFT) + number]
                for i in range(head.length + 1):
                    if not any_of(row + i * self.monitors, self.monitors):
                        continue
                    last = min(i, head.length - 1)
                    address = self.table.c.instructions[head.first + last].address
                    counts = self.counts_at(row + i * self.monitors)
                    known = found.get(address)
                    found[address] = counts if known is None else [a + b for a, b in zip(known, counts)]
        return found

    def by_block(self):
        """{address of a block's first instruction: counts}."""
        found = {}
        cdef uint32_t bank, i
        cdef uint64_t number
        cdef int64_t* row
        cdef const BlockHead* head
        for bank in range(BANKS):
            for number in range(self.known[bank]):
                row = self.rows[bank][number]
                if row == NULL:
                    continue
                head = &self.table.c.heads[(<uint64_t>bank << BANK_SHIFT) + number]
                ip = self.table.c.heads[head.whole].ip
                known = found.setdefault(ip, [0] * self.monitors)
                for i in range(head.length + 1):
                    if any_of(row + i * self.monitors, self.monitors):
                        known = found[ip] = [a + b for a, b in zip(known, self.counts_at(row + i * self.monitors))]
        return found


cdef bint any_of(const int64_t* row, uint32_t monitors) noexcept nogil:
    cdef uint32_t monitor
    for monitor in range(monitors):
        if row[monitor]:
            return True
    return False
