/* Prints what calls return, which is the same natively and under the engine: the part that is named. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1U << 31)
#endif

enum { STACK = 65536 };

static char stack[STACK], other_stack[STACK];

static void tell(const char *what, int result) {
    printf("%s: %d %s\n", what, result, result < 0 ? strerrorname_np(errno) : "");
}

/* ---------------------------------------------------------------- sigaltstack */

static void on_signal(int number, siginfo_t *info, void *context) {
    stack_t *saved = &((ucontext_t *)context)->uc_stack, now;
    char here;
    sigaltstack(NULL, &now);
    printf("handler: saved %x %zu, now %x %zu, on it %d\n", saved->ss_flags, saved->ss_size, now.ss_flags, now.ss_size,
           &here >= stack && &here < stack + STACK);
    if (number == SIGUSR2)
        *saved = (stack_t){.ss_sp = other_stack, .ss_size = STACK};
    (void)info;
}

static void set_stack(unsigned flags, size_t bytes) {
    stack_t it = {.ss_sp = stack, .ss_flags = (int)flags, .ss_size = bytes}, now;
    tell("set", sigaltstack(&it, NULL));
    sigaltstack(NULL, &now);
    printf("%x %zu %d\n", now.ss_flags, now.ss_size, now.ss_sp == stack);
    raise(SIGUSR1);
}

static void alternate_stacks(void) {
    const unsigned flags[] = {0, SS_ONSTACK, SS_DISABLE, SS_AUTODISARM, 3, ~0U, 4, SS_AUTODISARM | SS_DISABLE};
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    stack_t now;
    size_t i;
    int on_it;
    for (on_it = 1; on_it >= 0; on_it--) {
        action.sa_flags = SA_SIGINFO | (on_it ? SA_ONSTACK : 0);
        sigaction(SIGUSR1, &action, NULL);
        sigaction(SIGUSR2, &action, NULL);
        raise(SIGUSR1);
        for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
            set_stack(flags[i], STACK);
        set_stack(0, 2047);
        set_stack(SS_DISABLE, 1);
        set_stack(0, STACK);
        raise(SIGUSR2);
        sigaltstack(NULL, &now);
        printf("after: %x %zu %d\n", now.ss_flags, now.ss_size, now.ss_sp == other_stack);
    }
}

/* ---------------------------------------------------------------- processes */

static void affinity(void) {
    cpu_set_t set, none;
    CPU_ZERO(&none);
    tell("of this process", sched_getaffinity(0, sizeof(set), &set));
    tell("of none", sched_getaffinity(-1, sizeof(set), &set));
    tell("too small", sched_getaffinity(0, 4, &set));
    tell("set of none", sched_setaffinity(-1, sizeof(set), &set));
    tell("empty set", sched_setaffinity(0, sizeof(none), &none));
    tell("no bytes", sched_setaffinity(0, 0, &none));
    tell("no bytes of none", sched_setaffinity(-1, 0, &none));
    tell("nowhere", sched_setaffinity(0, sizeof(set), (cpu_set_t *)8));
}

/* ---------------------------------------------------------------- arguments that a call does not use */

static void unused_arguments(void) {
    /* Neither above the addresses of processes nor below: times, errors, sizes. */
    const unsigned long anything[] = {1767225600, 0x60001000, 0x70000000, 0x7E000000, 0x700000000000, -1UL, -22UL, 1UL << 63};
    static const int files[] = {F_GETFD, F_GETFL, F_GETOWN, F_GETSIG};
    unsigned int word = 0;
    int poll = epoll_create1(0), queue;
    size_t i, k;
    for (i = 0; i < sizeof(anything) / sizeof(anything[0]); i++) {
        unsigned long it = anything[i];
        tell("wake", syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, it, it, it));
        tell("wait", syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, 0, it, it));
        tell("requeue", syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE_PRIVATE, 1, (int)it & 0x7FFFFFFF, &word, 0));
        for (k = 0; k < sizeof(files) / sizeof(files[0]); k++)
            tell("fcntl", syscall(SYS_fcntl, 1, files[k], it) < 0 ? -1 : 0);
        tell("own", syscall(SYS_fcntl, poll, F_DUPFD, it & 0xFFFFFFFF00000000 ? it : 0) < 0 ? -1 : 0);
        tell("delete", syscall(SYS_epoll_ctl, poll, EPOLL_CTL_DEL, 0, it));
        queue = msgget(IPC_PRIVATE, 0600);
        tell("remove", syscall(SYS_msgctl, queue, IPC_RMID, it));
        queue = semget(IPC_PRIVATE, 1, 0600);
        tell("value", syscall(SYS_semctl, queue, 0, SETVAL, it));
        tell("remove", syscall(SYS_semctl, queue, 0, IPC_RMID, it));
    }
}

/* ---------------------------------------------------------------- clocks, timers, messages */

static void clocks(void) {
    const struct timespec time = {1000, 0}, bad = {1000, 1000000000};
    struct timex state = {0};
    time_t now = syscall(SYS_time, 0);
    tell("monotonic", clock_settime(CLOCK_MONOTONIC, &time));
    tell("processor", clock_settime(CLOCK_PROCESS_CPUTIME_ID, &time));
    tell("none", clock_settime(99, &time));
    tell("bad time", clock_settime(CLOCK_REALTIME, &bad));
    tell("nowhere", syscall(SYS_clock_settime, CLOCK_REALTIME, 8));
    tell("state", adjtimex(&state) < 0 ? -1 : 0);
    printf("tick %ld, time %d\n", state.tick, state.time.tv_sec == now || state.time.tv_sec == now + 1);
    tell("state of monotonic", clock_adjtime(CLOCK_MONOTONIC, &state));
    tell("state of none", clock_adjtime(99, &state));
    tell("state nowhere", syscall(SYS_adjtimex, 8));
}

static void tell_times(struct timespec interval, struct timespec value) {
    printf("interval %ld %ld, %s\n", interval.tv_sec, interval.tv_nsec, value.tv_sec || value.tv_nsec ? "set" : "not set");
}

/* A timer that is not set has an interval, or not. */
static void timers(void) {
    static const int clocks[] = {CLOCK_REALTIME, CLOCK_PROCESS_CPUTIME_ID};
    static const struct itimerspec values[] = {{{10, 0}, {0, 0}}, {{10, 0}, {30, 0}}, {{0, 0}, {0, 0}}, {{5, 0}, {0, 0}}};
    struct itimerval now, own;
    struct itimerspec left;
    timer_t made[2];
    int i, file = timerfd_create(CLOCK_MONOTONIC, 0), k;
    for (k = 0; k < 2; k++)
        timer_create(clocks[k], NULL, &made[k]);
    for (i = 0; i < 4; i++) {
        for (k = ITIMER_REAL; k <= ITIMER_PROF; k++) {
            own = (struct itimerval){{values[i].it_interval.tv_sec, 0}, {values[i].it_value.tv_sec, 0}};
            setitimer(k, &own, NULL);
            getitimer(k, &now);
            printf("%d: %ld %d\n", k, now.it_interval.tv_sec, now.it_value.tv_sec || now.it_value.tv_usec);
        }
        for (k = 0; k < 2; k++) {
            timer_settime(made[k], 0, &values[i], NULL);
            timer_gettime(made[k], &left);
            tell_times(left.it_interval, left.it_value);
        }
        timerfd_settime(file, 0, &values[i], NULL);
        timerfd_gettime(file, &left);
        tell_times(left.it_interval, left.it_value);
    }
}

static void messages(void) {
    struct mq_attr size = {.mq_maxmsg = 1, .mq_msgsize = 8};
    struct timespec before, soon, bad = {0, -1}, past = {0, 0}, after;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    siginfo_t info;
    sigset_t set;
    char name[32], text[8];
    mqd_t queue;
    snprintf(name, sizeof(name), "/x86-64-calls-%d-%ld", getpid(), (long)&name & 0xFFFFFF);
    queue = mq_open(name, O_CREAT | O_RDWR, 0600, &size);
    tell("open", queue < 0 ? -1 : 0);
    mq_unlink(name);
    clock_gettime(CLOCK_REALTIME, &before);
    soon = before;
    soon.tv_sec++;
    tell("empty", mq_timedreceive(queue, text, 8, NULL, &soon));
    clock_gettime(CLOCK_REALTIME, &after);
    printf("a second has passed: %d\n", after.tv_sec > before.tv_sec);
    tell("bad time", mq_timedreceive(queue, text, 8, NULL, &bad));
    tell("past", mq_timedreceive(queue, text, 8, NULL, &past));
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    tell("notify", mq_notify(queue, &event));
    tell("send", mq_timedsend(queue, "one", 4, 3, &past));
    sigwaitinfo(&set, &info);
    printf("notified by %d, own %d, user %d\n", info.si_code, info.si_pid == getpid(), info.si_uid == getuid());
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_sec++;
    tell("full", mq_timedsend(queue, "two", 4, 3, &soon));
    tell("receive", mq_timedreceive(queue, text, 8, NULL, NULL));
}

/* ---------------------------------------------------------------- alignment checks */

static void *nothing(void *none) {
    return none;
}

/* AC (SDM volume 1, 3.4.3.3) is set while instructions leave translated code, and paths of any length end. */
static void alignment_checks(void) {
    unsigned long flags, count, kept = 1;
    pthread_t other;
    pthread_create(&other, NULL, nothing, NULL);
    for (count = 0; count < 100; count++) {
        __asm__ volatile("mov %%rsp, %%r12\n sub $256, %%rsp\n and $-16, %%rsp\n pushfq\n orl $0x40000, (%%rsp)\n popfq\n"
                         "xor %%eax, %%eax\n cpuid\n mov $39, %%eax\n syscall\n mov %1, %%rcx\n 1: dec %%rcx\n jns 1b\n"
                         "lea 2f(%%rip), %%rax\n jmp *%%rax\n 2: pushfq\n pop %0\n pushfq\n andl $~0x40000, (%%rsp)\n popfq\n"
                         "mov %%r12, %%rsp\n"
                         : "=&S"(flags) : "D"(count) : "rax", "rbx", "rcx", "rdx", "r11", "r12", "memory", "cc");
        kept &= flags >> 18;
    }
    pthread_join(other, NULL);
    printf("kept %lu\n", kept & 1);
}

static const struct part {
    const char *name;
    void (*run)(void);
} parts[] = {
    {"alternate-stacks", alternate_stacks},
    {"affinity", affinity},
    {"unused-arguments", unused_arguments},
    {"clocks", clocks},
    {"timers", timers},
    {"messages", messages},
    {"alignment-checks", alignment_checks},
};

int main(int count, char **words) {
    size_t i;
    for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (count > 1 && strcmp(words[1], parts[i].name) == 0)
            parts[i].run();
        else if (count == 1)
            puts(parts[i].name);
    return 0;
}
