/* Words of memory that threads wait for (futex(2)), in a process with several threads. A waiter has no other thread of the kernel
   that could wait for it: the words and those who wait for them are kept here. */

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/futex.h>

#include "tasks/schedule.h"
#include "thread.h"
#include "waits/waits.h"

enum { SIGNED_12_BITS = 20 };    /* what a shift leaves of an argument of FUTEX_WAKE_OP */

static struct guest_thread *first_waiting;         /* in the order in which they began to wait */

/* ---------------------------------------------------------------- who waits */

static void add_waiter(struct guest_thread *thread, uint64_t word, uint32_t bits, bool hands_over) {
    struct guest_thread **last = &first_waiting;
    thread->futex = (struct futex_wait){word, bits, hands_over, NULL};
    while (*last)
        last = &(*last)->futex.behind;
    *last = thread;
}

void stop_waiting_for_word(struct guest_thread *thread) {
    struct guest_thread **place = &first_waiting;
    while (*place && *place != thread)
        place = &(*place)->futex.behind;
    if (*place)
        *place = thread->futex.behind;
    thread->futex.word = 0;
}

/* The one that has waited longest for a word; NULL: none. */
struct guest_thread *first_waiter(uint64_t word) {
    struct guest_thread *it = first_waiting;
    while (it && it->futex.word != word)
        it = it->futex.behind;
    return it;
}

void forget_waiters(void) {
    first_waiting = NULL;
}

/* ---------------------------------------------------------------- wait and wake */

/* In memory that other processes have, too, they may wake a waiter: it looks at the word then. */
static int64_t attempt_word(const struct wait *it, uint64_t limit) {
    const struct __kernel_timespec *time;
    struct __kernel_timespec room;
    if (*(const uint32_t *)it->a[0] != (uint32_t)it->a[1])
        return 0;
    if (limit == 0)
        return it->nothing;
    time = time_of(limit, &room);
    return call(__NR_futex, it->a[0], FUTEX_WAIT, it->a[1], (uint64_t)time, 0, 0);
}

/* Wait until the word is woken (0), the time has come, or a signal arrives. */
int64_t wait_for_word(uint64_t word, uint32_t bits, uint64_t deadline, bool hands_over) {
    const uint64_t a[2] = {word, *(const uint32_t *)word};
    const struct wait elsewhere = {.attempt = attempt_word, .is_inside = never_inside, .a = a, .nothing = -ETIMEDOUT};
    struct guest_thread *self = running;
    add_waiter(self, word, bits, hands_over);
    self->woken = self->has_result = false;
    self->wait = made_process && is_shared(word) && !hands_over ? &elsewhere : NULL;
    self->text = "for a word of memory";
    do
        wait_in_schedule(deadline);
    while (!self->woken && !self->has_result && !state->pending && elapsed() < deadline);
    self->wait = NULL;
    stop_waiting_for_word(self);
    return self->woken || self->has_result ? 0 : state->pending ? -EINTR : -ETIMEDOUT;
}

static void wake(struct guest_thread *thread) {
    stop_waiting_for_word(thread);
    thread->woken = true;
    make_ready(thread);
}

/* Wake waiters of a word with one of these bits, at most so many, in their order; returns how many. */
int64_t wake_word(uint64_t word, uint64_t most, uint32_t bits) {
    struct guest_thread *it = first_waiting, *behind;
    int64_t count = 0;
    for (; it && count < (int64_t)most; it = behind) {
        behind = it->futex.behind;
        if (it->futex.word == word && it->futex.bits & bits) {
            wake(it);
            count++;
        }
    }
    return count;
}

/* Those of other processes, too. */
static int64_t wake_everywhere(const uint64_t *a, uint32_t bits) {
    uint64_t most = (int32_t)a[2] < 1 ? 1 : (uint32_t)a[2];
    int64_t count = wake_word(a[0], most, bits);
    if (made_process && !(a[1] & FUTEX_PRIVATE_FLAG) && count < (int64_t)most)
        count += KERNEL6(__NR_futex, a[0], FUTEX_WAKE_BITSET, most - (uint64_t)count, 0, 0, bits);
    return count;
}

/* A lock's owner has died, who may have shared it with other processes. */
void wake_in_all_processes(uint64_t word) {
    wake_everywhere((const uint64_t[6]){word, FUTEX_WAKE, 1}, FUTEX_BITSET_MATCH_ANY);
}

/* ---------------------------------------------------------------- the operations */

static int64_t requeue(uint64_t from, uint64_t to, uint64_t woken, uint64_t moved) {
    struct guest_thread *it, *behind;
    int64_t count = wake_word(from, woken, FUTEX_BITSET_MATCH_ANY);
    for (it = first_waiting; it && moved; it = behind) {
        behind = it->futex.behind;
        if (it->futex.word == from && from != to) {
            struct futex_wait old = it->futex;
            stop_waiting_for_word(it);
            add_waiter(it, to, old.bits, old.hands_over);
            count++;
            moved--;
        }
    }
    return count;
}

static bool compare(uint32_t how, int32_t old, int32_t with, int64_t *result) {
    switch (how) {
    case FUTEX_OP_CMP_EQ:
        return old == with;
    case FUTEX_OP_CMP_NE:
        return old != with;
    case FUTEX_OP_CMP_LT:
        return old < with;
    case FUTEX_OP_CMP_LE:
        return old <= with;
    case FUTEX_OP_CMP_GT:
        return old > with;
    case FUTEX_OP_CMP_GE:
        return old >= with;
    default:
        *result = -ENOSYS;
        return false;
    }
}

static uint32_t changed(uint32_t operation, uint32_t old, uint32_t with, int64_t *result) {
    switch (operation) {
    case FUTEX_OP_SET:
        return with;
    case FUTEX_OP_ADD:
        return old + with;
    case FUTEX_OP_OR:
        return old | with;
    case FUTEX_OP_ANDN:
        return old & ~with;
    case FUTEX_OP_XOR:
        return old ^ with;
    default:
        *result = -ENOSYS;
        return old;
    }
}

/* FUTEX_WAKE_OP: change the second word, wake waiters of the first one, and those of the second if its old value compares. */
static int64_t wake_and_change(const uint64_t *a) {
    uint32_t code = (uint32_t)a[5], operation = code >> 28 & 7, *word = (uint32_t *)a[4], old;
    int32_t with = (int32_t)(code << 8) >> SIGNED_12_BITS, compared = (int32_t)(code << 20) >> SIGNED_12_BITS;
    int64_t result = 0;
    bool both;
    if (!is_writable(a[4], 4))
        return -EFAULT;
    if (code >> 31)
        with = (int32_t)(1u << (with & 31));
    old = *word;
    *word = changed(operation, old, (uint32_t)with, &result);
    both = compare(code >> 24 & 15, (int32_t)old, compared, &result);
    if (result)
        return result;
    result = wake_word(a[0], (uint32_t)a[2], FUTEX_BITSET_MATCH_ANY);
    return both ? result + wake_word(a[4], (uint32_t)a[3], FUTEX_BITSET_MATCH_ANY) : result;
}

static int64_t wait_call(const uint64_t *a, uint64_t deadline, uint32_t bits) {
    if (!bits)
        return -EINVAL;
    if (*(const uint32_t *)a[0] != (uint32_t)a[2])
        return -EAGAIN;
    return wait_for_word(a[0], bits, deadline, false);
}

/* The deadline of a wait, in time elapsed. */
static int64_t read_deadline(const uint64_t *a, uint64_t command, uint64_t *deadline) {
    bool real = a[1] & FUTEX_CLOCK_REALTIME || command == FUTEX_LOCK_PI;
    uint64_t start;
    int64_t error;
    *deadline = NEVER;
    if (!a[3])
        return 0;
    if (!read_time(a[3], deadline, &error))
        return error;
    if (command == FUTEX_WAIT)
        *deadline = after(*deadline);
    else {
        start = clock_start(real ? 0 : 1);
        *deadline = *deadline > start ? *deadline - start : 0;
    }
    return 0;
}

static int64_t waiting_operation(const uint64_t *a, uint64_t command) {
    uint64_t deadline;
    int64_t result = read_deadline(a, command, &deadline);
    if (result)
        return result;
    switch (command) {
    case FUTEX_WAIT:
        return wait_call(a, deadline, FUTEX_BITSET_MATCH_ANY);
    case FUTEX_WAIT_BITSET:
        return wait_call(a, deadline, (uint32_t)a[5]);
    default:
        return lock_word(a[0], deadline, false);
    }
}

static int64_t operation(const uint64_t *a) {
    uint64_t command = a[1] & FUTEX_CMD_MASK;
    switch (command) {
    case FUTEX_WAIT: case FUTEX_WAIT_BITSET: case FUTEX_LOCK_PI: case FUTEX_LOCK_PI2:
        return waiting_operation(a, command);
    case FUTEX_TRYLOCK_PI:
        return lock_word(a[0], NEVER, true);
    case FUTEX_UNLOCK_PI:
        return unlock_word(a[0]);
    case FUTEX_WAKE:
        return wake_everywhere(a, FUTEX_BITSET_MATCH_ANY);
    case FUTEX_WAKE_BITSET:
        return (uint32_t)a[5] ? wake_everywhere(a, (uint32_t)a[5]) : -EINVAL;
    case FUTEX_CMP_REQUEUE:
        if (*(const uint32_t *)a[0] != (uint32_t)a[5])
            return -EAGAIN;
        return requeue(a[0], a[4], (uint32_t)a[2], (uint32_t)a[3]);
    case FUTEX_REQUEUE:
        return requeue(a[0], a[4], (uint32_t)a[2], (uint32_t)a[3]);
    case FUTEX_WAKE_OP:
        return wake_and_change(a);
    default:
        return -ENOSYS;
    }
}

static bool is_of_locks(uint64_t command) {
    return command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2 || command == FUTEX_TRYLOCK_PI || command == FUTEX_UNLOCK_PI;
}

/* Whether another process may end a wait: it is tried again (timed_waits.c). */
static bool is_shared_wait(uint64_t operation) {
    uint64_t command = operation & FUTEX_CMD_MASK & ~(uint64_t)FUTEX_CLOCK_REALTIME;
    return others_exist() && !(operation & FUTEX_PRIVATE_FLAG) && (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET);
}

/* futex(2) of a process with several threads; a single thread waits in the kernel, but for locks with an owner, whose number is
   the guest's. */
bool thread_futex_call(const uint64_t *a, int64_t *result) {
    if (is_shared_wait(a[1]))
        return false;
    if (!threaded && !is_of_locks(a[1] & FUTEX_CMD_MASK & ~(uint64_t)FUTEX_CLOCK_REALTIME))
        return false;
    if (a[0] % 4)
        *result = -EINVAL;
    else if (!are_readable(a[0], 4))
        *result = -EFAULT;
    else
        *result = operation(a);
    return true;
}
