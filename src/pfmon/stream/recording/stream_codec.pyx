"""Encodes the stream as bytes and decodes it: a value-prediction codec, since programs mostly repeat themselves.

The next word is predicted from the two before it: the word that followed them the last time. Only the number of right
predictions and the mispredicted words are written. An access is predicted to move by the same stride as the last time.
A chunk has four parts, each after its length: counts of right predictions and the mispredicted words; counts of right
predictions of addresses and the differences of the others. Blocks that a chunk names precede it (`blocks_from`).
"""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t, uint8_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset


cdef enum:
    WORDS = 0
    LITERALS = 1
    HITS = 2
    DISTANCES = 3
    PARTS = 4
    OUT_WORDS = 1 << 15          # a decoder passes on so many at a time, like an engine
    OUT_SLACK = 1 << 10          # words of a block with its addresses and marks
    ADDRESS_SITE = 0             # site of the register stack engine's stores and loads

cdef uint64_t RSE_WORD = mark_word(Mark.RSE_ADDRESS, 0)


cdef class Sites:
    def __dealloc__(self):
        free(self.sites)

    cdef bint room(self, uint64_t count) noexcept nogil:
        cdef uint64_t capacity = (count + 256) * 2
        cdef CodecSite* fresh
        if count <= self.capacity:
            return True
        fresh = <CodecSite*>realloc(self.sites, capacity * sizeof(CodecSite))
        if fresh == NULL:
            return False
        memset(fresh + self.capacity, 0, (capacity - self.capacity) * sizeof(CodecSite))
        self.sites, self.capacity = fresh, capacity
        return True


# --- numbers of variable length: seven bits a byte, the lowest first

cdef inline void put(Bytes* out, uint64_t value) noexcept nogil:
    while value >= 128:
        out.data[out.count] = <uint8_t>(value | 128)
        out.count += 1
        value >>= 7
    out.data[out.count] = <uint8_t>value
    out.count += 1


cdef inline void put_signed(Bytes* out, int64_t value) noexcept nogil:
    put(out, <uint64_t>value << 1 ^ <uint64_t>(value >> 63))


cdef inline uint64_t get(const uint8_t** at, const uint8_t* end) noexcept nogil:
    cdef uint64_t value = 0
    cdef uint32_t shift = 0
    cdef uint8_t byte
    while at[0] < end and shift < 64:
        byte = at[0][0]
        value |= <uint64_t>(byte & 127) << shift
        at[0] += 1
        if byte < 128:
            break
        shift += 7
    return value


cdef inline int64_t get_signed(const uint8_t** at, const uint8_t* end) noexcept nogil:
    cdef uint64_t value = get(at, end)
    return <int64_t>(value >> 1) ^ -<int64_t>(value & 1)


cdef bint make_bytes(Bytes* bytes, uint64_t capacity) noexcept nogil:
    cdef uint8_t* fresh = <uint8_t*>realloc(bytes.data, capacity)
    if fresh == NULL:
        return False
    bytes.data, bytes.capacity = fresh, capacity
    return True


# --- from words to bytes

@cython.final
cdef class Encoder(Consumer):
    """Encodes a stream. ``traced``: it has addresses; ``on_chunk`` gets the new blocks and the bytes of a chunk.
    ``words``: written so far; ``error``: the exception that on_chunk raised. ``reader`` gets the stream as well,
    without its addresses, whose positions are then found only once."""

    cdef BlockTable table
    cdef bint traced
    cdef object on_chunk
    cdef readonly object error
    cdef WordGuesses* guesses
    cdef Sites sites
    cdef Bytes parts[PARTS]
    cdef readonly uint64_t words
    cdef uint64_t in_chunk, entered
    cdef Consumer reader         # or None
    cdef uint64_t* plain         # the words for it
    cdef uint64_t plain_capacity
    cdef bint filled             # a part of the chunk has no room for another block

    def __cinit__(self, BlockTable table, bint traced, on_chunk, Consumer reader=None):
        cdef int i
        self.table, self.traced, self.on_chunk, self.reader = table, traced, on_chunk, reader
        self.sites = Sites()
        self.guesses = <WordGuesses*>calloc(1, sizeof(WordGuesses))
        if self.guesses == NULL or not self.sites.room(1):
            raise MemoryError
        for i in range(PARTS):
            if not make_bytes(&self.parts[i], 4 * SLACK):
                raise MemoryError

    def __dealloc__(self):
        cdef int i
        for i in range(PARTS):
            free(self.parts[i].data)
        free(self.guesses)
        free(self.plain)

    cdef void follow(self, uint64_t block) noexcept nogil:
        if self.reader is not None:
            self.reader.follow(block)

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        if self.failure or not self.room(count):
            return
        count = self.encode(words, count)
        if self.reader is not None:
            self.reader.consume(self.plain, count)

    cdef uint64_t encode(self, const uint64_t* words, uint64_t count) noexcept nogil:
        """Encodes words, and copies those for the reader to ``plain``; returns how many it copied."""
        cdef uint64_t i = 0, word, guess, k, addresses, site, plain = 0
        cdef bint pass_on = self.reader is not None
        cdef WordGuesses* guesses = self.guesses
        cdef const BlockHead* head
        while i < count:
            word = words[i]
            # A chunk ends before a block: marks stay in the chunk of their block.
            if self.has_less(SLACK // 2) if word >> 63 else self.filled or self.in_chunk >= CHUNK_WORDS:
                self.end_chunk()
                if self.failure:
                    return plain
            i += 1
            self.in_chunk += 1
            if word >> 63 and mark_kind(word) == Mark.RSE_ADDRESS:
                self.put_address(ADDRESS_SITE, unpacked_address(word))
                word = RSE_WORD
            elif pass_on:
                self.plain[plain] = word
                plain += 1
            guess = guess_index(guesses)
            if guesses.word[guess] == word:
                guesses.hits += 1
            else:
                self.put_word(word)
            record_guess(guesses, guess, word)
            if word >> 63 == 0 and self.traced:
                head = &self.table.c.heads[word & BLOCK_MASK]
                addresses = accesses_of(head, word)
                site = head.first_access + 1
                for k in range(addresses):
                    self.put_address(site + k, words[i + k])
                i += addresses
        return plain

    cdef inline bint has_less(self, uint64_t bytes) noexcept nogil:
        """Whether a part of the chunk has room for less than so many bytes."""
        cdef int i
        cdef bint found = False
        for i in range(PARTS):
            found |= self.parts[i].count + bytes > self.parts[i].capacity
        return found

    cdef bint room(self, uint64_t count) noexcept nogil:
        """Reserves a site for every access of the table, and room for ``count`` words for the reader."""
        cdef uint64_t* plain
        if self.reader is not None and count > self.plain_capacity:
            plain = <uint64_t*>realloc(self.plain, 2 * count * sizeof(uint64_t))
            if plain == NULL:
                self.fail(Failure.OUT_OF_MEMORY)
                return False
            self.plain, self.plain_capacity = plain, 2 * count
        if not self.sites.room(self.table.c.header.bank[0].accesses + 1):
            self.fail(Failure.OUT_OF_MEMORY)
            return False
        return True

    cdef void put_word(self, uint64_t word) noexcept nogil:
        """Encodes a mispredicted word: a block's number and conditions, or a mark as it is."""
        cdef Bytes* out = &self.parts[LITERALS]
        put(&self.parts[WORDS], self.guesses.hits)
        self.guesses.hits = 0
        if word >> 63:
            put(out, 0)
            memcpy(out.data + out.count, &word, sizeof(word))
            out.count += sizeof(word)
        else:
            put(out, ((word & BLOCK_MASK) + 1) << 1 | (word >> 32 != 0))
            if word >> 32:
                put(out, word >> 32)
        self.filled |= self.has_less(SLACK)

    cdef inline void put_address(self, uint64_t number, uint64_t address) noexcept nogil:
        cdef CodecSite* site = &self.sites.sites[number]
        if site.last + <uint64_t>site.stride == address:
            self.guesses.address_hits += 1
            site.last = address
            return
        put(&self.parts[HITS], self.guesses.address_hits)
        self.guesses.address_hits = 0
        put_signed(&self.parts[DISTANCES], move(site, address))
        self.filled |= self.has_less(SLACK)

    cdef void end_chunk(self) noexcept nogil:
        put(&self.parts[WORDS], self.guesses.hits)
        put(&self.parts[HITS], self.guesses.address_hits)
        self.guesses.hits = self.guesses.address_hits = 0
        with gil:
            try:
                self.hand_over()
            except BaseException as error:   # a full disk, say: the caller raises it when the run has ended
                self.error = error
                self.fail(Failure.CANNOT_WRITE)
        self.words += self.in_chunk
        self.in_chunk = 0
        self.filled = False

    cdef object hand_over(self):
        """Passes the chunk to on_chunk."""
        cdef int i
        cdef uint64_t length
        pieces = [self.in_chunk.to_bytes(8, "little")]
        for i in range(PARTS):
            length = self.parts[i].count
            pieces.append(length.to_bytes(8, "little"))
            pieces.append((<const char*>self.parts[i].data)[:length])
            self.parts[i].count = 0
        blocks = blocks_from(self.table, self.entered)
        self.entered = len(self.table)
        self.on_chunk(blocks, b"".join(pieces))

    def finish(self):
        """Ends the stream: passes on the last chunk."""
        if self.in_chunk and not self.failure:
            self.end_chunk()


# --- from bytes to words

@cython.final
cdef class Decoder:
    """Decodes the output of an Encoder. ``traced``: it has addresses; ``addresses``: pass them on."""

    cdef BlockTable table
    cdef bint traced, addresses
    cdef WordGuesses* guesses
    cdef Sites sites
    cdef uint64_t* out
    cdef readonly uint64_t words

    def __cinit__(self, BlockTable table, bint traced, bint addresses):
        self.table, self.traced, self.addresses = table, traced, addresses and traced
        self.sites = Sites()
        self.guesses = <WordGuesses*>calloc(1, sizeof(WordGuesses))
        self.out = <uint64_t*>malloc(OUT_WORDS * sizeof(uint64_t))
        if self.guesses == NULL or self.out == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.guesses)
        free(self.out)

    def decode(self, bytes chunk, Consumer consumer):
        """Passes the words of a chunk to a consumer. ValueError: it is no output of an Encoder."""
        cdef const uint8_t* data = chunk
        cdef uint64_t size = len(chunk), at = 8, length, count
        cdef const uint8_t* begin[PARTS]
        cdef const uint8_t* end[PARTS]
        cdef int i
        if size < 8:
            raise ValueError("a chunk of the stream is cut short")
        memcpy(&count, data, 8)
        if count > 2 * CHUNK_WORDS:
            raise ValueError("a chunk of the stream is longer than an encoder makes it")
        for i in range(PARTS):
            if at + 8 > size:
                raise ValueError("a chunk of the stream is cut short")
            memcpy(&length, data + at, 8)
            at += 8
            if length > size - at:
                raise ValueError("a chunk of the stream is cut short")
            begin[i], end[i] = data + at, data + at + length
            at += length
        if not self.sites.room(self.table.c.header.bank[0].accesses + 1):
            raise MemoryError
        with nogil:
            i = self.read(count, begin, end, consumer)
        if not i:
            raise ValueError("a chunk of the stream is damaged")
        self.words += count

    cdef bint read(self, uint64_t count, const uint8_t** at, const uint8_t** end, Consumer consumer) noexcept nogil:
        """Passes the words on; False: one names an unknown block, or bytes are left over."""
        cdef uint64_t hits = get(&at[WORDS], end[WORDS]), far = get(&at[HITS], end[HITS])
        cdef uint64_t n, word, guess, used = 0, k, addresses, site, blocks = self.table.c.header.bank[0].blocks
        cdef WordGuesses* guesses = self.guesses
        cdef const BlockHead* head
        for n in range(count):
            guess = guess_index(guesses)
            if hits:
                hits -= 1
                word = guesses.word[guess]
            else:
                word = self.literal(&at[LITERALS], end[LITERALS])
                hits = get(&at[WORDS], end[WORDS])
            record_guess(guesses, guess, word)
            # Marks go with the block before them.
            if (word >> 63 == 0 and used + OUT_SLACK > OUT_WORDS) or used + MAX_BLOCK_LENGTH + 1 > OUT_WORDS:
                consumer.consume(self.out, used)
                used = 0
            if word >> 63:
                if word == RSE_WORD:
                    if not self.addresses:
                        continue
                    word = mark_word(Mark.RSE_ADDRESS, packed_address(self.address(ADDRESS_SITE, &far, at, end)))
                self.out[used] = word
                used += 1
                continue
            if word & BLOCK_MASK >= blocks:
                return False
            self.out[used] = word
            used += 1
            if self.addresses:
                head = &self.table.c.heads[word & BLOCK_MASK]
                addresses = accesses_of(head, word)
                site = head.first_access + 1
                for k in range(addresses):
                    self.out[used + k] = self.address(site + k, &far, at, end)
                used += addresses
        consumer.consume(self.out, used)
        if self.addresses and (far or at[HITS] != end[HITS] or at[DISTANCES] != end[DISTANCES]):
            return False
        return hits == 0 and at[WORDS] == end[WORDS] and at[LITERALS] == end[LITERALS]

    cdef inline uint64_t literal(self, const uint8_t** at, const uint8_t* end) noexcept nogil:
        cdef uint64_t value = get(at, end), word
        if value:
            word = (value >> 1) - 1
            return word | (get(at, end) << 32 if value & 1 else 0)
        if at[0] + 8 > end:
            return ~<uint64_t>0 >> 1         # a block that is not there
        memcpy(&word, at[0], 8)
        at[0] += 8
        return word

    cdef inline uint64_t address(self, uint64_t number, uint64_t* hits, const uint8_t** at,
                                 const uint8_t** end) noexcept nogil:
        cdef CodecSite* site = &self.sites.sites[number]
        if hits[0]:
            hits[0] -= 1
            site.last += <uint64_t>site.stride
            return site.last
        site.stride = get_signed(&at[DISTANCES], end[DISTANCES])
        site.last += <uint64_t>site.stride
        hits[0] = get(&at[HITS], end[HITS])
        return site.last


# --- blocks

cdef enum:
    CUT_BITS = 8

cdef struct TableEntry:          # a block in a recording; behind it the physical address of a whole system's
    uint64_t ip
    uint32_t length
    uint32_t cut                 # Cut, and above CUT_BITS the number of the mapped file that holds it


def blocks_from(BlockTable table, uint64_t first):
    """Encodes the blocks of the table from this number on."""
    cdef const BlockHead* head
    cdef TableEntry entry
    cdef uint64_t number, payload = table.c.header.payload_bytes
    pieces = []
    for number in range(first, len(table)):
        head = &table.c.heads[number]
        entry.ip, entry.length, entry.cut = head.ip, head.length, head.cut | head.file << CUT_BITS
        pieces.append((<const char*>&entry)[:sizeof(TableEntry)])
        if table.whole_system:
            pieces.append((<const char*>&head.physical)[:sizeof(uint64_t)])
        pieces.append((<const char*>(table.c.instructions + head.first))[:head.length * sizeof(BlockInstruction)])
        pieces.append((<const char*>(table.c.payloads + head.first * payload))[:head.length * payload])
    return b"".join(pieces)


def enter_blocks(BlockTable table, bytes data):
    """Decodes blocks into the table. ValueError: these are no blocks; MemoryError: there is no room."""
    cdef const char* raw = data
    cdef uint64_t at = 0, size = len(data), first, payload = table.c.header.payload_bytes, wanted, number
    cdef TableEntry entry
    cdef uint64_t physical = 0, head = sizeof(TableEntry) + (sizeof(uint64_t) if table.whole_system else 0)
    while at < size:
        if at + head > size:
            raise ValueError("blocks are cut short")
        memcpy(&entry, raw + at, sizeof(TableEntry))
        if table.whole_system:
            memcpy(&physical, raw + at + sizeof(TableEntry), sizeof(uint64_t))
        at += head
        wanted = entry.length * (sizeof(BlockInstruction) + payload)
        if entry.length == 0 or entry.length > MAX_BLOCK_LENGTH or wanted > size - at:
            raise ValueError("blocks are cut short")
        if not make_room(&table.c, 0, entry.length):
            raise MemoryError("there is no room for the table of blocks")
        first = fresh_instruction(&table.c, 0)
        memcpy(table.c.instructions + first, raw + at, entry.length * sizeof(BlockInstruction))
        memcpy(table.c.payloads + first * payload, raw + at + entry.length * sizeof(BlockInstruction),
               entry.length * payload)
        if not is_block(table.c.instructions + first, entry.length):
            raise ValueError("these are no blocks")
        at += wanted
        number = enter_block(
            &table.c, 0, entry.ip, entry.length, entry.cut & ((1 << CUT_BITS) - 1), entry.cut >> CUT_BITS)
        table.c.heads[number].physical = physical
