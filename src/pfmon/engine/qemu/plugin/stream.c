/* What all parts of the plugin share: the memory that it has in common with its reader, the lock, giving up; and the
   stream's buffers (docs/dev/stream.md). */

#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "futex.h"
#include "parts.h"

struct area *area;
size_t area_bytes;
bool is_child;
struct ring *ring;
uint64_t *words;
unsigned int threads = 1;
uint32_t thread_numbers[MAX_GUEST_THREADS];
static pthread_mutex_t lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

void give_up(enum trouble why) {
    area->trouble = why;
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

/* A thread that holds the lock already has left a callback by a fault, which qemu takes for one of the program's. */
void enter(void) {
    if (pthread_mutex_lock(&lock))
        give_up(INTERRUPTED);
}

void leave(void) {
    pthread_mutex_unlock(&lock);
}

void fresh_lock(void) {
    static const pthread_mutex_t fresh = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    lock = fresh;
}

void hand_over(void) {
    uint32_t read;
    if (is_child) {              /* a child of the program has no reader */
        area->count = 0;
        return;
    }
    ring->buffers[ring->filling % RING_BUFFERS].count = area->count;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);      /* from here on a kill finds the buffer's count */
    area->count = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&ring->filling, ring->filling + 1, __ATOMIC_RELEASE);
    futex_wake(&ring->filling);
    while (ring->filling - (read = __atomic_load_n(&ring->reading, __ATOMIC_ACQUIRE)) >= RING_BUFFERS)
        futex_wait(&ring->reading, read, NULL);
    if (area->stopping)
        kill(getpid(), SIGKILL);
    words = ring->buffers[ring->filling % RING_BUFFERS].words;
}
