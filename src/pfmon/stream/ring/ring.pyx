"""A ring of buffers between the writer and the reader of the stream, which run in two threads or processes.

The engine's words are copied into buffers; small pieces (of a program with many system calls) share one. Full buffers
are handed over. The reader gets the same words in the same order in every run: results do not depend on the timing of
threads. The block table, which both sides map, has each block before the words that name it.
"""

import os
from _thread import allocate_lock, start_new_thread


from libc.string cimport memcmp, memcpy


cdef extern from "<unistd.h>" nogil:
    int close(int)

cdef const char* RING_MAGIC = b"pfmonrng"


cdef class Ring:
    """``attach``: the descriptor of a ring of another process. ValueError: it is no ring."""

    def __cinit__(self, attach=None):
        cdef void* place
        self.attached = attach is not None
        self.descriptor = os.dup(attach) if self.attached else make_memory_file("pfmon stream", sizeof(Shared))
        if self.attached and os.fstat(self.descriptor).st_size != sizeof(Shared):
            raise ValueError("this is no ring of the stream")
        place = mmap(NULL, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, self.descriptor, 0)
        if place == MAP_FAILED:
            raise MemoryError("there is no room for the ring of the stream")
        self.shared = <Shared*>place
        if self.attached:
            if memcmp(self.shared.magic, RING_MAGIC, 8):
                raise ValueError("this is no ring of the stream")
        else:
            memcpy(self.shared.magic, RING_MAGIC, 8)
            # The writer owns one buffer from the start.
            if sem_init(&self.shared.empty, 1, BUFFERS - 1) or sem_init(&self.shared.full, 1, 0):
                raise MemoryError("the ring of the stream has no semaphores")

    def __dealloc__(self):
        if self.shared != NULL:
            munmap(self.shared, sizeof(Shared))
        if self.descriptor is not None:
            close(self.descriptor)

    def close_descriptor(self):
        """Closes the descriptor after the last process has attached: the memory stays."""
        if self.descriptor is not None:
            close(self.descriptor)
            self.descriptor = None

    @property
    def failure(self):
        """The writer's Failure."""
        return Failure(self.shared.failure)

    cdef void hand_over(self) noexcept nogil:
        """Hands the buffer over to the reader; waits until the next one is free."""
        if self.pair is not None:
            self.shared.filling += 1
            self.pair.hand_over(self.number, self.shared.filling - 1)
            return
        self.shared.filling += 1
        sem_post(&self.shared.full)
        wait(&self.shared.empty)

    def read_into(self, Consumer consumer):
        """Reader's side: passes everything to a consumer, until the writer has finished."""
        with nogil:
            read_all(self, consumer)

    def finish(self):
        """Writer's side: hands over the last buffer and ends the stream."""
        with nogil:
            if self.shared.buffers[self.shared.filling % BUFFERS].count:
                self.hand_over()
            if self.pair is not None:
                self.pair.finish(self.number)
            else:
                sem_post(&self.shared.full)  # of an empty buffer: the end

    def join_pair(self, RingPair pair, uint32_t number):
        """Joins a pair of rings that one writer fills in turn. Before anything is written."""
        self.pair, self.number = pair, number

    cdef void end_buffer(self, uint32_t buffer_end) noexcept nogil:
        self.pair.next_end[self.number] = buffer_end
        self.hand_over()

    def drain(self):
        """Writer's side: waits until the reader has read everything so far."""
        with nogil:
            wait_until_read(self)


cdef void wait_until_read(Ring ring) noexcept nogil:
    cdef Shared* shared = ring.shared
    cdef int i
    if shared.buffers[shared.filling % BUFFERS].count:
        ring.hand_over()
    for i in range(BUFFERS - 1):
        wait(&shared.empty)
    for i in range(BUFFERS - 1):
        sem_post(&shared.empty)


cdef void read_all(Ring ring, Consumer consumer) noexcept nogil:
    cdef Buffer* buffer
    cdef Shared* shared = ring.shared
    while True:
        wait(&shared.full)
        buffer = &shared.buffers[shared.reading % BUFFERS]
        if buffer.count == 0:
            break
        consumer.consume(buffer.words, buffer.count)
        buffer.count = 0
        shared.reading += 1
        sem_post(&shared.empty)


cdef void wait(sem_t* semaphore) noexcept nogil:
    while sem_wait(semaphore):               # interrupted by a signal handler
        pass


cdef class RingWriter(Consumer):
    """Writes into a ring."""

    def __cinit__(self, Ring ring):
        self.ring = ring

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        cdef Shared* shared = self.ring.shared
        cdef Buffer* buffer = &shared.buffers[shared.filling % BUFFERS]
        if count > BUFFER_WORDS:
            self.fail(Failure.TOO_MANY_WORDS)
            shared.failure = Failure.TOO_MANY_WORDS
            return
        if buffer.count + count > BUFFER_WORDS:
            self.ring.hand_over()
            buffer = &shared.buffers[shared.filling % BUFFERS]
        memcpy(buffer.words + buffer.count, words, count * sizeof(uint64_t))
        buffer.count += count


cdef class Reading:
    """A thread that reads a ring. The module threading is not loaded for it: every run has one."""

    def __cinit__(self, Ring ring, Consumer reader):
        self.over = allocate_lock()
        self.over.acquire()
        start_new_thread(self.read, (ring, reader))

    def read(self, Ring ring, Consumer reader):
        try:
            ring.read_into(reader)
        finally:
            self.over.release()

    def join(self):
        """Waits until the thread has read everything."""
        with self.over:
            pass


cdef class Pipe(Consumer):
    """Feeds ``reader`` in a thread of its own, and ``beside`` in the engine's thread. The thread runs within ``with``;
    on exit the reader has read everything. Without ``threaded`` both read in the engine's thread. ``second`` decides
    when the thread is worth it; by default it always runs. ``read``: starts reading a ring elsewhere and returns a
    joinable, instead of a thread of the pipe's own."""

    def __cinit__(self, Consumer reader, Consumer beside=None, bint threaded=True, read=None, SecondThread second=None):
        self.read = read
        self.reader = reader
        self.beside = beside if beside is not None else Consumer()
        self.writer = RingWriter(Ring()) if threaded else None
        self.second = second if threaded else None
        self.threaded = threaded and second is None

    def __enter__(self):
        if self.threaded:
            self.begin()
        return self

    cdef begin(self):
        """Starts reading the ring."""
        read = self.read if self.read else Reading
        self.thread = read(self.writer.ring, self.reader)

    def __exit__(self, *_):
        self.finish()

    def finish(self):
        """Hands over the last buffer and waits until the reader has read it."""
        if self.thread is None:
            return
        self.writer.ring.finish()
        self.thread.join()
        self.thread = None

    def drain(self):
        """Waits until the reader has read everything so far; the thread goes on."""
        if self.thread is not None:
            self.writer.ring.drain()

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        if count == 0:
            return
        self.beside.consume(words, count)
        if self.second is not None:
            if count > BUFFER_WORDS:     # a failure of the ring in either mode
                self.fail(Failure.TOO_MANY_WORDS)
            if self.second.is_turn_over(count):
                self.choose()
        if not self.threaded:
            self.reader.consume(words, count)
            return
        self.writer.consume(words, count)
        if self.writer.failure:
            self.fail(self.writer.failure)

    cdef void choose(self) noexcept nogil:
        """Chooses the engine's thread or the second one for the next words."""
        if self.threaded:
            wait_until_read(self.writer.ring)
        self.second.begin_turn()
        self.threaded = self.second.on
        if self.threaded and self.thread is None:
            with gil:
                try:
                    self.begin()
                except RuntimeError:     # the host has no thread left
                    self.threaded, self.second = False, None
