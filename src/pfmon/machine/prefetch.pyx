"""Prefetch of instructions: streams behind the targets of branches with .many, and lines that brp names.

A taken branch with .many makes the lines behind its target be prefetched one after the other (a stream) until the next
taken branch; brp prefetches its target's line, by way of the prefetch virtual address buffer (PVAB). Prefetches never
walk: without a translation in the first-level TLB they are dropped (Montecito manual 4.10).
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.machine.fetch cimport GROUP_SHIFT, KNOWN_TARGETS, LINE_GROUPS, NO_PAGE, InstructionFetch
from pfmon.machine.l2 cimport REQUEST_FETCH_PREFETCH
from pfmon.machine.notes cimport Notes, note
from pfmon.machine.occurrences cimport Occurrence
from pfmon.machine.queues cimport enter_queue, room_in_queue, settle_queue
from pfmon.machine.streaming_buffer cimport NO_LINE, enter_buffer
from pfmon.machine.tags cimport ABSENT, quick_find

cdef enum:
    DEMAND_REQUESTS = 1          # of the RAB's entries: prefetches leave them free (Montecito manual, table 2-9)


cdef inline uint64_t departures_behind(InstructionFetch fetch, uint64_t number) noexcept nogil:
    """How many lines have left of the groups that a stream behind a line asks for: as many as before, if none left."""
    cdef uint64_t group, left = 0
    for group in range(number + 1 >> GROUP_SHIFT, (number + fetch.stream_lines >> GROUP_SHIFT) + 1):
        left += fetch.departures[group & (LINE_GROUPS - 1)]
    return left


cdef bint stream_present(InstructionFetch fetch, uint64_t target) noexcept nogil:
    """Whether everything that a stream behind the target would ask for is there, or on its way."""
    cdef uint64_t number = target >> fetch.line_shift
    cdef uint32_t place = <uint32_t>(number & (KNOWN_TARGETS - 1)), i
    cdef uint64_t left = departures_behind(fetch, number)
    if fetch.known[place] == number and fetch.known_departures[place] == left:
        return 1
    for i in range(1, fetch.stream_lines + 1):
        if not fetch.present((number + i) << fetch.line_shift):
            return 0
    fetch.known[place] = number
    fetch.known_departures[place] = left
    return 1


cdef void redirect(InstructionFetch fetch, Notes* notes, uint64_t target, bint many, int64_t now) noexcept nogil:
    if is_due(fetch, now):
        pump(fetch, notes, now)
    fetch.stream.left, fetch.stream.active = 0, 0
    if not many or not fetch.stream_lines:
        return
    if stream_present(fetch, target):
        note(notes, Occurrence.L1I_PREFETCH, fetch.stream_lines)
        note(notes, Occurrence.L1I_STREAM_PREFETCH, fetch.stream_lines)
        return
    fetch.stream.next = ((target >> fetch.line_shift) + 1) << fetch.line_shift
    fetch.stream.left, fetch.stream.active = fetch.stream_lines, 1
    fetch.stream.since = now + 1


cdef int64_t prefetch_room(InstructionFetch fetch, int64_t now) noexcept nogil:
    """The first cycle from ``now`` on in which a prefetch may be sent: a demand fetch's entry stays free."""
    cdef uint32_t most = fetch.requests.capacity - DEMAND_REQUESTS if fetch.requests.capacity > DEMAND_REQUESTS else 1
    settle_queue(&fetch.requests, now)
    if fetch.requests.count < most:
        return now
    return fetch.requests.leaves[fetch.requests.count - most]


cdef inline bint is_translated(InstructionFetch fetch, uint64_t address) noexcept nogil:
    """Whether the address' page has an entry in the first-level TLB: that of the page that was used last has."""
    return (address >> fetch.tlb_shift == fetch.last_page
            or quick_find(fetch.tlb1.tags, address | fetch.thread) != ABSENT)


cdef void pump(InstructionFetch fetch, Notes* notes, int64_t now) noexcept nogil:
    """What the stream asked for up to now, a line a cycle."""
    cdef int64_t at
    cdef uint32_t lines = 0
    while is_due(fetch, now):
        at = fetch.stream.since
        if not fetch.present(fetch.stream.next):
            if not is_translated(fetch, fetch.stream.next):
                fetch.stream.left, fetch.stream.active = 0, 0
                break
            at = prefetch_room(fetch, at)
            if at > now:
                break
            if at > fetch.stream.since:
                note(notes, Occurrence.PREFETCH_STALL_STREAM, <uint32_t>(at - fetch.stream.since))
            send_prefetch(fetch, notes, fetch.stream.next, at)
        lines += 1
        fetch.stream.next += fetch.line
        fetch.stream.left -= 1
        fetch.stream.since = at + 1
    if lines:
        note(notes, Occurrence.L1I_PREFETCH, lines)
        note(notes, Occurrence.L1I_STREAM_PREFETCH, lines)


cdef void hint(InstructionFetch fetch, Notes* notes, uint64_t target, int64_t now) noexcept nogil:
    cdef uint64_t line = target >> fetch.line_shift << fetch.line_shift
    cdef int64_t at
    if is_due(fetch, now):
        pump(fetch, notes, now)
    if fetch.present(line):
        note(notes, Occurrence.L1I_PREFETCH, 1)
        return
    if room_in_queue(&fetch.hints, now) > now:
        note(notes, Occurrence.PVAB_OVERFLOW, 1)
        return
    at = now if now > fetch.prefetch_free else fetch.prefetch_free
    note(notes, Occurrence.L1I_PREFETCH, 1)
    if quick_find(fetch.tlb1.tags, target | fetch.thread) != ABSENT:
        at = prefetch_room(fetch, at)
        send_prefetch(fetch, notes, line, at)
    if at > now:
        note(notes, Occurrence.PREFETCH_STALL_HINT, <uint32_t>(at - now))
        enter_queue(&fetch.hints, now, at)
    fetch.prefetch_free = at + 1


cdef void drop_prefetches(InstructionFetch fetch, int64_t now) noexcept nogil:
    fetch.stream.left, fetch.stream.active = 0, 0
    while fetch.hints.count and fetch.hints.leaves[fetch.hints.count - 1] > now:
        fetch.hints.count -= 1
    fetch.prefetch_free = now + 1
    fetch.last_page = NO_PAGE


cdef void send_prefetch(InstructionFetch fetch, Notes* notes, uint64_t line, int64_t now) noexcept nogil:
    """A line is asked for ahead."""
    cdef int64_t ready = fetch.ask(notes, line, REQUEST_FETCH_PREFETCH, now)
    note(notes, Occurrence.L2_PREFETCH_SENT, 1)
    keep_line(fetch, line, ready, now)


cdef void keep_line(InstructionFetch fetch, uint64_t line, int64_t ready, int64_t now) noexcept nogil:
    """A line comes to the streaming buffer."""
    cdef uint64_t gone = enter_buffer(&fetch.buffer, line, ready, now)
    if gone != NO_LINE:
        fetch.leaves(gone >> fetch.line_shift)
