"""Addresses and latencies of all loads that missed, by piece of memory, by instruction and by latency.

A piece (bucket) has 32 bytes at first. When the table is full, the size doubles, and neighbours are merged.
"""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset

from pfmon.machine._machine cimport TLB_WALKER, CaptureListener
from pfmon.stream._stream cimport BlockTable

cdef enum:
    LATENCIES = 1024             # cycles; the last one is for all longer ones
    MIN_MISS_TABLE_SIZE = 1 << 12
    MAX_MISS_TABLE_SIZE = 1 << 19
    MIN_BUCKET_SHIFT = 5
    SERVING_LEVELS = 3                   # that serve misses: L2, L3, memory


cdef struct MissBucket:
    uint64_t key                 # address >> shift, + 1; 0: free
    int64_t misses[SERVING_LEVELS]
    int64_t cycles               # sum of their latencies
    int64_t translations         # misses of all TLBs


cdef struct LoadMisses:          # of an instruction
    int64_t misses[SERVING_LEVELS]
    int64_t cycles               # sum of their latencies


@cython.final
cdef class DataMisses(CaptureListener):
    """``table``: the blocks of the stream; ``l3``, ``memory``: minimum latencies of L3 and of memory, in cycles, for machines that do not tell the level
    that served a load."""

    cdef MissBucket* pieces
    cdef uint64_t size, used     # of the table
    cdef uint32_t shift
    cdef int64_t l3, memory
    cdef uint64_t latencies[LATENCIES]
    cdef BlockTable table
    cdef LoadMisses* loads_of    # by the position of the instruction in the table of blocks
    cdef uint64_t room           # of loads_of
    cdef readonly bint out_of_memory    # sticky

    def __cinit__(self, BlockTable table, int64_t l3, int64_t memory):
        self.table = table
        self.l3, self.memory, self.shift, self.size = l3, memory, MIN_BUCKET_SHIFT, MIN_MISS_TABLE_SIZE
        self.loads = self.translations = True
        self.pieces = <MissBucket*>calloc(self.size, sizeof(MissBucket))
        if self.pieces == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.pieces)
        free(self.loads_of)

    cdef void load(self, uint64_t block, uint32_t instruction, uint64_t address, int64_t cycle, int64_t latency,
                   bint of_stack, uint32_t served) noexcept nogil:
        cdef MissBucket* piece = self.piece_of(address)
        cdef uint32_t level = served - 1 if served else 0 if latency < self.l3 else 1 if latency < self.memory else 2
        cdef uint64_t place = self.table.c.heads[block].first + instruction
        piece.misses[level] += 1
        piece.cycles += latency
        if place < self.room or self.grow(place):
            self.loads_of[place].misses[level] += 1
            self.loads_of[place].cycles += latency
        self.latencies[min(max(latency, 0), <int64_t>LATENCIES - 1)] += 1

    cdef void translation(self, uint64_t block, uint32_t instruction, uint64_t address, uint32_t level,
                          bint of_stack) noexcept nogil:
        if level >= TLB_WALKER:
            self.piece_of(address).translations += 1

    cdef bint grow(self, uint64_t place) noexcept nogil:
        """Makes room for an instruction; returns whether there is any."""
        cdef uint64_t room = max(<uint64_t>MIN_MISS_TABLE_SIZE, 2 * place)
        cdef LoadMisses* wider = <LoadMisses*>realloc(self.loads_of, room * sizeof(LoadMisses))
        if wider == NULL:
            self.out_of_memory = True
            return False
        memset(wider + self.room, 0, (room - self.room) * sizeof(LoadMisses))
        self.loads_of, self.room = wider, room
        return True

    cdef MissBucket* piece_of(self, uint64_t address) noexcept nogil:
        cdef MissBucket* found = self.find_bucket(address >> self.shift)
        if found.key == 0:
            if 4 * (self.used + 1) > 3 * self.size:
                self.make_room()
                found = self.find_bucket(address >> self.shift)
            if found.key == 0:
                found.key = (address >> self.shift) + 1
                self.used += 1
        return found

    cdef MissBucket* find_bucket(self, uint64_t number) noexcept nogil:
        cdef uint64_t i = number * <uint64_t>0x9E3779B97F4A7C15 >> 32
        while True:
            i &= self.size - 1
            if self.pieces[i].key == 0 or self.pieces[i].key == number + 1:
                return &self.pieces[i]
            i += 1

    cdef void make_room(self) noexcept nogil:
        """Makes a larger table, or larger pieces."""
        cdef MissBucket* old = self.pieces
        cdef MissBucket* piece
        cdef uint64_t i, k, size = self.size, wider = self.size == MAX_MISS_TABLE_SIZE
        cdef MissBucket* fresh = <MissBucket*>calloc(size if wider else 2 * size, sizeof(MissBucket))
        if fresh == NULL:
            self.out_of_memory = True        # the counts so far are dropped
            for i in range(size):
                self.pieces[i].key = 0
            self.used = 0
            return
        self.pieces = fresh
        self.used = 0
        if wider:
            self.shift += 1
        else:
            self.size = 2 * size
        for i in range(size):
            if old[i].key == 0:
                continue
            piece = self.find_bucket((old[i].key - 1) >> wider)
            if piece.key == 0:
                piece.key = ((old[i].key - 1) >> wider) + 1
                self.used += 1
            for k in range(SERVING_LEVELS):
                piece.misses[k] += old[i].misses[k]
            piece.cycles += old[i].cycles
            piece.translations += old[i].translations
        free(old)
        if 4 * (self.used + 1) > 3 * self.size:
            self.make_room()

    @property
    def piece_bytes(self) -> int:
        """Returns the size of a piece of memory."""
        return 1 << self.shift

    def histogram(self):
        """Number of loads by latency in cycles; the last one stands for all longer ones."""
        return [self.latencies[i] for i in range(LATENCIES)]

    def by_piece(self):
        """(address, (misses served by L2, L3, memory), cycles, misses of all TLBs) of each piece, by address."""
        cdef uint64_t i, number
        cdef MissBucket* piece
        numbers = []
        for i in range(self.size):
            if self.pieces[i].key:
                numbers.append(self.pieces[i].key - 1)
        numbers.sort()
        found = []
        for one in numbers:
            number = one
            piece = self.find_bucket(number)
            found.append((number << self.shift, (piece.misses[0], piece.misses[1], piece.misses[2]), piece.cycles,
                          piece.translations))
        return found

    def by_instruction(self):
        """(address, (misses served by L2, L3, memory), cycles) of each instruction of a block whose loads missed."""
        cdef uint64_t i
        cdef LoadMisses* own
        found = []
        for i in range(self.room):
            own = &self.loads_of[i]
            if own.cycles:
                found.append((self.table.c.instructions[i].address, (own.misses[0], own.misses[1], own.misses[2]),
                              own.cycles))
        return found
