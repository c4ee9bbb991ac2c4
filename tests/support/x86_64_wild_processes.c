/* Processes that do random things, always the same for a seed (under pfmon alone: kill(-1)): each line has a process's name, its step and its result. Some
   outlive the first process, which ends with status 7. Arguments: the seed, a file for locks. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CHILDREN = 6, STEPS = 25, MOST_PROCESSES = 60, DEEPEST = 4, KINDS = 23 };

struct shared {
    pthread_mutex_t lock;
    int processes;
};

static struct shared *shared;
static int locked_file, depth, children_count, with_locks;
static pid_t children[CHILDREN];
static char name[64];
static const char *locked;
static volatile sig_atomic_t caught;

static unsigned next(unsigned *state) {
    *state = *state * 1103515245 + 12345;
    return *state >> 16;
}

static void handle(int number) {
    caught += number;
}

static void nap(unsigned microseconds) {
    struct timespec time = {0, microseconds * 1000L};
    nanosleep(&time, NULL);
}

static pid_t some_child(unsigned *state) {
    return children_count ? children[next(state) % children_count] : 0;
}

static void forget(pid_t child) {
    int i;
    for (i = 0; i < children_count; i++)
        if (children[i] == child)
            children[i--] = children[--children_count];
}

static int reap(void) {
    int status;
    pid_t child = waitpid(-1, &status, WNOHANG);
    if (child <= 0)
        return child;
    forget(child);
    return status;
}

/* A stopped orphan of a subreaper would be waited for without an end. */
static int reap_in_time(void) {
    int i, status = 0;
    for (i = 0; i < 50 && status == 0; i++) {
        status = reap();
        nap(20);
    }
    return status;
}

static int collect(pid_t child) {
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return status;
}

static void live(unsigned state);

static int fork_child(unsigned *state) {
    unsigned seed = next(state);
    pid_t child;
    if (depth == DEEPEST || children_count == CHILDREN
        || __atomic_add_fetch(&shared->processes, 1, __ATOMIC_SEQ_CST) > MOST_PROCESSES)
        return 0;
    child = fork();
    if (child == 0) {
        size_t end = strlen(name);
        name[end] = (char)('a' + children_count);
        name[end + 1] = 0;
        children_count = 0;
        depth++;
        close(locked_file);      /* else it would keep the lock of a parent that is killed */
        live(seed);
        if (seed % 5 == 0)
            kill(getpid(), SIGTERM);
        _exit((int)(seed % 100));
    }
    if (child > 0)
        children[children_count++] = child;
    return child > 0;
}

/* A child sends back what it receives. */
static int echo(int by_socket) {
    int to[2], from[2];
    char byte = 'x';
    pid_t child;
    if (by_socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, to) : pipe(to))
        return -errno;
    if (pipe(from))
        return -errno;
    child = fork();
    if (child == 0) {
        char got = 0;
        close(to[1]);        /* else it would wait for itself where its parent is killed */
        close(from[0]);
        read(to[0], &got, 1);
        nap(10);
        write(from[1], &got, 1);
        _exit(0);
    }
    write(to[1], &byte, 1);
    while (read(from[0], &byte, 1) < 0 && errno == EINTR)
        continue;
    close(to[0]), close(to[1]), close(from[0]), close(from[1]);
    return collect(child);
}

static int execute(void) {
    pid_t child = vfork();
    if (child == 0) {
        execl("/bin/true", "true", NULL);
        _exit(4);
    }
    return child < 0 ? -errno : collect(child);
}

static int lock_in_turn(unsigned kind) {
    struct flock area = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = kind % 3, .l_len = 2};
    int status = kind % 2 ? fcntl(locked_file, F_SETLKW, &area) : flock(locked_file, LOCK_EX);
    sched_yield();
    area.l_type = F_UNLCK;
    if (kind % 2)
        fcntl(locked_file, F_SETLK, &area);
    else
        flock(locked_file, LOCK_UN);
    return status;
}

static int lock_mutex(void) {
    int status = pthread_mutex_lock(&shared->lock);
    if (status == EOWNERDEAD)
        pthread_mutex_consistent(&shared->lock);
    nap(5);
    pthread_mutex_unlock(&shared->lock);
    return status;
}

static int stop_and_continue(pid_t child) {
    int stopped = child ? kill(child, SIGSTOP) : 0;
    nap(30);
    return child ? stopped + kill(child, SIGCONT) : 0;
}

static int set_timer(unsigned kind) {
    struct itimerval value = {{0, 0}, {0, 1 + kind % 300}};
    return setitimer(ITIMER_REAL, &value, NULL);
}

static int step(unsigned kind, unsigned *state) {
    union sigval value = {.sival_int = (int)kind};
    pid_t child = some_child(state);
    switch (kind) {
    case 0: case 1: case 2: case 3:
        return fork_child(state);
    case 4:
        return reap();
    case 5: case 6:
        return reap_in_time();
    case 7:
        return child ? kill(child, SIGUSR1) : 0;
    case 8:
        return child ? kill(child, SIGKILL) : 0;
    case 9:
        return stop_and_continue(child);
    case 10:
        nap(next(state) % 500);
        return 0;
    case 11:
        return echo((int)(next(state) % 2));
    case 12:
        return setpgid(depth ? 0 : child, 0);
    case 13:
        return child ? kill(-child, SIGUSR1) : 0;
    case 14:
        return execute();
    case 15:
        return set_timer(next(state));
    case 16:
        return depth && with_locks ? lock_in_turn(next(state)) : kill(-1, SIGCONT);
    case 17:
        return depth && with_locks ? lock_mutex() : kill(-1, SIGCONT);
    case 18:
        return depth ? sigqueue(getppid(), SIGRTMIN, value) : raise(SIGUSR1);
    case 19:
        return child ? syscall(SYS_pidfd_send_signal, syscall(SYS_pidfd_open, child, 0), SIGKILL, NULL, 0) : 0;
    case 20:
        return child ? sigqueue(child, next(state) % 2 ? SIGKILL : SIGUSR1, value) : 0;
    case 21:
        return depth > 2 && next(state) % 4 == 0 ? raise(SIGTSTP) : depth ? 0 : kill(-1, SIGCONT);
    default:
        return next(state) % 2 ? prctl(PR_SET_PDEATHSIG, SIGKILL) : prctl(PR_SET_CHILD_SUBREAPER, 1);
    }
}

static void live(unsigned state) {
    int i;
    locked_file = open(locked, O_RDWR | O_CREAT, 0600);
    for (i = 0; i < STEPS; i++) {
        unsigned kind = next(&state) % KINDS;
        int result = step(kind, &state), saved = errno;
        dprintf(1, "%s %d: %u gives %d (%d), %d\n", name, i, kind, result, result < 0 ? saved : 0, (int)caught);
    }
}

int main(int argc, char **argv) {
    struct sigaction action = {.sa_handler = handle};
    pthread_mutexattr_t attributes;
    unsigned seed;
    int i;
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&shared->lock, &attributes);
    if (argc < 3)
        return 1;
    locked = argv[2];
    setpgid(0, 0);               /* the kernel's SIGHUP, when a group with stopped processes becomes orphaned, is for the program */
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGRTMIN, &action, NULL);
    strcpy(name, "m");
    seed = (unsigned)atoi(argv[1]);
    with_locks = seed % 4 != 0;
    live(seed);
    for (i = 0; i < 100 && with_locks; i++) {        /* else some would wait for the lock of a stopped process, without an end */
        kill(-1, SIGCONT);
        nap(1000);
    }
    return 7;
}
