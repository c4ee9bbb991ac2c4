"""A reader of the stream between the engine and others: it lets pass what is to be counted, to whom it is meant for.

Three things decide: triggers (TRIGGER marks, which it takes out), PSR.up (MODE marks), and who was chosen. All change
at marks or between two calls of ``consume``, so the parts are whole blocks with all that belongs to them.
"""

from libc.stdint cimport uint64_t

from pfmon.stream.shapes cimport Consumer, Shape, ShapeTable, popcount
from pfmon.stream.stream cimport BLOCK_MASK, MARK_MODE, MARK_SHIFT, MARK_TRIGGER
from pfmon.stream.switches cimport STARTS, STOPS, TRIGGERS, is_counting, reach_trigger, set_mode


cdef class Gate(Consumer):
    """Hands the stream on to one of ``readers`` and to ``witness``, if there is one, while counting is on.

    ``triggers``: by number (starts, group, repeats): a trigger that starts or stops counting, of one of two groups. The
    first start of a group that finds counting off, and the first stop that finds it on, do so; of a group that repeats
    every one. ``on``: whether counting is on at first; ``up``: PSR.up at first, None: it does not matter.
    """

    def __cinit__(self, ShapeTable shapes, readers, *, bint traced, triggers=(), bint on=True, up=None, witness=None):
        if len(triggers) > TRIGGERS:
            raise ValueError(f"{len(triggers)} triggers: there is room for {TRIGGERS}")
        self.shapes = shapes
        self.keep = list(readers)
        self.reader = self.keep[0]
        self.witness = witness
        self.traced = traced
        self.switches.on = on
        self.switches.heeds_up = up is not None
        self.switches.up = bool(up)
        self.last = BLOCK_MASK           # none
        for number, (starts, group, repeats) in enumerate(triggers):
            self.switches.action[number] = STARTS if starts else STOPS
            self.switches.group[number] = group
            self.switches.repeats[group] = repeats

    def choose(self, int place):
        """From here on the reader in this place gets the stream."""
        self.reader = self.keep[place]
        self.reader.follow(self.last)

    def reached(self) -> list[int]:
        """How often each trigger was reached, whether or not it changed anything."""
        return [self.switches.hits[number] for number in range(TRIGGERS) if self.switches.action[number]]

    cdef void pass_on(self, const uint64_t* words, uint64_t count) noexcept nogil:
        if count and is_counting(&self.switches):
            self.reader.consume(words, count)
            if self.witness is not None:
                self.witness.consume(words, count)

    cdef void resume(self) noexcept nogil:
        """What is handed on next comes behind a block that may not have been."""
        self.reader.follow(self.last)
        if self.witness is not None:
            self.witness.follow(self.last)

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        cdef uint64_t i = 0, first = 0, word, kind
        cdef Shape* shape
        while i < count:
            word = words[i]
            i += 1
            if not word >> 63:
                self.last = word & BLOCK_MASK
                if self.traced:
                    shape = &self.shapes.c.shapes[self.last]
                    i += shape.accesses + popcount(word & shape.access_mask)
                continue
            kind = word >> MARK_SHIFT & 0x7F
            if kind == MARK_TRIGGER:
                self.pass_on(words + first, i - 1 - first)
                first = i
                if reach_trigger(&self.switches, word & 0xFFFFFFFFULL):
                    self.resume()
            elif kind == MARK_MODE and self.switches.heeds_up:
                self.pass_on(words + first, i - first)
                first = i
                set_mode(&self.switches, word)
                self.resume()
        self.pass_on(words + first, count - first)

    cdef void follow(self, uint64_t block) noexcept nogil:
        self.last = block
        self.resume()
