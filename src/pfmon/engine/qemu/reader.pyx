"""The reader's side of what the plugin writes: gives the stream to a consumer until the guest is dead.

Whether the guest lives is not to be read from shared memory: it may be killed at any time. Who waits for its process
calls `guest_died`, and what is in the ring then is all that there will be.
"""

import os

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from pfmon.stream.consumer cimport Consumer
from pfmon.stream.failure cimport Failure
from pfmon.stream.ring cimport BUFFER_WORDS, BUFFERS, Buffer, Ring, Shared, sem_post, sem_t
from pfmon.stream.table cimport (BANK_BLOCKS, BlockHead, BlockInstruction, Cut, copy_start, made_by)
from pfmon.stream.words cimport BLOCK_MASK, Mark, NO_INSTRUCTION, indexed, mark_word

from pfmon.engine.qemu.run_totals cimport give_totals
from pfmon.engine.qemu.describe cimport (AREA_BYTES, COUNTED, MAY_FAULT, MOST_SLOTS, MOST_THREADS, PAYLOAD_BYTES,
                                         REPEATED, SUCCESSOR, Describer, announcement, area, room_of, string)

cdef extern from "<sys/mman.h>" nogil:
    void* mmap(void*, size_t, int, int, int, long)
    int munmap(void*, size_t)
    int PROT_READ, PROT_WRITE, MAP_SHARED, MAP_NORESERVE
    void* MAP_FAILED

cdef extern from "<time.h>" nogil:
    struct timespec:
        long tv_sec
        long tv_nsec
    int clock_gettime(int, timespec*)
    int CLOCK_REALTIME

cdef extern from "<semaphore.h>" nogil:
    int sem_timedwait(sem_t*, const timespec*)

cdef enum:
    MOMENT = 250_000_000         # nanoseconds
    MOST_LEFT = MOST_SLOTS + 16  # words that a block leaves
    ACCESS_SHIFT = 32            # of counted accesses in `progress` (plugin.c)
    EXITED = 1 << 8              # beside an exit status (follow.h)


cdef bint wait_a_moment(sem_t* semaphore) noexcept nogil:
    """Wait for a semaphore; False when a signal's handler ran, or might have just before."""
    cdef timespec until
    clock_gettime(CLOCK_REALTIME, &until)
    until.tv_nsec += MOMENT
    if until.tv_nsec >= 1_000_000_000:
        until.tv_nsec -= 1_000_000_000
        until.tv_sec += 1
    return sem_timedwait(semaphore, &until) == 0


cdef class Reader:
    """Reads what one guest retires, with the addresses of its accesses if ``traced``, or only
    how often blocks ran if ``totals``; ``ring`` and ``area_file`` are what
    the plugin is told. MemoryError."""

    cdef readonly Ring ring
    cdef readonly int area_file
    cdef area* shared
    cdef Describer describer
    cdef bint dead
    cdef readonly uint64_t ip    # of the block that was given last, if it is not traced; of the instruction that faulted

    def __cinit__(self, Describer describer, bint traced=False, bint totals=False):
        cdef void* place
        self.area_file = -1
        self.ring = Ring()
        self.describer = describer
        self.area_file = os.memfd_create("pfmon announcements")
        os.ftruncate(self.area_file, AREA_BYTES)
        place = mmap(NULL, AREA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, self.area_file, 0)
        if place == MAP_FAILED:
            raise MemoryError("there is no room for the announcements of blocks")
        self.shared = <area*>place
        self.shared.traced, self.shared.totals = traced, totals
        describer.shared = self.shared

    def __dealloc__(self):
        if self.shared != NULL:
            self.describer.shared = NULL
            munmap(self.shared, AREA_BYTES)
        if self.area_file >= 0:
            os.close(self.area_file)

    @property
    def retired(self):
        """Instructions that the guest has retired so far; the last block counts whole until more is known of it."""
        return self.shared.retired

    @property
    def executing(self):
        """Whether the guest went on as another program: 1, which qemu does not execute; 2, which is followed."""
        return self.shared.executing

    @property
    def executed(self):
        """The program that it executed last, if programs are followed."""
        return bytes(self.shared.executed)

    @property
    def exit_status(self):
        """The exit status that the guest has given; None: it has given none."""
        return self.shared.status & 0xFF if self.shared.status & EXITED else None

    @property
    def task(self):
        """The number by which what it starts is told to be its own."""
        return self.shared.task

    @task.setter
    def task(self, number):
        self.shared.task = number

    @property
    def forks(self):
        """Children that it has begun, if they are followed."""
        return self.shared.forks

    @forks.setter
    def forks(self, number):
        self.shared.forks = number

    @property
    def files(self):
        """Those that the program has mapped executable so far."""
        return self.describer.files()

    def close_files(self):
        """The guest has what it was to be given: descriptors are few."""
        self.ring.close_descriptor()
        if self.area_file >= 0:
            os.close(self.area_file)
            self.area_file = -1

    @property
    def trouble(self):
        """Why the plugin gave up (layout.h, enum trouble)."""
        return self.shared.trouble

    @property
    def message(self):
        """What qemu itself had to say."""
        return bytes(self.shared.message[:self.shared.message_length])

    def request_stop(self):
        """The guest is to end itself when it hands the next buffer over, between two blocks."""
        self.shared.stopping = 1

    def guest_died(self):
        """Nothing more will come: wake the reader up."""
        self.dead = True
        sem_post(&self.ring.shared.full)

    def read(self, Consumer consumer):
        """Give a consumer everything until the guest is dead; ``finish`` then gives what its last buffer holds.
        Python's handlers of signals run in between; what they raise ends this."""
        cdef Shared* shared = self.ring.shared
        cdef bint came
        while not self.dead:
            with nogil:
                came = wait_a_moment(&shared.full)
                if came and shared.reading < shared.filling:
                    self.give_buffer(consumer)
            PyErr_CheckSignals()
        with nogil:
            while shared.reading < shared.filling:
                self.give_buffer(consumer)

    cdef void give_buffer(self, Consumer consumer) noexcept nogil:
        """Give a consumer the buffer that is next, and then give it back."""
        cdef Shared* shared = self.ring.shared
        cdef Buffer* buffer = &shared.buffers[shared.reading % BUFFERS]
        self.give(consumer, buffer.words, buffer.count)
        buffer.count = 0
        shared.reading += 1
        sem_post(&shared.empty)

    cdef void give(self, Consumer consumer, const uint64_t* words, uint64_t count) noexcept nogil:
        cdef uint64_t i
        if not self.describer.describe():
            consumer.fail(<Failure>self.describer.table.c.header.failure)
            return
        if count == 0:
            return
        for i in range(count - 1, max(0, <int64_t>count - 8) - 1, -1):
            if words[i] >> 63 == 0 and not self.shared.traced:       # addresses look like blocks
                self.ip = self.describer.table.c.heads[words[i] & BLOCK_MASK].ip
                break
        consumer.consume(words, count)

    def finish(self, Consumer consumer, bint faulted, uint32_t signal, status):
        """Give a consumer the last words of a guest that has died. ``faulted``: an instruction of its did that, by a
        signal; ``status``: for an EXIT mark, or None when the run was stopped."""
        cdef Shared* shared = self.ring.shared
        cdef uint64_t* words = shared.buffers[shared.filling % BUFFERS].words
        cdef uint64_t count = self.shared.count or shared.buffers[shared.filling % BUFFERS].count, mark, where = 0
        if not self.describer.describe():
            consumer.fail(<Failure>self.describer.table.c.header.failure)
            return
        for i in range(MOST_THREADS):
            if self.shared.threads[i].last != NULL and self.last_block(i).parts:
                count = self.settle(i, words, count, faulted, &where)
                if count + MOST_LEFT > BUFFER_WORDS:
                    with nogil:                  # another thread, that has to read first, may want the GIL
                        self.give(consumer, words, count)
                    count = 0
        with nogil:
            self.give(consumer, words, count)
        if self.shared.totals:
            self.shared.retired += give_totals(self.shared, self.describer, consumer, faulted, &where)
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

    cdef const announcement* last_block(self, int number):
        """The block that began last in a thread, as this process sees it."""
        return <const announcement*>(<const uint8_t*>self.shared + (
            <const uint8_t*>self.shared.threads[number].last - <const uint8_t*>self.shared.base))

    cdef uint64_t settle(self, int number, uint64_t* words, uint64_t count, bint faulted, uint64_t* where):
        """Put the words of the block that began last in a thread, or of the part of it that retired; how many words
        there are then. ``where`` becomes the address of the instruction that did not. This is what the plugin does when
        another block begins (plugin.c)."""
        cdef const announcement* last = self.last_block(number)
        cdef uint64_t passed = self.shared.threads[number].progress - self.shared.threads[number].before
        cdef uint64_t retired = last.instructions
        cdef const announcement* part = last
        cdef bint whole
        flags = []
        for _ in range(last.parts):
            flags.extend((<const uint8_t*>(part + 1))[k] for k in range(part.length))
            part = <const announcement*>(<const uint8_t*>part + room_of(part))
        if <uint32_t>passed < <uint32_t>last.whole:
            retired = next((k for k in range(<uint32_t>passed, retired - 1) if flags[k] & MAY_FAULT), retired - 1)
        else:
            if last.tail == COUNTED:
                whole = passed >> ACCESS_SHIFT >= last.accesses
            else:
                whole = not (faulted and (last.tail == SUCCESSOR or last.tail == REPEATED))
            retired -= not whole
        self.shared.retired -= last.instructions - retired
        if retired < last.instructions:
            return self.cut(number, words, count, last.number, retired, where)
        return self.put_whole(number, words, count, last)

    cdef uint64_t put_whole(self, int number, uint64_t* words, uint64_t count, const announcement* last):
        """Put the words of the block that began last in a thread; how many words there are then."""
        cdef const string* strings = self.shared.threads[number].strings
        cdef const BlockHead* head
        cdef uint64_t block, slot = 0, k
        for block in range(last.number, last.number + last.parts):
            count = self.put(number, words, count, block, &slot)
        if self.shared.traced and last.tail == REPEATED:
            head = &self.describer.table.c.heads[last.number + last.parts - 1]
            slot = made_by(&self.describer.table.c.instructions[head.first + head.length - 1])
            for k in range(slot):
                words[count - slot + k] = strings[k].first if strings[k].last else 0
            if slot and strings[0].last > strings[0].first:
                words[count] = mark_word(Mark.STRING, indexed(strings[0].last - strings[0].first, head.length - 1))
                count += 1
        return count

    cdef uint64_t put(self, int number, uint64_t* words, uint64_t count, uint64_t block, uint64_t* slot):
        """Put a block's word and the addresses of its accesses, which begin at ``slot`` of the thread; how many words there
        are then."""
        cdef uint64_t accesses = self.describer.table.c.heads[block].accesses
        words[count] = block
        count += 1
        if self.shared.traced:
            memcpy(words + count, self.shared.threads[number].slots + slot[0], accesses * sizeof(uint64_t))
            count += accesses
            slot[0] += accesses
        return count

    cdef uint64_t cut(self, int thread, uint64_t* words, uint64_t count, uint64_t first, uint64_t retired,
                      uint64_t* where):
        """Put the words of the first instructions of a block in the place of its own; how many words there are then."""
        cdef uint64_t number = first, slot = 0
        cdef uint32_t length
        while True:
            length = self.describer.table.c.heads[number].length
            if retired < length:
                break
            count = self.put(thread, words, count, number, &slot)
            number += 1
            retired -= length
        where[0] = self.describer.table.c.instructions[self.describer.table.c.heads[number].first + retired].address
        if retired:
            number = copy_start(&self.describer.table.c, number, <uint32_t>retired, Cut.FAULT)
        if retired and number:
            count = self.put(thread, words, count, number, &slot)
        return count
