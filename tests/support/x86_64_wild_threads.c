/* Threads that do random things, always the same for a seed, and each ends: prints how many did. */

#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 10, STEPS = 60, LOCKS = 4, KINDS = 17 };

static pthread_mutex_t locks[LOCKS];
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t readers = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static int ends[2];
static long done;
static unsigned seed;

static unsigned next(unsigned *state) {
    *state = *state * 1103515245 + 12345;
    return *state >> 16;
}

static void handle(int number) {
    (void)number;
}

static struct timespec soon(long nanoseconds) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_nsec += nanoseconds;
    limit.tv_sec += limit.tv_nsec / 1000000000;
    limit.tv_nsec %= 1000000000;
    return limit;
}

static void make_child(unsigned kind) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        if (kind)
            _exit(3);
        execl("/bin/true", "true", NULL);
        _exit(4);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
}

static void step(unsigned kind, unsigned *state) {
    pthread_mutex_t *lock = &locks[next(state) % LOCKS];
    struct timespec limit = soon(next(state) % 1000000);
    struct pollfd wanted = {.fd = ends[0], .events = POLLIN};
    char bytes[100] = "";
    sigset_t all, old;
    void *memory;
    switch (kind) {
    case 0: case 1:
        pthread_mutex_lock(lock);
        sched_yield();
        pthread_mutex_unlock(lock);
        break;
    case 2:
        pthread_mutex_lock(lock);
        pthread_cond_timedwait(&changed, lock, &limit);
        pthread_mutex_unlock(lock);
        break;
    case 3:
        pthread_cond_broadcast(&changed);
        break;
    case 4:
        sem_post(&semaphore);
        break;
    case 5:
        sem_timedwait(&semaphore, &limit);
        break;
    case 6:
        pthread_kill(pthread_self(), SIGUSR1);
        break;
    case 7:
        usleep(next(state) % 500);
        break;
    case 8:
        kill(getpid(), SIGUSR2);
        break;
    case 9:
        poll(&wanted, 1, (int)(next(state) % 3));
        break;
    case 10:
        pthread_rwlock_rdlock(&readers);
        usleep(10);
        pthread_rwlock_unlock(&readers);
        break;
    case 11:
        pthread_rwlock_wrlock(&readers);
        pthread_rwlock_unlock(&readers);
        break;
    case 12:
        memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memset(memory, 1, 5000);
        munmap(memory, 65536);
        break;
    case 13:
        if (next(state) % 8 == 0)
            make_child(next(state) % 4);
        break;
    case 14:
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, &old);
        sched_yield();
        pthread_sigmask(SIG_SETMASK, &old, NULL);
        break;
    case 15:
        if (write(ends[1], bytes, sizeof(bytes)) == sizeof(bytes) && read(ends[0], bytes, sizeof(bytes)) < 0)
            errno = 0;
        break;
    default:
        for (volatile unsigned i = 0; i < next(state) % 30000; i++)
            continue;
    }
}

static void *work(void *mine) {
    unsigned state = seed + 77 * (unsigned)(long)mine;
    for (int i = 0; i < STEPS; i++)
        step(next(&state) % KINDS, &state);
    __atomic_add_fetch(&done, 1, __ATOMIC_SEQ_CST);
    return mine;
}

static void make_locks(void) {
    pthread_mutexattr_t how;
    for (int i = 0; i < LOCKS; i++) {
        pthread_mutexattr_init(&how);
        if (i & 1)
            pthread_mutexattr_setprotocol(&how, PTHREAD_PRIO_INHERIT);
        if (i & 2)
            pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
        pthread_mutex_init(&locks[i], &how);
    }
}

int main(int count, char **words) {
    pthread_t made[MOST];
    long sum = 0, threads;
    void *result;
    seed = count > 1 ? (unsigned)atoi(words[1]) : 0;
    threads = 2 + seed % (MOST - 1);
    if (pipe(ends))
        return 1;
    sem_init(&semaphore, 0, 1);
    signal(SIGUSR1, handle);
    signal(SIGUSR2, handle);
    make_locks();
    for (long i = 0; i < threads; i++)
        pthread_create(&made[i], NULL, work, (void *)i);
    for (long i = 0; i < threads; i++) {
        pthread_join(made[i], &result);
        sum += (long)result;
    }
    printf("%ld threads %ld %ld\n", threads, sum, done);
    return 0;
}
