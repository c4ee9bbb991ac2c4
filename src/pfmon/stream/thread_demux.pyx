"""The threads of one program on the two hardware threads of a core: thread n on hardware thread n modulo 2.

The engine schedules threads in turn (engine/linux/process/scheduler.py), so its stream interleaves them. Each turn of a
thread goes to the ring of its hardware thread. The last buffer of a turn has a BufferEnd: a thread that is switched out
in a system call waits, so its hardware thread sleeps; the first turn on a sleeping hardware thread begins after the
turn before it in the stream, which woke it. A thread that is switched out at the end of its quantum was ready: its next
turn is not delayed.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free, realloc


cdef class ThreadDemux(Splitter):
    """``readers``: of each hardware thread's stream; they write to ``rings``, a pair."""

    def __init__(self, table, readers, rings, *, traced):
        self.first, self.second = readers
        self.first_ring, self.second_ring = rings
        self.called_at = ~<uint64_t>0
        self.record_turn(0, 0)
        self.asleep[1] = True            # until it gets a thread
        self.used[0] = True

    def __dealloc__(self):
        free(self.turns_begun[0])
        free(self.turns_begun[1])

    cdef void pass_on(self, const uint64_t* words, uint64_t count) noexcept nogil:
        if count and words[count - 1] >> 63 and self.is_thread_switch(words[count - 1]):
            count -= 1                   # only the incoming thread is passed on
        self.write_half(self.running, words, count)

    cdef bint is_thread_switch(self, uint64_t word) noexcept nogil:
        """Whether the last word of a part is the mark that ends it."""
        return self.thread_switches and mark_kind(word) == Mark.THREAD

    cdef void write_half(self, uint32_t half, const uint64_t* words, uint64_t count) noexcept nogil:
        if count == 0:
            return
        if half:
            self.second.consume(words, count)
        else:
            self.first.consume(words, count)

    cdef bint ends_part(self, uint64_t mark) noexcept nogil:
        self.thread_switches = mark_kind(mark) == Mark.THREAD
        return self.thread_switches or mark_kind(mark) == Mark.SYSTEM_CALL

    cdef void handle_mark(self, uint64_t mark) noexcept nogil:
        cdef uint64_t place = mark_value(mark)
        cdef uint32_t half = <uint32_t>(place % HALVES)
        if mark_kind(mark) == Mark.SYSTEM_CALL:
            self.called_at = self.retired
            return
        self.thread_switches = False
        if half != self.running:
            self.retired_by[self.running] += self.retired - self.counted
            self.counted = self.retired
            if not self.first_ring.pair.on_demand:
                self.end_turn(half)
            self.running = half
        if self.used[half] and place != self.place[half]:
            self.write_half(half, &mark, 1)    # another thread of the same hardware thread
        if not self.used[half] or place != self.place[half]:
            self.record_turn(half, place)
        self.used[half] = True
        self.place[half] = place

    cdef void end_turn(self, uint32_t half) noexcept nogil:
        """Ends the buffer of the hardware thread that runs; the other one is next."""
        cdef uint32_t buffer_end = GOES_ON
        if self.asleep[half]:
            buffer_end |= WAKES_OTHER
            self.asleep[half] = False
        if self.retired == self.called_at:
            buffer_end |= SLEEPS
            self.asleep[self.running] = True
        self.end_buffer(buffer_end)

    cdef void end_buffer(self, uint32_t buffer_end) noexcept nogil:
        if self.running:
            self.second_ring.end_buffer(buffer_end)
        else:
            self.first_ring.end_buffer(buffer_end)

    def end_part(self, uint64_t next_ip, bint sleeps, bint wakes_other, bint interrupts_other):
        """On demand: hands over what the running hardware thread has executed, up to the instruction at ``next_ip``; it
        sleeps then, the other one wakes, or an external interrupt has arrived at the other one."""
        cdef uint32_t buffer_end = GOES_ON
        if sleeps: buffer_end |= SLEEPS
        if wakes_other: buffer_end |= WAKES_OTHER
        if interrupts_other: buffer_end |= INTERRUPTS_OTHER
        with nogil:
            self.first_ring.pair.next_ip[self.running] = next_ip
            self.end_buffer(buffer_end)

    cdef void record_turn(self, uint32_t half, uint64_t place) noexcept nogil:
        cdef uint64_t count = self.turn_count[half], capacity = self.turn_capacity[half] * 2 + 16
        cdef BegunThread* more
        if count == self.turn_capacity[half]:
            more = <BegunThread*>realloc(self.turns_begun[half], capacity * sizeof(BegunThread))
            if more == NULL:
                self.fail(Failure.OUT_OF_MEMORY)
                return
            self.turns_begun[half], self.turn_capacity[half] = more, capacity
        self.turns_begun[half][count] = BegunThread(self.retired_in(half), place)
        self.turn_count[half] = count + 1

    def thread_turns(self, uint32_t half):
        """(instructions of the hardware thread before, number of the thread in the program) of each turn whose thread
        differs from the one before."""
        return [(self.turns_begun[half][i].retired, self.turns_begun[half][i].place)
                for i in range(self.turn_count[half])]

    def retired_on(self, uint32_t half):
        """Instructions of one hardware thread."""
        return self.retired_in(half)

    cdef uint64_t retired_in(self, uint32_t half) noexcept nogil:
        return self.retired_by[half] + (self.retired - self.counted if half == self.running else 0)
