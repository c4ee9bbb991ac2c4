"""The threads of a program on cores of their own: thread n runs on core n modulo their number.

The stream has the threads' turns one after the other, as the engine schedules them. Each core is a machine, which reads the
turns of its threads, in the order of the stream: so all accesses of all cores are in one order, by which their caches are
kept coherent. Each core has a clock of its own, of the cycles in which it executes.

A thread that is switched out in a system call waits, and its core is idle. Its next turn begins after the one before it
in the stream, which woke it; so does the first turn of a core. A thread that is switched out at the end of its quantum
was ready. (So it is with the hardware threads of an Itanium, too: thread_demux.pyx.)
"""

cimport cython
from libc.stdint cimport uint32_t, uint64_t

from pfmon.errors import PfmonError
from pfmon.stream._stream cimport Mark, mark_kind, mark_value


@cython.final
cdef class IntervalCores(EventSetConsumer):
    """As `IntervalMachine`, of so many ``cores``, 2 to 32. PfmonError: the machine's caches do not go together."""

    def __cinit__(self, config, BlockTable table, uint32_t event_sets, timings, bint graphs, uint32_t cores):
        cdef uint32_t core
        check_coherent(config)
        self.coherent, self.count = CoherentCaches(cores, config["memory.inclusive"] and "l3.size" in config), cores
        self.machines = []
        for core in range(cores):
            self.machines.append(IntervalMachine(config, table, event_sets, timings, graphs, self.coherent, core,
                                                 self.machines[0] if core else None))
            self.asleep[core] = core > 0
        self.current = self.machines[0]

    # --- the stream

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        cdef uint64_t i = 0, length
        while i < count:
            if self.current.event_set != self.event_set:
                self.current.use_event_set(self.event_set)
            length = self.turn_length(words + i, count - i)
            self.current.consume(words + i, length)
            if self.current.failure:
                self.fail(self.current.failure)
            if length:
                self.called = words[i + length - 1] >> 63 and mark_kind(words[i + length - 1]) == Mark.SYSTEM_CALL
            i += length
            if i < count:
                self.switch_thread(mark_value(words[i]))
                i += 1

    cdef uint64_t turn_length(self, const uint64_t* words, uint64_t count) noexcept nogil:
        """Returns the number of words of the current turn, up to the mark of the next thread."""
        cdef uint64_t i = 0
        cdef const IntervalPath* path
        while i < count:
            if words[i] >> 63:
                if mark_kind(words[i]) == Mark.THREAD:
                    return i
                i += 1
                continue
            path = path_of_word(self.current.paths, words[i])
            if path == NULL:
                return count
            i += 1 + path.reached
        return count

    cdef void switch_thread(self, uint64_t thread) noexcept nogil:
        """Lets a thread run from here on."""
        cdef uint32_t core = <uint32_t>(thread % self.count)
        self.coherent.thread = thread
        if core == self.core:
            return
        self.current.end_turn()
        self.asleep[self.core] |= self.called
        self.called = False
        with gil:
            self.choose_core(core)

    cdef int choose_core(self, uint32_t core) except -1:
        """Continues with another core."""
        cdef int64_t woken_at = self.clock(self.core)
        self.core = core
        self.current = self.machines[core]
        self.current.records.use(self.current.event_set)
        if self.asleep[core]:
            self.asleep[core] = False
            self.idle[core] += max(0, woken_at - <int64_t>self.clock(core))
        return 0

    cdef bint take_paths(self, PathTable paths) noexcept:
        cdef IntervalMachine one
        cdef bint taken = True
        for one in self.machines:
            taken &= one.take_paths(paths)
        return taken

    cdef void use_event_set(self, uint32_t event_set) noexcept nogil:
        self.event_set = event_set
        self.current.use_event_set(event_set)

    # --- interface for Python, as of IntervalMachine

    def clock(self, core: int) -> int:
        """The cycle in which a core is."""
        return self.machines[core].cycles + self.idle[core]

    def cycles_of_cores(self) -> list[tuple[int, int]]:
        """(cycles, cycles in which it was idle before the last of them) of each core."""
        return [(one.cycles, self.idle[core]) for core, one in enumerate(self.machines)]

    @property
    def records(self) -> Records:
        """The records, which the cores share."""
        return self.machines[0].records

    @property
    def cycles(self) -> int:
        """Cycles of all cores so far."""
        return sum([one.cycles for one in self.machines])

    def record_events(self, executions: bool, sources: bool) -> None:
        for one in self.machines:
            one.record_events(executions, sources)

    def set_observer(self, observer) -> None:
        for one in self.machines:
            one.set_observer(observer)

    def listen(self, listener, event_set: int = 0) -> None:
        for one in self.machines:
            one.listen(listener, event_set)

    def switch_event_set(self, event_set: int) -> None:
        self.use_event_set(event_set)

    def update_records(self, next_ip: int) -> None:
        self.current.update_records(next_ip)
        self.show_records()

    def show_records(self) -> None:
        for one in self.machines:
            one.show_records()
        self.current.records.use(self.current.event_set)

    def finish(self) -> None:
        for one in self.machines:
            one.finish()

    def omissions(self):
        """(text, share of the instructions) of what the model leaves out of what ran so far."""
        if self.current.timings is None:
            return []
        forms = {}
        for one in self.machines:
            for form, times in executed_forms((<IntervalMachine>one).paths).items():
                forms[form] = forms.get(form, 0) + times
        return self.current.timings.omissions(forms)

    def time(self, event_sets=None):
        """Cycles of the cores and of the reference clock while they executed, added up."""
        times = [one.time(event_sets) for one in self.machines]
        return sum([cycles for cycles, _ in times]), sum([reference for _, reference in times])

    def kernel_clock(self, event_sets=None):
        return 0

    def occurrences(self, event_sets=None):
        return self.machines[0].occurrences(event_sets)

    def bubbles(self, event_sets=None):
        return self.machines[0].bubbles(event_sets)

    def levels(self, event_sets=None):
        return {}


def check_coherent(config) -> None:
    """PfmonError unless the machine's caches can be kept coherent."""
    name = config["machine.name"]
    if "snoop.modified" not in config:
        raise PfmonError(f"--cores: {name} has no figures of more than one core (snoop.clean, snoop.modified)")
    if len({config[f"{cache}.line"] for cache in ("l1d", "l1i", "l2", "l3") if f"{cache}.line" in config}) > 1:
        raise PfmonError(f"--cores: the caches of {name} have lines of different sizes")
