/* The locks that a thread holds when it ends (set_robust_list(2)): others see that their owner has died. */

#include <linux/futex.h>

#include "thread.h"

enum { WORD_BYTES = 8 };

/* Bit 0 of an entry: a lock with an owner (locks.c). */
static void leave_lock(const struct guest_thread *thread, uint64_t entry, uint64_t offset) {
    uint64_t word = (entry & ~(uint64_t)1) + offset;
    uint32_t held;
    if (word % sizeof(held) || !is_writable(word, sizeof(held)))
        return;
    held = *(const uint32_t *)word;
    if ((held & FUTEX_TID_MASK) != thread->id)
        return;
    if (entry & 1) {
        hand_over_lock(word, FUTEX_OWNER_DIED);
        return;
    }
    *(uint32_t *)word = (held & FUTEX_WAITERS) | FUTEX_OWNER_DIED;
    if (held & FUTEX_WAITERS)
        wake_in_all_processes(word);
}

void leave_robust_list(struct guest_thread *thread) {
    uint64_t head = thread->robust_list, entry, offset, pending;
    int left;
    thread->robust_list = 0;
    if (!head || !are_readable(head, 3 * WORD_BYTES))
        return;
    entry = ((const uint64_t *)head)[0];
    offset = ((const uint64_t *)head)[1];
    pending = ((const uint64_t *)head)[2];
    for (left = ROBUST_LIST_LIMIT; left && (entry & ~(uint64_t)1) != head; left--) {
        if (!are_readable(entry & ~(uint64_t)1, WORD_BYTES))
            return;              /* a damaged list: Linux also stops there */
        if (entry != pending)
            leave_lock(thread, entry, offset);
        entry = *(const uint64_t *)(entry & ~(uint64_t)1);
    }
    if (pending)
        leave_lock(thread, pending, offset);
}

/* The process ends: others may share its locks. */
void leave_robust_lists(void) {
    struct guest_thread *it;
    for (it = threads; it && !shares_memory; it = it->next)
        leave_robust_list(it);
}
