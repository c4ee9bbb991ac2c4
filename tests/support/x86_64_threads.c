/* What threads do, by the name of the part; prints the same natively and under an engine. "all": every part. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MANY = 8, TURNS = 300 };
static pthread_t made[512];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static volatile long sum, stage;

static void begin(int count, void *(*f)(void *)) {
    for (long i = 0; i < count; i++)
        if (pthread_create(&made[i], NULL, f, (void *)i)) {
            printf("no thread %ld\n", i);
            exit(1);
        }
}

static long end(int count) {
    long all = 0;
    void *one;
    for (int i = 0; i < count; i++) {
        pthread_join(made[i], &one);
        all += (long)one;
    }
    return all;
}

static void *add(void *mine) {
    for (int i = 0; i < TURNS; i++) {
        pthread_mutex_lock(&lock);
        long old = sum;
        if (i % 16 == 0)
            sched_yield();
        sum = old + (long)mine;
        pthread_mutex_unlock(&lock);
    }
    return mine;
}

static void mutexes(void) {
    sum = 0;
    begin(MANY, add);
    printf("mutexes %ld", end(MANY));
    printf(" %ld\n", sum);
}

static pthread_barrier_t barrier;
static long cells[64], rounds;

static void *meet(void *mine) {
    long me = (long)mine, serial = 0;
    for (long r = 0; r < rounds; r++) {
        cells[me] = r;
        serial += pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
        for (int i = 0; i < 64; i++)
            if (cells[i] != r && cells[i] != -1)
                abort();
        serial += pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
    }
    return (void *)serial;
}

static void barriers(void) {
    rounds = 10;
    pthread_barrier_init(&barrier, NULL, 64);
    begin(64, meet);
    printf("barriers %ld\n", end(64));
}

static long queue[4], first, filled;
static pthread_cond_t emptied = PTHREAD_COND_INITIALIZER;

static void *produce(void *mine) {
    for (long i = 0; i < TURNS; i++) {
        pthread_mutex_lock(&lock);
        while (filled == 4)
            pthread_cond_wait(&emptied, &lock);
        queue[(first + filled++) % 4] = i;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    return mine;
}

static void *consume(void *mine) {
    long all = 0;
    (void)mine;
    for (int i = 0; i < TURNS; i++) {
        pthread_mutex_lock(&lock);
        while (!filled)
            pthread_cond_wait(&changed, &lock);
        all += queue[first];
        first = (first + 1) % 4;
        filled--;
        pthread_cond_signal(&emptied);
        pthread_mutex_unlock(&lock);
    }
    return (void *)all;
}

static void *either(void *mine) {
    return (long)mine % 2 ? consume(mine) : produce((void *)0);
}

static void conditions(void) {
    begin(MANY, either);
    printf("conditions %ld\n", end(MANY));
}

static sem_t semaphore;
static pthread_rwlock_t readers = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int times_once;

static void do_once(void) {
    times_once++;
}

static void *mixed(void *mine) {
    pthread_once(&once, do_once);
    for (int i = 0; i < TURNS; i++) {
        sem_wait(&semaphore);
        if ((i + (long)mine) % 4) {
            pthread_rwlock_rdlock(&readers);
            if (sum < 0)
                abort();
        } else {
            pthread_rwlock_wrlock(&readers);
            sum++;
        }
        pthread_rwlock_unlock(&readers);
        sem_post(&semaphore);
    }
    return NULL;
}

static void semaphores(void) {
    sem_init(&semaphore, 0, 3);
    sum = 0;
    begin(MANY, mixed);
    end(MANY);
    printf("semaphores %ld %d\n", sum, times_once);
}

/* ---------------------------------------------------------------- time */

static long since(const struct timespec *begun) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - begun->tv_sec) * 1000 + (now.tv_nsec - begun->tv_nsec) / 1000000;
}

static void *sleep_some(void *mine) {
    usleep(20000 * (int)(long)(mine + 1));
    return NULL;
}

static void times(void) {
    struct timespec begun, limit;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    begin(4, sleep_some);
    end(4);
    printf("slept %d", since(&begun) >= 80 && since(&begun) < 400);
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_nsec += 30000000;
    limit.tv_sec += limit.tv_nsec / 1000000000;
    limit.tv_nsec %= 1000000000;
    begin(1, sleep_some);
    pthread_mutex_lock(&lock);
    int result;
    do
        result = pthread_cond_timedwait(&changed, &lock, &limit);
    while (!result);
    pthread_mutex_unlock(&lock);
    end(1);
    printf(" %s", strerror(result));
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec++;
    sem_init(&semaphore, 0, 0);
    begin(1, sleep_some);
    result = sem_timedwait(&semaphore, &limit);
    printf(" %d %s\n", result, strerror(errno));
    end(1);
}

static void *spin(void *mine) {
    struct timespec mine_now;
    volatile long i = 0;
    while (i < 400000 * (1 + 9 * (long)mine))
        i = i + 1;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &mine_now);
    return (void *)(mine_now.tv_sec * 1000000000 + mine_now.tv_nsec);
}

static void processor_times(void) {
    void *one, *other;
    struct timespec all;
    begin(2, spin);
    pthread_join(made[0], &one);
    pthread_join(made[1], &other);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &all);
    long total = all.tv_sec * 1000000000 + all.tv_nsec;
    printf("processor %d %d\n", (long)one < (long)other, total >= (long)one + (long)other);
}

/* ---------------------------------------------------------------- signals */

static volatile sig_atomic_t arrived, by;
static pid_t own_ids[MANY];

static void note(int number) {
    (void)number;
    arrived++;
    by = gettid();
}

static void *wait_for_signal(void *mine) {
    own_ids[(long)mine] = gettid();
    __atomic_add_fetch(&stage, 1, __ATOMIC_SEQ_CST);
    struct timespec ten = {10, 0};
    int result = nanosleep(&ten, NULL);
    return (void *)(long)(result == -1 && errno == EINTR && by == gettid());
}

static void until(long wanted) {
    while (__atomic_load_n(&stage, __ATOMIC_SEQ_CST) < wanted)
        sched_yield();
}

static void *wait_for_set(void *mine) {
    sigset_t set;
    int number;
    (void)mine;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigwait(&set, &number);
    __atomic_add_fetch(&stage, 1, __ATOMIC_SEQ_CST);
    return (void *)(long)number;
}

static void signals(void) {
    struct sigaction act = {.sa_handler = note};
    sigset_t set, old;
    sigaction(SIGUSR1, &act, NULL);
    stage = arrived = 0;
    begin(1, wait_for_signal);
    until(1);
    usleep(10000);
    printf("signals %d", pthread_kill(made[0], 0));
    pthread_kill(made[0], SIGUSR1);
    printf(" %ld", end(1));
    printf(" %d", arrived);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    stage = 0;
    begin(3, wait_for_set);
    for (long i = 1; i <= 3; i++) {
        kill(getpid(), SIGUSR2);
        until(i);
    }
    printf(" %ld", end(3) / SIGUSR2);
    begin(1, wait_for_set);
    pthread_kill(made[0], SIGUSR2);
    printf(" %ld", end(1) / SIGUSR2);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_SETMASK, &set, NULL);
    pthread_kill(pthread_self(), SIGUSR1);
    pthread_kill(pthread_self(), SIGUSR1);
    sigset_t pending;
    sigpending(&pending);
    printf(" %d %d", sigismember(&pending, SIGUSR1), sigismember(&pending, SIGUSR2));
    arrived = 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    printf(" %d\n", arrived);
}

static void *wait_for_post(void *mine) {
    stage = 1;
    while (sem_wait(&semaphore))
        continue;
    stage = 2;
    return mine;
}

static void *wait_for_ever(void *mine) {
    sem_t never;
    sem_init(&never, 0, 0);
    stage = 1;
    sem_wait(&never);
    return mine;
}

/* The first thread makes no call while it waits for another one. */
static void spinning(void) {
    struct sigaction act = {.sa_handler = note};
    sigaction(SIGUSR1, &act, NULL);
    stage = arrived = 0;
    sem_init(&semaphore, 0, 0);
    begin(1, wait_for_post);
    until(1);
    usleep(1000);
    sem_post(&semaphore);
    while (__atomic_load_n(&stage, __ATOMIC_SEQ_CST) != 2)
        continue;
    end(1);
    stage = 0;
    begin(1, wait_for_ever);
    until(1);
    usleep(1000);
    pthread_kill(made[0], SIGUSR1);
    while (!arrived)
        continue;
    printf("spinning %ld\n", end(1));
}

static int locked;
static volatile int stops;

/* A lock that is free for the time of a system call, as Python's interpreters have it. */
static void *free_for_a_call(void *mine) {
    while (!stops) {
        pthread_mutex_lock(&lock);
        locked = 1;
        pthread_mutex_unlock(&lock);
        for (volatile int i = 0; i < 300; i++)
            continue;
        pthread_mutex_lock(&lock);
        locked = 0;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
        getppid();
    }
    return mine;
}

static void freeing(void) {
    stops = 0;
    begin(1, free_for_a_call);
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&lock);
        while (locked)
            pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
    }
    stops = 1;
    printf("freeing %ld\n", end(1));
}

static void *block_and_note(void *mine) {
    sigset_t set;
    if (mine) {
        sigemptyset(&set);
        sigaddset(&set, SIGALRM);
        pthread_sigmask(SIG_BLOCK, &set, NULL);
    } else
        own_ids[0] = gettid();
    __atomic_add_fetch(&stage, 1, __ATOMIC_SEQ_CST);
    while (!arrived)
        usleep(1000);
    return NULL;
}

static void alarms(void) {
    struct itimerval soon = {{0, 0}, {0, 20000}};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    signal(SIGALRM, note);
    arrived = stage = 0;
    begin(3, block_and_note);
    until(3);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
    end(3);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    printf("alarms %d %d\n", arrived, by == own_ids[0]);
}

static void expired(union sigval value) {
    __atomic_add_fetch(&sum, value.sival_int, __ATOMIC_SEQ_CST);
    sem_post(&semaphore);
}

static void timers(void) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = expired, .sigev_value.sival_int = 5};
    struct itimerspec often = {{0, 5000000}, {0, 5000000}};
    timer_t timer;
    sum = 0;
    sem_init(&semaphore, 0, 0);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &often, NULL);
    for (int i = 0; i < 3; i++)
        sem_wait(&semaphore);
    timer_delete(timer);
    printf("timers %d\n", sum >= 15);
}

/* ---------------------------------------------------------------- ends */

static void cleaned(void *mine) {
    __atomic_add_fetch(&sum, (long)mine, __ATOMIC_SEQ_CST);
}

static void *be_cancelled(void *mine) {
    pthread_cleanup_push(cleaned, (void *)((long)mine + 1));
    __atomic_add_fetch(&stage, 1, __ATOMIC_SEQ_CST);
    if ((long)mine == 1) {
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
        for (;;)
            continue;
    }
    if ((long)mine == 2) {
        int ends[2];
        char byte;
        if (pipe(ends) == 0 && read(ends[0], &byte, 1))
            abort();
    }
    for (;;)
        pause();
    pthread_cleanup_pop(0);
    return NULL;
}

static void cancelling(void) {
    void *one;
    int count = 0;
    sum = stage = 0;
    begin(4, be_cancelled);
    until(4);
    for (int i = 0; i < 4; i++)
        pthread_cancel(made[i]);
    for (int i = 0; i < 4; i++) {
        pthread_join(made[i], &one);
        count += one == PTHREAD_CANCELED;
    }
    printf("cancelling %d %ld\n", count, sum);
}

static pthread_mutex_t robust, heir;

static void *die_with(void *mine) {
    pthread_mutex_lock((pthread_mutex_t *)mine);
    return NULL;
}

static void *wait_for_dead(void *mine) {
    int result = pthread_mutex_lock(&robust);
    if (result == EOWNERDEAD)
        pthread_mutex_consistent(&robust);
    (void)mine;
    pthread_mutex_unlock(&robust);
    return (void *)(long)(result == EOWNERDEAD);
}

static void *hold_a_while(void *mine) {
    pthread_mutex_lock(&robust);
    __atomic_add_fetch(&stage, 1, __ATOMIC_SEQ_CST);
    usleep(20000);
    return mine;
}

static void robust_locks(int protocol) {
    pthread_mutexattr_t how;
    stage = 0;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_setprotocol(&how, protocol);
    pthread_mutex_init(&robust, &how);
    pthread_create(&made[0], NULL, die_with, &robust);
    pthread_join(made[0], NULL);
    printf("robust %ld", (long)wait_for_dead(NULL));
    pthread_create(&made[0], NULL, hold_a_while, NULL);
    until(1);
    for (int i = 1; i < 4; i++)
        pthread_create(&made[i], NULL, wait_for_dead, NULL);
    printf(" %ld\n", end(4));
}

static void *add_with(void *mine) {
    struct timespec limit;
    for (int i = 0; i < TURNS; i++) {
        clock_gettime(CLOCK_REALTIME, &limit);
        limit.tv_sec += 5;
        if ((i + (long)mine) % 3)
            pthread_mutex_lock(&heir);
        else if (pthread_mutex_timedlock(&heir, &limit))
            abort();
        long old = sum;
        if (i % 8 == 0)
            sched_yield();
        sum = old + 1;
        pthread_mutex_unlock(&heir);
    }
    return NULL;
}

static void inheriting(void) {
    struct timespec limit;
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_setprotocol(&how, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&heir, &how);
    sum = 0;
    begin(MANY, add_with);
    end(MANY);
    printf("inheriting %ld", sum);
    pthread_create(&made[0], NULL, die_with, &heir);
    pthread_join(made[0], NULL);
    pthread_mutex_init(&heir, &how);
    pthread_mutex_lock(&heir);
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_nsec += 10000000;
    limit.tv_sec += limit.tv_nsec / 1000000000;
    limit.tv_nsec %= 1000000000;
    printf(" %s\n", strerror(pthread_mutex_trylock(&heir)));
    pthread_mutex_unlock(&heir);
}

static pthread_key_t key;
static __thread long own;

static void destroyed(void *mine) {
    __atomic_add_fetch(&sum, (long)mine, __ATOMIC_SEQ_CST);
}

static void *keep(void *mine) {
    pthread_setspecific(key, (void *)((long)mine + 1));
    own = (long)mine;
    for (int i = 0; i < 10; i++) {
        sched_yield();
        if (own != (long)mine)
            abort();
    }
    if ((long)mine % 2)
        pthread_exit(mine);
    return mine;
}

static void storage(void) {
    sum = 0;
    pthread_key_create(&key, destroyed);
    begin(MANY, keep);
    printf("storage %ld", end(MANY));
    printf(" %ld\n", sum);
}

static void *nothing(void *mine) {
    return mine;
}

static void storm(void) {
    long all = 0;
    for (int i = 0; i < 100; i++) {
        begin(5, nothing);
        all += end(5);
    }
    pthread_attr_t how;
    pthread_attr_init(&how);
    pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&how, 65536);
    for (int i = 0; i < 200; i++) {
        if (pthread_create(&made[0], &how, nothing, NULL))
            abort();
        sched_yield();
    }
    printf("storm %ld\n", all);
}

static void *stay(void *mine) {
    __atomic_add_fetch(&stage, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return mine;
}

static void hundreds(void) {
    stage = 0;
    pthread_mutex_lock(&lock);
    begin(300, stay);
    until(300);
    pthread_mutex_unlock(&lock);
    printf("hundreds %ld\n", end(300));
}

/* ---------------------------------------------------------------- files and processes */

static int ends[2], sockets[2], event_file;

static void *read_all(void *mine) {
    char bytes[1000];
    long all = 0, count;
    (void)mine;
    while ((count = read(ends[0], bytes, sizeof(bytes))) > 0)
        all += count;
    return (void *)all;
}

static void *answer(void *mine) {
    long number;
    (void)mine;
    while (recv(sockets[1], &number, sizeof(number), 0) == sizeof(number)) {
        number *= 2;
        send(sockets[1], &number, sizeof(number), 0);
    }
    return NULL;
}

static void *poll_for(void *mine) {
    struct pollfd both[2] = {{.fd = ends[0], .events = POLLIN}, {.fd = event_file, .events = POLLIN}};
    fd_set set;
    uint64_t value;
    (void)mine;
    if (poll(both, 2, -1) != 1 || !both[1].revents)
        abort();
    FD_ZERO(&set);
    FD_SET(event_file, &set);
    if (select(event_file + 1, &set, NULL, NULL, NULL) != 1 || read(event_file, &value, 8) != 8)
        abort();
    return (void *)(long)value;
}

static void files(void) {
    static char large[300000];
    long number = 0, sent = 1;
    if (pipe(ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
        abort();
    begin(1, read_all);
    printf("files %ld", write(ends[1], large, sizeof(large)));
    close(ends[1]);
    printf(" %ld", end(1));
    pthread_create(&made[0], NULL, answer, NULL);
    for (int i = 0; i < 20; i++) {
        if (send(sockets[0], &sent, sizeof(sent), 0) != sizeof(sent) || recv(sockets[0], &number, sizeof(number), 0) != sizeof(number))
            abort();
        sent = number + 1;
    }
    shutdown(sockets[0], SHUT_RDWR);
    end(1);
    printf(" %ld", sent);
    if (pipe(ends))
        abort();
    event_file = eventfd(0, 0);
    begin(1, poll_for);
    usleep(1000);
    uint64_t seven = 7;
    if (write(event_file, &seven, 8) != 8)
        abort();
    printf(" %ld\n", end(1));
}

static void *read_number(void *path) {
    int file = open(path, O_RDONLY), number = 0;
    if (read(file, &number, sizeof(number)) != sizeof(number))
        abort();
    close(file);
    return (void *)(long)number;
}

static void named_pipes(void) {
    char path[] = "/tmp/threads-XXXXXX";
    int number = 77;
    if (!mkdtemp(path))
        abort();
    rmdir(path);
    if (mkfifo(path, 0600))
        abort();
    pthread_create(&made[0], NULL, read_number, path);
    int file = open(path, O_WRONLY);
    if (write(file, &number, sizeof(number)) != sizeof(number))
        abort();
    close(file);
    printf("pipes %ld\n", end(1));
    unlink(path);
}

static void *lock_file(void *path) {
    int file = open(path, O_RDWR);
    flock(file, LOCK_EX);
    long old = sum;
    usleep(1000);
    sum = old + 1;
    flock(file, LOCK_UN);
    close(file);
    return NULL;
}

static void locks_of_files(void) {
    char path[] = "/tmp/threads-XXXXXX";
    close(mkstemp(path));
    sum = 0;
    for (int i = 0; i < 4; i++)
        pthread_create(&made[i], NULL, lock_file, path);
    end(4);
    unlink(path);
    printf("locks %ld\n", sum);
}

static void *make_child(void *mine) {
    int status;
    char *words[] = {"sh", "-c", "exit 3", NULL};
    pid_t child;
    if ((long)mine % 2) {
        child = fork();
        if (child == 0) {
            pthread_t more;
            pthread_create(&more, NULL, nothing, NULL);
            pthread_join(more, NULL);
            _exit(gettid() == getpid() ? 3 : 4);
        }
    } else
        posix_spawn(&child, "/bin/sh", NULL, NULL, words, (char *[]){NULL});
    if (waitpid(child, &status, 0) != child)
        abort();
    return (void *)(long)WEXITSTATUS(status);
}

static void children(void) {
    fflush(stdout);
    begin(4, make_child);
    printf("children %ld\n", end(4));
}

static void *name_it(void *mine) {
    char name[16] = "", set[16];
    snprintf(set, sizeof(set), "thread-%ld", (long)mine);
    prctl(PR_SET_NAME, set);
    sched_yield();
    prctl(PR_GET_NAME, name);
    char path[64], line[64] = "";
    snprintf(path, sizeof(path), "/proc/self/task/%d/comm", gettid());
    FILE *file = fopen(path, "r");
    if (!file || !fgets(line, sizeof(line), file))
        abort();
    fclose(file);
    line[strcspn(line, "\n")] = 0;
    return (void *)(long)(!strcmp(name, set) && !strcmp(line, set));
}

static int count_threads(void) {
    char line[256];
    int count = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof(line), file))
        sscanf(line, "Threads: %d", &count);
    fclose(file);
    return count;
}

static void names(void) {
    begin(MANY, name_it);
    printf("names %ld", end(MANY));
    stage = 0;
    pthread_mutex_lock(&lock);
    begin(3, stay);
    until(3);
    printf(" %d", count_threads());
    pthread_mutex_unlock(&lock);
    end(3);
    printf(" %d\n", count_threads());
}

/* ---------------------------------------------------------------- words */

static uint32_t word, other_word;

static long futex(uint32_t *at, int what, uint32_t value, uint64_t limit, uint32_t *second, uint32_t third) {
    return syscall(SYS_futex, at, what, value, limit, second, third);
}

static void *wait_on_word(void *mine) {
    uint32_t bits = (long)mine % 2 ? 1 : 2;
    __atomic_add_fetch(&stage, 1, __ATOMIC_SEQ_CST);
    return (void *)futex(&word, FUTEX_WAIT_BITSET, 0, 0, NULL, bits);
}

static void words(void) {
    struct timespec little = {0, 1000000};
    stage = word = 0;
    begin(6, wait_on_word);
    until(6);
    usleep(10000);
    printf("words %ld", futex(&word, FUTEX_WAKE_BITSET, 1, 0, NULL, 1));
    printf(" %ld", futex(&word, FUTEX_WAKE_BITSET, 10, 0, NULL, 1));
    printf(" %ld", futex(&word, FUTEX_CMP_REQUEUE, 1, 1, &other_word, 0));
    printf(" %ld", futex(&other_word, FUTEX_WAKE, 5, 0, NULL, 0));
    printf(" %ld", futex(&other_word, FUTEX_WAKE_OP, 5, 5, &word, FUTEX_OP(FUTEX_OP_ADD, 4, FUTEX_OP_CMP_EQ, 0)));
    printf(" %u", word);
    end(6);
    printf(" %ld", futex(&word, FUTEX_WAIT, 4, (uint64_t)&little, NULL, 0));
    printf(" %s", strerror(errno));
    printf(" %ld", futex(&word, FUTEX_WAIT, 5, 0, NULL, 0));
    printf(" %s", strerror(errno));
    printf(" %ld", futex((uint32_t *)3, FUTEX_WAKE, 1, 0, NULL, 0));
    printf(" %s\n", strerror(errno));
}

static void robust_plain(void) {
    robust_locks(PTHREAD_PRIO_NONE);
}

static void robust_heirs(void) {
    robust_locks(PTHREAD_PRIO_INHERIT);
}

#define PART(name) {#name, name}
static const struct { const char *name; void (*run)(void); } parts[] = {
    PART(mutexes), PART(barriers), PART(conditions), PART(semaphores), PART(times), PART(processor_times), PART(signals), PART(spinning), PART(freeing), PART(alarms),
    PART(timers), PART(cancelling), {"robust", robust_plain}, {"robust_heirs", robust_heirs}, PART(inheriting), PART(storage), PART(storm),
    PART(hundreds), PART(files), PART(named_pipes), PART(locks_of_files), PART(children), PART(names), PART(words),
};

int main(int count, char **arguments) {
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (count < 2 || !strcmp(arguments[1], "all") || !strcmp(arguments[1], parts[i].name))
            parts[i].run();
    fflush(stdout);
    return 0;
}
