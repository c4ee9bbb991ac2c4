"""Two coupled machines, running one at a time, in one thread of the host: hardware threads of a core, or two cores.

Each reads a stream of its own. A machine that yields keeps its stack, in the middle of a block or of a memory access
(coroutine.pxd). So the order of their accesses to shared state is that of the modelled cycles, and depends on nothing
else.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free

from pfmon.stream._stream cimport (
    BUFFERS, Buffer, Consumer, INTERRUPTS_OTHER, NOTHING_NOW, Ring, SLEEPS, Shared, THE_END, BufferState, WAKES_OTHER,
    read_all)


cdef void begin_second(uint32_t low, uint32_t high) noexcept nogil:
    """Entry point of the second flow; the arguments are the halves of the object's address."""
    (<CoupledMachines><void*>(<uintptr_t>high << 32 | low)).run_flow(1)


cdef class SwitchedThread:
    """The base class does nothing."""

    cdef void lose_core(self, int64_t now) noexcept nogil:
        pass

    cdef void get_core(self, int64_t now) noexcept nogil:
        pass

    cdef int64_t drain_pipeline(self) noexcept nogil:
        return 0

    cdef void sleep(self) noexcept nogil:
        pass

    cdef void wake(self, int64_t now) noexcept nogil:
        pass

    cdef void record_low_power(self) noexcept nogil:
        pass

    cdef int64_t advance(self, uint64_t next_ip) noexcept nogil:
        return 0

    cdef int64_t end(self) noexcept nogil:
        return 0


cdef class CoupledMachines:
    """The base class does not decide when the flows take turns."""

    def __cinit__(self, *_):
        self.stack = calloc(STACK_BYTES, 1)
        if self.stack == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.stack)

    cdef void on_begin(self, SwitchedThread thread) noexcept nogil:
        pass

    cdef void on_end(self, SwitchedThread thread, int64_t now) noexcept nogil:
        pass

    cdef void on_sleep(self, SwitchedThread thread) noexcept nogil:
        pass

    cdef void on_wake(self, SwitchedThread thread) noexcept nogil:
        pass

    cdef void on_interrupt(self) noexcept nogil:
        pass

    cdef void begin_asleep(self) noexcept nogil:
        """The second flow sleeps until the first one wakes it."""
        self.asleep[1] = True
        self.credit[1] = -1

    cdef void read_pair(self, SwitchedThread thread, Consumer reader, Ring ring) noexcept nogil:
        """Reads a ring whose writer also writes another one, in turn (ring_pair.pyx)."""
        cdef Shared* shared = ring.shared
        cdef Buffer* buffer
        cdef uint32_t own = ring.number, buffer_end
        cdef BufferState found
        while True:
            if ring.pair.on_demand:
                ring.pair.cycle[own] = thread.advance(ring.pair.next_ip[own])
            found = ring.pair.wait_for_buffer(own)
            if found == THE_END:
                return
            if found == NOTHING_NOW:
                self.starved[own] = True
                self.on_sleep(thread)
                self.starved[own] = False
                continue
            buffer = &shared.buffers[shared.reading % BUFFERS]
            buffer_end = ring.pair.buffer_ends[own][shared.reading % BUFFERS]
            reader.consume(buffer.words, buffer.count)
            buffer.count = 0
            shared.reading += 1
            ring.pair.release_buffer(own)
            if self.starved[1 - own] and ring.pair.wait_for_writer(1 - own):
                self.starved[1 - own] = False
                self.on_wake(thread)
            if buffer_end & INTERRUPTS_OTHER:
                self.on_interrupt()
            if buffer_end & WAKES_OTHER:
                self.credit[1 - own] += 1
                if self.credit[1 - own] == 0:
                    self.asleep[1 - own] = False
                    self.on_wake(thread)
            if buffer_end & SLEEPS and not self.ended[1 - own]:
                self.credit[own] -= 1
                if self.credit[own] < 0:
                    self.asleep[own] = True
                    self.on_sleep(thread)

    cdef void yield_to_other(self) noexcept nogil:
        cdef uint32_t own = self.running
        self.running = 1 - own
        self.resume_other(own)

    cdef void resume_other(self, uint32_t own) noexcept nogil:
        if self.begun:
            switch_flow(&self.flows[own], &self.flows[1 - own])
        else:
            self.begun = True
            begin_flow(&self.flows[own], self.stack, STACK_BYTES, begin_second, <void*>self)

    cdef void run_flow(self, uint32_t number) noexcept nogil:
        if self.running != number:       # the second one is to begin
            self.resume_other(number)
        if number:
            self.run_stream(self.second, self.second_reader, self.second_ring)
        else:
            self.run_stream(self.first, self.first_reader, self.first_ring)
        if number or not self.ended[1]:
            self.yield_to_other()         # the second flow never returns

    cdef void run_stream(self, SwitchedThread thread, Consumer reader, Ring ring) noexcept nogil:
        cdef int64_t now
        self.on_begin(thread)
        if ring.pair is None:
            read_all(ring, reader)
        else:
            self.read_pair(thread, reader, ring)
        now = thread.end()
        self.ended[self.running] = True
        self.on_end(thread, now)

    def run(self, machines, readers, rings):
        """Runs two machines on the streams in two rings. ``readers``: they pass the words of the rings to
        the machines."""
        self.first, self.second = [HardwareThread(machine) for machine in machines]
        self.first_reader, self.second_reader = readers
        self.first_ring, self.second_ring = rings
        with nogil:
            self.run_flow(0)
        self.first = self.second = None          # breaks reference cycles
        self.first_reader = self.second_reader = None
        self.first_ring = self.second_ring = None
