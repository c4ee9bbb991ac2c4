"""The last begun block of each thread of a dead guest: how much of it retired, and its words in the stream.

The plugin does the same when another block begins (plugin.c).
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from pfmon.stream._stream cimport BlockHead, Cut, Mark, address_count, copy_start, indexed, mark_word

cdef enum:
    ACCESS_SHIFT = 32            # of counted accesses in `progress` (plugin.c)


cdef const Kept* last_block(PluginReader self, int number):
    """The last begun block of a thread; NULL: none. The guest writes its address of that block, and of the area."""
    cdef uint64_t last = read_once(<const uint64_t*>&self.shared.threads[number].last)
    cdef uint64_t base = read_once(<const uint64_t*>&self.shared.base)
    cdef uint64_t nothing = <uint64_t>&self.shared.nothing - <uint64_t>self.shared
    cdef const Kept* found
    if last == base + nothing or (last == 0 and (number > 0 or base == 0 or self.describer.announced.count == 0)):
        return NULL                  # a thread that has not begun has no address
    found = self.describer.announced.at(last - base - AREA_HEAD)
    self.damaged |= found == NULL
    return found


cdef uint64_t write_retired_part(PluginReader self, int number, const Kept* last, uint64_t count, bint faulted,
                                 uint64_t* where):
    """Write the words of a thread's last begun block, or of its retired part; returns the number of words.
    ``where`` becomes the address of the first instruction that did not retire."""
    cdef uint64_t passed = self.shared.threads[number].progress - self.shared.threads[number].before
    cdef const uint8_t* sizes = self.describer.announced.sizes + last.first_size
    cdef uint32_t retired = last.instructions
    cdef bint whole
    if <uint32_t>passed < last.whole:
        retired = <uint32_t>passed
        while retired < last.instructions - 1 and not sizes[retired] & MAY_FAULT:
            retired += 1
        retired = min(retired, last.instructions - 1)
    else:
        if last.tail == COUNTED:
            whole = passed >> ACCESS_SHIFT >= last.accesses
        else:
            whole = not (faulted and (last.tail == SUCCESSOR or last.tail == REPEATED))
        retired -= not whole
    self.adjusted -= last.instructions - retired
    block = <uint64_t>(last - self.describer.announced.kept)
    if retired < last.instructions:
        return cut_last_block(self, number, count, block, retired, where)
    return put_last_block(self, number, count, block, last)


cdef uint64_t put_last_block(PluginReader self, int number, uint64_t count, uint64_t first, const Kept* last):
    """Write the words of a thread's last begun block; returns the number of words."""
    cdef string strings[2]
    cdef const BlockHead* head
    cdef uint64_t block, slot = 0, k
    for block in range(first, first + last.parts):
        count = put_block_words(self, number, count, block, &slot)
    if self.traced and last.tail == REPEATED:
        memcpy(strings, self.shared.threads[number].strings, sizeof(strings))
        head = &self.describer.table.c.heads[first + last.parts - 1]
        slot = address_count(&self.describer.table.c.instructions[head.first + head.length - 1])
        for k in range(slot):
            self.words[count - slot + k] = strings[k].first if strings[k].last else 0
        if slot and strings[0].last > strings[0].first:
            self.words[count] = mark_word(
                Mark.STRING, indexed(strings[0].last - strings[0].first, head.length - 1))
            count += 1
    return count


cdef uint64_t put_block_words(PluginReader self, int number, uint64_t count, uint64_t block, uint64_t* slot):
    """Write a block's word and the addresses of its accesses, from the thread's ``slot`` on; returns the number of
    words."""
    cdef uint64_t accesses = self.describer.table.c.heads[block].accesses
    self.words[count] = block
    count += 1
    if self.traced:
        memcpy(self.words + count, self.shared.threads[number].slots + slot[0], accesses * sizeof(uint64_t))
        count += accesses
        slot[0] += accesses
    return count


cdef uint64_t cut_last_block(PluginReader self, int thread, uint64_t count, uint64_t first, uint64_t retired, uint64_t* where):
    """Write the words of a block's first instructions in place of its own; returns the number of words."""
    cdef uint64_t number = first, slot = 0
    cdef uint32_t length
    while True:
        length = self.describer.table.c.heads[number].length
        if retired < length:
            break
        count = put_block_words(self, thread, count, number, &slot)
        number += 1
        retired -= length
    where[0] = self.describer.table.c.instructions[self.describer.table.c.heads[number].first + retired].address
    if retired:
        number = copy_start(&self.describer.table.c, number, <uint32_t>retired, Cut.FAULTED)
    if retired and number:
        count = put_block_words(self, thread, count, number, &slot)
    return count
