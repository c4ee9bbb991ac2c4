/* Waits for a word in memory that two processes share. A semaphore of the C library aborts the process when its memory
   was overwritten. */

#ifndef PFMON_QEMU_FUTEX_H
#define PFMON_QEMU_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Wait until the word is woken or differs from the seen value; `patience`: at most this long, NULL: no limit. */
static inline void futex_wait(uint32_t *word, uint32_t seen, const struct timespec *patience) {
    syscall(SYS_futex, word, FUTEX_WAIT, seen, patience, NULL, 0);
}

static inline void futex_wake(uint32_t *word) {
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

#endif
