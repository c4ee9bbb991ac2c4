"""Reads the plugin's stream and passes it to a consumer until the guest is dead.

The guest may be killed at any time, which shared memory does not show: the thread that waits for its process calls
`guest_died`; the contents of the ring are then final. The program's own stores may have overwritten shared memory, so
all of it is checked.
"""

cimport cython
import os

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from pfmon.stream._stream cimport (
    BLOCK_MASK, NO_INSTRUCTION, BlockHead, Consumer, Failure, MAX_REGION_NAME, Mark, free_address_space, indexed, largest_file,
    make_memory_file, mark_instruction, mark_kind, mark_value, mark_word, past_addresses)


cdef extern from "<sys/mman.h>" nogil:
    void* mmap(void*, size_t, int, int, int, long)
    int munmap(void*, size_t)
    int PROT_READ, PROT_WRITE, MAP_SHARED, MAP_NORESERVE
    void* MAP_FAILED

cdef extern from "<unistd.h>" nogil:
    int close(int)

cdef enum:
    MOMENT = 250_000_000         # nanoseconds
    MAX_LEFT_WORDS = MAX_TRANSLATED_SLOTS + 16  # words of a last block, at most
    PAGE = 1 << 12

cdef uint64_t TAKEN = <uint64_t>1 << 32      # a taken branch, in a block's word (parts.h)


def max_area_bytes(uint64_t share):
    """Size of an area in bytes: MAX_AREA_BYTES, or less under a limit of the file size (RLIMIT_FSIZE) or of the address
    space (RLIMIT_AS: the area takes one part in ``share``); at least MIN_AREA_BYTES."""
    cdef uint64_t size = min(<uint64_t>MAX_AREA_BYTES, free_address_space() // share, largest_file())
    return max(<uint64_t>MIN_AREA_BYTES, size & ~<uint64_t>(PAGE - 1))


cdef void* shared_file(name, uint64_t size, int* descriptor) except NULL:
    """A memory file that the guest also maps, as mapped in this process. MemoryError."""
    cdef void* place
    descriptor[0] = make_memory_file(name, size)
    place = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor[0], 0)
    if place == MAP_FAILED:
        raise MemoryError(f"there is no room for the {name}")
    return place


cdef bint is_mark(Describer describer, uint64_t word, uint64_t last, bint traced) noexcept nogil:
    """Whether the guest's engine writes such a mark. ``last``: the number of the block before it, and one; 0: none."""
    cdef int kind = mark_kind(word)
    cdef uint64_t instruction = mark_instruction(word)
    cdef uint32_t length = describer.table.c.heads[last - 1].length if last else 0
    if word >> 63 == 0 or word >> 40 & 0xFFFF:
        return False
    if kind == Mark.THREAD:
        return instruction == NO_INSTRUCTION and mark_value(word) < THREAD_NUMBERS
    if kind == Mark.REGION_NAME:
        return instruction == NO_INSTRUCTION
    if kind == Mark.REGION_START or kind == Mark.REGION_STOP:
        return instruction == NO_INSTRUCTION and mark_value(word) <= MAX_REGION_NAME
    if kind == Mark.STRING and not traced:
        return False
    if kind == Mark.PYTHON_CALL:
        return instruction == NO_INSTRUCTION and 0 < mark_value(word) <= describer.announced.function_count
    if kind == Mark.PYTHON_RETURN or kind == Mark.PYTHON_LINE:
        return instruction == NO_INSTRUCTION and describer.announced.function_count
    return ((kind == Mark.SYSTEM_CALL or kind == Mark.FAULT or kind == Mark.STRING)
            and (instruction == NO_INSTRUCTION or instruction < length))


@cython.final
cdef class PluginReader:
    """Reads one guest's stream, with the addresses of its accesses if ``traced``, or only counters of block runs if
    ``totals``; the plugin receives ``ring_file`` and ``area_file``. ``area_bytes``: size of the area, a child's that of
    its parent's; ``in_line``: translated code writes the stream in line (layout.h). MemoryError.

    The guest can write to both at any time: everything is copied from there before it is checked and used."""

    cdef readonly int ring_file, area_file
    cdef ring* ring
    cdef area* shared
    cdef readonly uint64_t area_bytes            # of the whole area
    cdef Describer describer
    cdef uint64_t* words         # the buffer at hand
    cdef InLineWords in_line     # the reader of words that translated code writes in line; None: the plugin does
    cdef bint traced, totals
    cdef uint32_t taken          # buffers read so far
    cdef uint64_t last           # the number of the block that was read last, and one; 0: none was
    cdef int64_t adjusted        # correction of the guest's `retired`
    cdef bint dead, stopping     # the guest is dead; pfmon ends the run
    cdef public object on_request    # answers the program's requests about its PMU (layout.h); None: it makes none
    cdef uint32_t answered       # the last request
    cdef readonly bint damaged   # shared memory held invalid data
    cdef readonly uint64_t ip    # of the last block, if not traced; of the faulting instruction

    def __cinit__(self, Describer describer, bint traced=False, bint totals=False, uint64_t area_bytes=MAX_AREA_BYTES,
                  bint in_line=False):
        self.ring_file = self.area_file = -1
        self.describer, self.traced, self.totals = describer, traced, totals
        self.words = <uint64_t*>malloc((RING_BUFFER_WORDS + 2 * MAX_LEFT_WORDS) * sizeof(uint64_t))
        if self.words == NULL:
            raise MemoryError
        self.ring = <ring*>shared_file("pfmon stream", sizeof(ring), &self.ring_file)
        self.area_bytes = describer.announced.area_bytes = area_bytes
        self.shared = <area*>shared_file("pfmon announcements", self.area_bytes, &self.area_file)
        memcpy(self.ring.magic, <const char*>b"pfmonrng", 8)
        self.shared.traced, self.shared.totals = traced, totals
        describer.announced.shared, describer.traced = self.shared, traced
        describer.announced.totals, describer.announced.in_line = totals, in_line
        self.in_line = InLineWords(describer, traced) if in_line else None

    def __dealloc__(self):
        if self.shared != NULL:
            munmap(self.shared, self.area_bytes)
        if self.ring != NULL:
            munmap(self.ring, sizeof(ring))
        free(self.words)
        if self.ring_file >= 0:
            close(self.ring_file)
        if self.area_file >= 0:
            close(self.area_file)

    @property
    def retired(self):
        """Instructions retired so far; the last block counts whole until its end is known."""
        if self.in_line is not None and not self.totals:
            return self.in_line.retired + self.shared.silent
        return self.shared.retired + <uint64_t>self.adjusted

    @property
    def executing(self):
        """Whether the guest executed another program: 1, outside of qemu; 2, followed."""
        return self.shared.executing

    @property
    def waits_for_reader(self):
        """Whether the guest executes a program with which counting begins anew, and waits for `hand_over`."""
        return read_once(&self.shared.executing) == EXECUTES_ANEW

    @property
    def is_read(self):
        """Whether all buffers that the guest has handed over are read."""
        return read_word_once(&self.ring.filling) == self.taken

    @property
    def has_begun(self):
        """Whether the guest has mapped the area, or is dead."""
        return self.dead or read_once(<const uint64_t*>&self.shared.base) != 0

    def hand_over(self, PluginReader other, python):
        """Let the guest go on with the ring and the area of another reader. ``python``: the version and the addresses
        of the evaluation loop of what it executes, or three zeros."""
        cdef handover* to = &self.shared.handover
        to.reader, to.ring_file, to.area_file = os.getpid(), other.ring_file, other.area_file
        to.python[0], to.python[1], to.python[2] = python
        write_word(&to.ready, 1)
        futex_wake(&to.ready)

    @property
    def executed(self):
        """The last executed program, if programs are followed."""
        return (<const char*>self.shared.executed)[:MAX_PATH_BYTES].partition(b"\0")[0]

    @property
    def exit_status(self):
        """The guest's exit status; None: not yet exited."""
        cdef uint32_t status = read_word_once(&self.shared.status)
        return status & 0xFF if status & EXITED else None

    @property
    def killed_by(self):
        """The signal that killed the guest, as far as it could say so; 0: none."""
        cdef uint32_t status = read_word_once(&self.shared.status)
        return status & 0x7F if status & KILLED else 0

    @property
    def task(self):
        """The task number by which its children identify their parent."""
        return self.shared.task

    @task.setter
    def task(self, number):
        self.shared.task = number

    @property
    def outside(self):
        """Whether the guest has read, written or made something outside of its process, where that is known."""
        return read_word_once(&self.shared.outside) != 0

    @property
    def forks(self):
        """The number of its children, if they are followed."""
        return self.shared.forks

    @forks.setter
    def forks(self, number):
        self.shared.forks = number

    @property
    def functions(self):
        """The functions of a Python program that were called so far."""
        return self.describer.functions

    @property
    def files(self):
        """The files that the program has mapped executable so far."""
        return self.describer.files()

    def close_files(self):
        """Close the ring's and area's descriptors once the guest has them."""
        for file in (self.ring_file, self.area_file):
            if file >= 0:
                os.close(file)
        self.ring_file = self.area_file = -1

    @property
    def trouble(self):
        """Why the plugin gave up (layout.h, enum trouble)."""
        return self.shared.trouble

    @property
    def processor_results(self):
        """A bit for each executed instruction whose result the host's processor decides (layout.h)."""
        return read_word_once(&self.shared.processor_results)

    @property
    def message(self):
        """qemu's own error message."""
        cdef uint32_t length = read_word_once(&self.shared.message_length)
        return (<const char*>self.shared.message)[:min(length, <uint32_t>MAX_MESSAGE_BYTES)]

    def request_stop(self):
        """Ask the guest to end itself between two blocks, when it hands over the next buffer."""
        self.stopping = True
        self.shared.stopping = 1

    def guest_died(self):
        """Wake the reader: no more data will arrive."""
        self.dead = True
        futex_wake(&self.ring.filling)

    def read(self, Consumer consumer):
        """Give a consumer the stream until the guest is dead; ``finish`` then gives the last buffer. Python's signal
        handlers run in between; an exception ends the read. So does invalid data in shared memory: the guest is then
        still alive, and has to be ended."""
        if self.in_line is not None:
            self.in_line.takes_paths = consumer.take_paths(self.describer.announced.paths)
        while not (self.dead or self.damaged or self.waits_for_reader):
            with nogil:
                if self.wait():
                    self.give_buffer(consumer)
            PyErr_CheckSignals()
            if self.on_request is not None and self.has_request():
                self.answer_request()
        with nogil:
            while self.has_buffer():
                self.give_buffer(consumer)

    cdef bint has_request(self) noexcept nogil:
        """Whether the guest waits for an answer, and all that it has written before is read."""
        cdef uint32_t asked = read_word_once(&self.shared.request.asked)
        return asked != self.answered and asked == self.taken and not (self.dead or self.damaged)

    cdef answer_request(self):
        """Give a request to ``on_request``, and the guest its answer: the result, the number of instructions at which it
        asks again, notices (event, code), whether there are more, and data."""
        cdef request* it = &self.shared.request
        cdef request_notice* notice = it.notice
        cdef uint32_t length = min(read_word_once(&it.length), <uint32_t>MAX_REQUEST_BYTES)
        arguments = tuple([<int64_t>read_once(<const uint64_t*>&it.arguments[i]) for i in range(REQUEST_ARGUMENTS)])
        self.ip = read_once(&it.ip)
        result, stop, notices, more, data = self.on_request(
            read_word_once(&it.what), arguments, read_once(&it.clock_offset), (<const char*>it.data)[:length])
        it.result, it.stop, it.reader = result, stop, os.getpid()
        it.notices, it.more = min(len(notices), MAX_REQUEST_NOTICES), more
        for event, code in notices[:MAX_REQUEST_NOTICES]:
            notice.event, notice.code = event, code
            notice += 1
        length = min(len(data), MAX_REQUEST_BYTES)
        memcpy(it.data, <const char*>data, length)
        it.length = length
        self.answered = self.taken
        write_word(&it.answered, self.answered)
        futex_wake(&it.answered)

    cdef bint has_buffer(self) noexcept nogil:
        """Whether an unread buffer is available."""
        cdef uint32_t ahead = read_word_once(&self.ring.filling) - self.taken
        self.damaged |= ahead > RING_BUFFERS
        return ahead > 0 and not self.damaged

    cdef bint wait(self) noexcept nogil:
        """Wait a moment for a buffer; False: none arrived."""
        cdef timespec moment = timespec(0, MOMENT)
        if not (self.has_buffer() or self.damaged or self.dead):
            futex_wait(&self.ring.filling, self.taken, &moment)
            self.release_buffer()             # in case the guest missed it
        return self.has_buffer()

    cdef void release_buffer(self) noexcept nogil:
        """Return all read buffers to the guest."""
        write_word(&self.ring.reading, self.taken)
        futex_wake(&self.ring.reading)

    cdef void give_buffer(self, Consumer consumer) noexcept nogil:
        """Give a consumer the next buffer, and return it to the guest."""
        cdef ring_buffer* buffer = &self.ring.buffers[self.taken % RING_BUFFERS]
        cdef uint64_t count = read_once(&buffer.count)
        if self.in_line is not None:
            self.give_in_line(consumer, buffer.words, count)
        elif self.describe_words(consumer, buffer.words, count):
            self.pass_words(consumer, count)
        buffer.count = 0
        self.taken += 1
        self.release_buffer()

    cdef bint describe_words(self, Consumer consumer, const uint64_t* words, uint64_t count) noexcept nogil:
        """Copy words from the ring, and describe their blocks; False: the consumer has the reason for the stream's
        end."""
        if not self.damaged and count <= RING_BUFFER_WORDS:
            memcpy(self.words, words, count * sizeof(uint64_t))
            if not self.describe_blocks(consumer):
                return False
            if self.is_sound(count):
                return True
        self.damage(consumer)
        return False

    cdef bint describe_blocks(self, Consumer consumer) noexcept nogil:
        """Describe what is announced; False: the consumer has the reason for the stream's end."""
        if self.describer.describe():
            return True
        self.damaged |= self.describer.table.c.header.failure == Failure.BAD_STREAM
        consumer.fail(<Failure>self.describer.table.c.header.failure)
        return False

    cdef void damage(self, Consumer consumer) noexcept nogil:
        self.damaged = True
        consumer.fail(Failure.BAD_STREAM)

    cdef void give_in_line(self, Consumer consumer, const uint64_t* words, uint64_t count) noexcept nogil:
        """Describe blocks and paths, and give a consumer these words of theirs."""
        if self.damaged or count > RING_BUFFER_WORDS:
            self.damage(consumer)
        elif self.describe_blocks(consumer):
            self.give_described(consumer, words, count)

    cdef void give_described(self, Consumer consumer, const uint64_t* words, uint64_t count) noexcept nogil:
        if not self.in_line.give(consumer, words, count):
            self.damage(consumer)
        self.shared.retired = self.in_line.retired
        if self.in_line.last:
            self.ip = self.describer.table.c.heads[self.in_line.last_block(self.in_line.last) - 1].ip

    cdef bint is_sound(self, uint64_t count) noexcept nogil:
        """Whether the plugin can have written these words: announced blocks, each with its addresses, and marks of
        their instructions."""
        cdef const uint64_t* words = self.words
        cdef const BlockSize* sizes = self.describer.announced.paths.block_sizes
        cdef uint64_t blocks = self.describer.announced.count, i = 0, number
        cdef bint traced = self.traced
        while i < count:
            number = words[i] & ~TAKEN
            if number < blocks:
                self.last = number + 1
                i = past_addresses(i, sizes[number].addresses) if traced else i
            elif not is_mark(self.describer, words[i], self.last, traced):
                return False
            i += 1
        return i == count

    cdef void pass_words(self, Consumer consumer, uint64_t count) noexcept nogil:
        """Give a consumer the present words."""
        cdef uint64_t i
        if count == 0:
            return
        for i in range(count - 1, max(0, <int64_t>count - 8) - 1, -1):
            if self.words[i] >> 63 == 0 and not self.traced:         # addresses look like blocks
                self.ip = self.describer.table.c.heads[self.words[i] & BLOCK_MASK].ip
                break
        consumer.consume(self.words, count)

    cdef void finish_in_line(self, Consumer consumer, const uint64_t* words, uint64_t count) noexcept nogil:
        """Give a consumer the words of a dead guest's last buffer, of which ``count`` are known."""
        if self.damaged or count > RING_BUFFER_WORDS:
            self.damage(consumer)
        elif self.describe_blocks(consumer):
            self.give_described(consumer, words, self.in_line.end_of(words, count))

    def finish(self, Consumer consumer, bint faulted, uint32_t signal, status):
        """Give a consumer the last words of a dead guest. ``faulted``: a signal of one of its instructions killed it;
        ``status``: for an EXIT mark, or None when the run was stopped."""
        cdef ring_buffer* buffer = &self.ring.buffers[self.taken % RING_BUFFERS]
        cdef uint64_t count = read_once(&self.shared.count) or read_once(&buffer.count), mark, where = 0
        cdef const Kept* last
        self.damaged |= read_word_once(&self.shared.stopping) != 0 and not self.stopping
        if self.in_line is not None:
            where = read_once(&self.shared.fault_ip) if faulted else 0
            with nogil:
                self.finish_in_line(consumer, buffer.words, count)
            if self.damaged:
                return
            count = 0
        elif not self.describe_words(consumer, buffer.words, count):
            return
        for i in range(MAX_GUEST_THREADS):
            last = last_block(self, i)
            if last == NULL:
                continue
            count = write_retired_part(self, i, last, count, faulted, &where)
            if count + MAX_LEFT_WORDS > RING_BUFFER_WORDS:
                with nogil:                  # the thread that has to read first may need the GIL
                    self.pass_words(consumer, count)
                count = 0
        with nogil:
            self.pass_words(consumer, count)
        if self.totals:
            self.adjusted += pass_totals(self.describer, consumer, faulted, &where)
        if where:
            self.ip = where
        if faulted:
            mark = mark_word(Mark.FAULT, indexed(signal, NO_INSTRUCTION))
            with nogil:
                consumer.consume(&mark, 1)
        if status is not None:
            mark = mark_word(Mark.EXIT, indexed(status, NO_INSTRUCTION))
            with nogil:
                consumer.consume(&mark, 1)
