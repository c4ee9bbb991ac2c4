"""Two cores: the engine writes the stream, and a reader that takes as long as the engine reads it in its own thread.

What the engine gives is copied into a ring of slots; small pieces (a program that makes many system calls) share one.
A slot is handed over when it is full. The reader sees the same words in the same order whatever the threads do, so its
results do not depend on them. What it has to know of new blocks it takes over in the engine's thread, for the engine's
table of shapes may move at any time.
"""

from threading import Thread

from libc.stdlib cimport free, realloc
from libc.string cimport memcpy


cdef class Learner(Consumer):
    """The base class takes nothing over."""

    cdef void learn(self, const Shapes* shapes) noexcept nogil:
        pass


cdef class Pipe(Consumer):
    """Feeds ``reader``, and ``beside`` in the engine's own thread. Within ``with`` the reader's thread runs; behind it
    the reader has seen everything. Without ``threaded`` both read in the engine's thread."""

    def __cinit__(self, ShapeTable shapes, Learner reader, Consumer beside=None, bint threaded=True):
        self.shapes = shapes
        self.reader = reader
        self.beside = beside if beside is not None else Consumer()
        self.threaded = threaded
        if sem_init(&self.empty, 0, SLOTS) or sem_init(&self.full, 0, 0):
            raise MemoryError
        self.ready = True
        if not self.room(SLOT_WORDS):
            raise MemoryError

    def __dealloc__(self):
        cdef int i
        if self.ready:
            sem_destroy(&self.empty)
            sem_destroy(&self.full)
        for i in range(SLOTS):
            free(self.slots[i].words)

    def __enter__(self):
        if self.threaded:
            self.wait(&self.empty)
            self.thread = Thread(target=self.read, name="reader of the stream", daemon=True)
            self.thread.start()
        return self

    def __exit__(self, *_):
        self.finish()

    def finish(self):
        """Hand over what is left and wait until the reader has read it."""
        if self.thread is None:
            return
        with nogil:
            if self.slots[self.filling % SLOTS].count:
                self.hand_over()
            sem_post(&self.full)             # of an empty slot: the end
        self.thread.join()
        self.thread = None

    def drain(self):
        """Wait until the reader has read everything so far; the thread goes on."""
        cdef int i
        if self.thread is None:
            return
        with nogil:
            if self.slots[self.filling % SLOTS].count:
                self.hand_over()
            for i in range(SLOTS - 1):
                self.wait(&self.empty)
            for i in range(SLOTS - 1):
                sem_post(&self.empty)

    def read(self):
        """The reader's thread."""
        with nogil:
            self.work()

    cdef void work(self) noexcept nogil:
        cdef uint64_t number = 0
        cdef Slot* slot
        while True:
            self.wait(&self.full)
            slot = &self.slots[number % SLOTS]
            if slot.count == 0:
                return
            self.reader.consume(slot.words, slot.count)
            slot.count = 0
            number += 1
            sem_post(&self.empty)

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        cdef Slot* slot = &self.slots[self.filling % SLOTS]
        if count == 0:
            return
        self.beside.consume(words, count)
        if not self.threaded:
            self.reader.learn(&self.shapes.c)
            self.reader.consume(words, count)
            return
        if slot.count and slot.count + count > SLOT_WORDS:
            self.hand_over()
            slot = &self.slots[self.filling % SLOTS]
        if not self.room(slot.count + count):
            self.lost = True
            return
        memcpy(slot.words + slot.count, words, count * sizeof(uint64_t))
        slot.count += count

    cdef void hand_over(self) noexcept nogil:
        """The slot is the reader's; wait until the next one is free."""
        self.reader.learn(&self.shapes.c)
        self.filling += 1
        sem_post(&self.full)
        self.wait(&self.empty)

    cdef void wait(self, sem_t* semaphore) noexcept nogil:
        while sem_wait(semaphore):           # a signal's handler ran
            pass

    cdef bint room(self, uint64_t count) noexcept nogil:
        """Whether the slot that is being filled has room for this many words."""
        cdef Slot* slot = &self.slots[self.filling % SLOTS]
        cdef uint64_t* fresh
        cdef uint64_t capacity = count if count > SLOT_WORDS else SLOT_WORDS
        if slot.capacity >= count:
            return True
        fresh = <uint64_t*>realloc(slot.words, capacity * sizeof(uint64_t))
        if fresh == NULL:
            return False
        slot.words = fresh
        slot.capacity = capacity
        return True
