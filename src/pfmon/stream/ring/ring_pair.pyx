"""Two rings that one writer fills in turn: the streams of a program's threads on two hardware threads.

The reader chooses the ring that it reads. If that ring is empty while the writer waits for room in the other one, there
is nothing to read: this depends on the words written and read, not on the speed of the threads.

On demand the writer instead waits until the reader has read everything and needs one ring, and fills that one: what is
written then depends on the reader's cycle.
"""

from libc.stdint cimport uint32_t, uint64_t


cdef class RingPair:
    """State of both rings."""

    def __cinit__(self):
        pthread_mutex_init(&self.mutex, NULL)
        pthread_cond_init(&self.changed, NULL)
        self.awaited = self.demanded = -1

    def __dealloc__(self):
        pthread_mutex_destroy(&self.mutex)
        pthread_cond_destroy(&self.changed)

    cdef void hand_over(self, uint32_t ring, uint64_t buffer) noexcept nogil:
        pthread_mutex_lock(&self.mutex)
        self.buffer_ends[ring][buffer % PAIR_BUFFERS] = self.next_end[ring]
        self.next_end[ring] = GOES_ON
        self.full[ring] += 1
        if self.demanded == <int>ring:
            self.demanded = -1
        pthread_cond_broadcast(&self.changed)
        while self.full[ring] == PAIR_BUFFERS:
            self.awaited = <int>ring
            pthread_cond_broadcast(&self.changed)
            pthread_cond_wait(&self.changed, &self.mutex)
        pthread_mutex_unlock(&self.mutex)

    cdef void finish(self, uint32_t ring) noexcept nogil:
        pthread_mutex_lock(&self.mutex)
        self.finished[ring] = True
        if self.demanded == <int>ring:
            self.demanded = -1
        pthread_cond_broadcast(&self.changed)
        pthread_mutex_unlock(&self.mutex)

    cdef BufferState wait_for_buffer(self, uint32_t ring) noexcept nogil:
        cdef BufferState found = A_BUFFER
        pthread_mutex_lock(&self.mutex)
        while self.full[ring] == 0:
            if self.finished[ring]:
                found = THE_END
                break
            if self.on_demand:
                self.demanded = <int>ring
                pthread_cond_broadcast(&self.changed)
            elif self.awaited == <int>(1 - ring):
                found = NOTHING_NOW
                break
            pthread_cond_wait(&self.changed, &self.mutex)
        pthread_mutex_unlock(&self.mutex)
        return found

    def write_on_demand(self):
        """From the beginning: the writer fills the ring that `wait_for_demand` names."""
        self.on_demand = True

    def wait_for_demand(self):
        """Writer's side: waits until the reader has read everything and needs more. Returns the number of the ring that
        it needs, and its cycle there."""
        cdef int ring
        with nogil:
            pthread_mutex_lock(&self.mutex)
            while self.demanded < 0:
                pthread_cond_wait(&self.changed, &self.mutex)
            ring = self.demanded
            pthread_mutex_unlock(&self.mutex)
        return ring, self.cycle[ring]

    cdef void release_buffer(self, uint32_t ring) noexcept nogil:
        pthread_mutex_lock(&self.mutex)
        self.full[ring] -= 1
        if self.awaited == <int>ring:
            self.awaited = -1
        pthread_cond_broadcast(&self.changed)
        pthread_mutex_unlock(&self.mutex)

    cdef bint wait_for_writer(self, uint32_t ring) noexcept nogil:
        cdef bint found
        pthread_mutex_lock(&self.mutex)
        while self.full[ring] == 0 and not self.finished[ring] and self.awaited != <int>(1 - ring):
            pthread_cond_wait(&self.changed, &self.mutex)
        found = self.full[ring] > 0 or self.finished[ring]
        pthread_mutex_unlock(&self.mutex)
        return found
