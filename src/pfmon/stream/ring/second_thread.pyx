"""Decides whether the stream is read in a second thread, by a measurement of the run itself.

With two free cores a run with a second thread ends sooner, for the same processor time. If the host's two processors
are threads of one core, as in most virtual machines, or are busy, it takes up to half more processor time and may end
later. A run begins in one thread. After some time a trial runs both modes in turn: the second thread stays if a word of
the stream costs no more processor time with it. The trial is repeated later.
"""

from posix.time cimport CLOCK_MONOTONIC, clock_gettime, clockid_t, timespec

cdef extern from "<time.h>" nogil:
    clockid_t CLOCK_PROCESS_CPUTIME_ID

cdef enum:
    TURNS = 8                    # of a trial, four in each mode
    CLOCK_WORDS = 1 << 16        # words between two reads of the clock

cdef double ALIKE = 1.1          # ratio of processor times that counts as equal: turns differ by that


cdef double now(clockid_t clock) noexcept nogil:
    cdef timespec time
    clock_gettime(clock, &time)
    return time.tv_sec + time.tv_nsec * 1e-9


cdef class SecondThread:
    """``trial_after``: seconds of the run before the first trial; ``turn_seconds``: length of each of its turns;
    ``holds``: seconds for which its result holds."""

    def __cinit__(self, double trial_after=1.0, double turn_seconds=0.05, double holds=10.0):
        self.turn_seconds, self.holds = turn_seconds, holds
        self.ends = now(CLOCK_MONOTONIC) + trial_after

    cdef bint is_turn_over(self, uint64_t count) noexcept nogil:
        self.words += count
        self.unseen += count
        if self.unseen < CLOCK_WORDS:
            return False
        self.unseen = 0
        return now(CLOCK_MONOTONIC) >= self.ends

    cdef void begin_turn(self) noexcept nogil:
        cdef double spent = now(CLOCK_PROCESS_CPUTIME_ID)
        if self.turn:
            self.spent[self.on].seconds += spent - self.began
            self.spent[self.on].words += self.words
        else:
            self.spent[0].seconds = self.spent[1].seconds = 0
            self.spent[0].words = self.spent[1].words = 0
        self.turn += 1
        if self.turn <= TURNS:
            self.on = self.turn % 2 == 0
        else:
            self.turn = 0
            self.on = pays(self.spent[0].seconds, self.spent[0].words, self.spent[1].seconds, self.spent[1].words)
        self.ends = now(CLOCK_MONOTONIC) + (self.turn_seconds if self.turn else self.holds)
        self.began = now(CLOCK_PROCESS_CPUTIME_ID)
        self.words = 0


cpdef bint pays(double alone, uint64_t words_alone, double beside, uint64_t words_beside) noexcept nogil:
    """Whether a word costs no more processor time with the second thread than without: seconds and words of both."""
    return words_beside > 0 and beside * words_alone <= ALIKE * alone * words_beside
