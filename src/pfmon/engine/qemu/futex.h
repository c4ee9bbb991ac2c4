/* Waiting for a word in memory that two processes share. Not a semaphore of the C library: that one gives up the whole
   process when it finds in its memory what it did not write. */

#ifndef PFMON_QEMU_FUTEX_H
#define PFMON_QEMU_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Until the word is woken, or is no longer as it was seen; `patience`: so long at the most, NULL: as long as it takes. */
static inline void futex_wait(uint32_t *word, uint32_t seen, const struct timespec *patience) {
    syscall(SYS_futex, word, FUTEX_WAIT, seen, patience, NULL, 0);
}

static inline void futex_wake(uint32_t *word) {
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

#endif
