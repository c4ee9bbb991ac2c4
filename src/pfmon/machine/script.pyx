"""The access log of a block: see script.pxd. A result is a word, more if needed, and its events."""

from pfmon.machine.notes cimport MOST_NOTES
from pfmon.machine.store_conflict cimport enter_store

cdef enum:
    LATEST = 1 << 30             # maximum distance of an event from its block's begin


cdef inline void copy_words(uint64_t* to, const uint64_t* words, uint32_t count) noexcept nogil:
    """Copies results of a few words: a call of memcpy would take longer."""
    cdef uint32_t i
    for i in range(count):
        to[i] = words[i]


cdef inline bint is_next(Script* script) noexcept nogil:
    """Whether the next event's result is already logged."""
    return script.next < script.count


cdef inline const uint64_t* answer(Script* script, Notes* notes, uint32_t heading) noexcept nogil:
    """Returns the next event's result, of so many words before its events, which are recorded."""
    cdef const uint64_t* words = script.words + script.starts[script.next]
    cdef uint32_t count = script.starts[script.next + 1] - script.starts[script.next] - heading
    if notes.count + count > MOST_NOTES:
        notes.lost = True
    else:
        copy_words(notes.items + notes.count, words + heading, count)
        notes.count += count
    script.next += 1
    return words


cdef inline uint64_t* add(Script* script, const Event* event, int64_t now, uint32_t words) noexcept nogil:
    """Appends an event with so many words of result; NULL: it is not kept."""
    cdef int64_t at = now - script.began
    cdef uint64_t* place
    if not script.on:
        return NULL
    if script.count == MOST_EVENTS or script.starts[script.count] + words > MOST_WORDS or at < -LATEST or at > LATEST:
        script.on, script.lost = False, True
        return NULL
    place = script.words + script.starts[script.count]
    script.events[script.count] = event[0]
    script.events[script.count].at = <int32_t>at     # not earlier: the host is slow to read words written in pieces
    script.count += 1
    script.next = script.count
    script.starts[script.count] = script.starts[script.count - 1] + words
    return place


cdef inline void add_notes(uint64_t* place, const Notes* notes, uint32_t before) noexcept nogil:
    copy_words(place, notes.items + before, notes.count - before)


cdef void ask_fetch(Script* script, InstructionFetch fetch, Notes* notes, const Event* event, uint64_t window, int64_t now,
                    Fetched* out) noexcept nogil:
    cdef uint32_t before = notes.count
    cdef const uint64_t* known
    cdef uint64_t* place
    if is_next(script):
        known = answer(script, notes, 2)
        out.ready, out.second_cycles, out.kernel = now + <int32_t>known[0], <uint32_t>known[1], <int64_t>(known[1] >> 32)
        out.cause, out.second_cause = <uint16_t>(known[0] >> 32), <uint16_t>(known[0] >> 48)
        return
    fetch.fetch(notes, window, now, out)
    place = add(script, event, now, 2 + notes.count - before)
    if place != NULL:
        place[0] = <uint32_t>(out.ready - now) | <uint64_t>out.cause << 32 | <uint64_t>out.second_cause << 48
        place[1] = out.second_cycles | <uint64_t>out.kernel << 32
        add_notes(place + 2, notes, before)


cdef void ask_access(Script* script, DataMemory data, Notes* notes, const Event* event, uint64_t address,
                     int64_t now, Served* out) noexcept nogil:
    cdef uint32_t before = notes.count, i
    cdef const uint64_t* known
    cdef uint64_t* place
    if is_next(script):
        out.stalls = <uint8_t>(script.words[script.starts[script.next]] >> 32)
        known = answer(script, notes, 1 + out.stalls)
        out.ready = now + <int32_t>known[0]
        for i in range(out.stalls):
            out.cause[i], out.cycles[i] = <uint32_t>(known[1 + i] >> 32), <uint32_t>known[1 + i]
        return
    if event.kind == EVENT_FENCE:
        data.fence(now, out)
    else:
        data.access(notes, address, event.size, event.access_kind, event.flags, now, out)
    place = add(script, event, now, 1 + out.stalls + notes.count - before)
    if place != NULL:
        place[0] = <uint32_t>(out.ready - now) | <uint64_t>out.stalls << 32
        for i in range(out.stalls):
            place[1 + i] = <uint64_t>out.cause[i] << 32 | out.cycles[i]
        add_notes(place + 1 + out.stalls, notes, before)


cdef void tell(Script* script, DataMemory data, const Event* event, uint64_t address, int64_t now) noexcept nogil:
    if is_next(script):
        script.next += 1
        return
    if event.kind == EVENT_STORE:
        enter_store(&data.store_conflicts, address, event.size, now)
    if event.flags & TAKES_A_TURN:
        data.l2.took_turn(address, event.kind == EVENT_BANK, event.flags >> TURN_SHIFT, now)
    add(script, event, now, 0)
