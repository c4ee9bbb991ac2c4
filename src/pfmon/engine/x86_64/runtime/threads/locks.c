/* Locks whose word has the number of their owner (FUTEX_LOCK_PI), which the kernel hands over. Nobody has a priority. */

#include <linux/errno.h>
#include <linux/futex.h>

#include "thread.h"

/* Take a lock, or wait until it is handed over; `attempt`: do not wait. */
int64_t lock_word(uint64_t word, uint64_t deadline, bool attempt) {
    uint32_t *held = (uint32_t *)word, owner;
    int64_t result;
    if (!is_writable(word, sizeof(*held)))
        return -EFAULT;
    owner = *held & FUTEX_TID_MASK;
    if (owner == running->id)
        return -EDEADLK;
    if (!owner) {
        *held = running->id | (*held & (FUTEX_WAITERS | FUTEX_OWNER_DIED));
        return 0;
    }
    if (attempt)
        return -EAGAIN;
    if (!thread_of(owner))
        return -ESRCH;
    *held |= FUTEX_WAITERS;
    do
        result = wait_for_word(word, FUTEX_BITSET_MATCH_ANY, deadline, true);
    while (result == -EINTR && !state->pending);
    return result;
}

/* Make the one that has waited longest the owner; without one, the lock is free. `died`: FUTEX_OWNER_DIED, or 0. */
void hand_over_lock(uint64_t word, uint32_t died) {
    struct guest_thread *next = first_waiter(word);
    uint32_t *held = (uint32_t *)word;
    if (!next) {
        *held = died;
        return;
    }
    stop_waiting_for_word(next);
    *held = next->id | died | (first_waiter(word) ? FUTEX_WAITERS : 0);
    next->woken = true;
    make_ready(next);
}

int64_t unlock_word(uint64_t word) {
    if (!is_writable(word, sizeof(uint32_t)))
        return -EFAULT;
    if ((*(const uint32_t *)word & FUTEX_TID_MASK) != running->id)
        return -EPERM;
    hand_over_lock(word, 0);
    return 0;
}
