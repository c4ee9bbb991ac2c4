"""Reads words that translated code writes in line (layout.h, engine/x86_64) and gives them to a consumer as words of
the stream: each path as the words of its blocks, unless the consumer takes paths.

The program can write to the words: each is read once, and checked.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from pfmon.stream._stream cimport BLOCK_MASK, BlockSize, CONDITION_SHIFT, Consumer, PATH_BIT, PathHead


cdef enum:
    GIVEN_WORDS = 1 << 12        # at a time: what is copied stays in the host's first cache
    COPIED_WORDS = 4

    NUMBER_IN_LINE = TAKEN_IN_LINE - 1
    BITS_IN_LINE = 31            # of a word that is no mark


cdef inline uint64_t taken_bit(uint64_t word) noexcept nogil:
    """The condition in a word of the stream."""
    return (word & TAKEN_IN_LINE) << (CONDITION_SHIFT - 29)


cdef inline void copy_addresses(uint64_t* to, const uint64_t* words, uint64_t count) noexcept nogil:
    """Copy addresses, in steps of COPIED_WORDS: behind both there is room for a step."""
    cdef uint64_t k = 0
    while k < count:
        memcpy(to + k, words + k, COPIED_WORDS * sizeof(uint64_t))
        k += COPIED_WORDS


cdef inline void put_blocks(uint64_t* to, const PathHead* path, const uint64_t* blocks, const BlockSize* sizes,
                            uint64_t word, const uint64_t* addresses, bint traced) noexcept nogil:
    """Write a path as the words of its blocks, each with its addresses."""
    cdef uint64_t k, count
    cdef uint64_t* last = to
    for k in range(path.blocks):
        last = to
        to[0] = blocks[k]
        to += 1
        if traced:
            count = sizes[blocks[k] & BLOCK_MASK].addresses
            copy_addresses(to, addresses, count)
            to += count
            addresses += count
    last[0] |= taken_bit(word)


cdef class InLineWords:
    """The words of one guest, whose announcements ``describer`` has read before."""

    def __cinit__(self, Describer describer, bint traced):
        self.announced, self.describer, self.traced = describer.announced, describer, traced
        self.words = <uint64_t*>malloc((RING_BUFFER_WORDS + COPIED_WORDS) * sizeof(uint64_t))
        if self.words == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.words)

    cdef bint give(self, Consumer consumer, const uint64_t* words, uint64_t count) noexcept nogil:
        """Give a consumer these words; False: the guest's engine cannot have written them."""
        cdef const PathHead* paths = self.announced.paths.heads
        cdef const BlockSize* path_sizes = self.announced.paths.sizes
        cdef const BlockSize* sizes = self.announced.paths.block_sizes
        cdef uint64_t path_count = self.announced.paths.count, blocks = self.announced.count
        cdef uint64_t i = 0, word, number, addresses, most, retired = 0, last = self.last
        cdef uint64_t* to = self.words
        cdef uint64_t* end = self.words + GIVEN_WORDS
        cdef bint traced = self.traced, whole = self.takes_paths
        while i < count:
            word = read_once(&words[i])
            number = word & NUMBER_IN_LINE
            if word >> BITS_IN_LINE:
                if to == self.words + RING_BUFFER_WORDS or not self.is_mark(word, last):
                    return False
                to[0] = word
                to += 1
                i += 1
                continue
            last = word
            if word & PATH_IN_LINE:
                if number >= path_count:
                    return False
                addresses = path_sizes[number].addresses if traced else 0
                retired += path_sizes[number].instructions
                most = addresses + (1 if whole else paths[number].blocks)
            else:
                if number >= blocks:
                    return False
                addresses = sizes[number].addresses if traced else 0
                retired += sizes[number].instructions
                most = 1 + addresses
            if addresses >= count - i:
                return False
            if to + most > end and to > self.words:
                consumer.consume(self.words, to - self.words)
                to = self.words
            if word & PATH_IN_LINE and not whole:
                put_blocks(to, &paths[number], self.announced.paths.words + paths[number].first, sizes, word,
                           words + i + 1, traced)
                to += most
            else:
                to[0] = number | (PATH_BIT if word & PATH_IN_LINE else 0) | taken_bit(word)
                copy_addresses(to + 1, words + i + 1, addresses)
                to += 1 + addresses
            i += 1 + addresses
        self.last = last
        self.retired += retired
        if to > self.words:
            consumer.consume(self.words, to - self.words)
        return True

    cdef uint64_t last_block(self, uint64_t word) noexcept nogil:
        """The number of the last block of a word, and one; 0: there was no word."""
        if word & PATH_IN_LINE:
            return self.announced.paths.last_block(word & NUMBER_IN_LINE) + 1
        return word and (word & NUMBER_IN_LINE) + 1

    cdef bint is_mark(self, uint64_t word, uint64_t last) noexcept nogil:
        """Whether this is a mark of the engine's behind a word."""
        return is_mark(self.describer, word, self.last_block(last), self.traced)

    cdef uint64_t end_of(self, const uint64_t* words, uint64_t count) noexcept nogil:
        """The number of words in a buffer, of which ``count`` are known: a word is stored after its addresses and the 0
        behind them (layout.h)."""
        cdef uint64_t word, number
        while count < RING_BUFFER_WORDS:
            word = read_once(&words[count])
            number = word & NUMBER_IN_LINE
            if word == 0:
                return count
            count += 1
            if not self.traced or word >> BITS_IN_LINE:
                continue
            if word & PATH_IN_LINE:
                if number < self.announced.paths.count:
                    count += self.announced.paths.sizes[number].addresses
            elif number < self.announced.count:
                count += self.announced.paths.block_sizes[number].addresses
        return RING_BUFFER_WORDS
