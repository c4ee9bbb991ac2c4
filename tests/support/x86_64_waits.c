/* Timers and waits: prints how each ends, and after how much of the program's time. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile int signals;
static long began;

static void count(int signal, siginfo_t *info, void *context) {
    signals++;
}

static void catch(int signal) {
    struct sigaction action = {.sa_sigaction = count, .sa_flags = SA_SIGINFO};
    sigaction(signal, &action, NULL);
}

static long microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void begin(void) {
    signals = 0;
    began = microseconds();
}

/* Milliseconds since `begin`, rounded. */
static long passed(void) {
    return (microseconds() - began + 500) / 1000;
}

static const char *ending(long result) {
    static char text[32];
    if (result >= 0)
        sprintf(text, "%ld", result);
    return result >= 0 ? text : errno == EINTR ? "EINTR" : errno == EAGAIN ? "EAGAIN" : errno == ETIMEDOUT ? "ETIMEDOUT" : "?";
}

static struct itimerspec after(long first, long interval) {
    return (struct itimerspec){{interval / 1000, interval % 1000 * 1000000}, {first / 1000, first % 1000 * 1000000}};
}

static timer_t sleeps(void) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec first = after(0, 0), wanted = after(2000, 0);
    struct timespec ten = {10, 0}, left;
    timer_t unused, timer;
    unsigned int before = alarm(3);
    printf("alarm had %u then %u\n", before, alarm(5));
    begin();
    printf("pause %s", ending(pause()));
    printf(" after %ld ms, signals %d\n", passed(), signals);
    timer_create(CLOCK_MONOTONIC, &event, &unused);
    timer_create(CLOCK_REALTIME, &event, &timer);
    timer_settime(timer, 0, &wanted, NULL);
    begin();
    printf("nanosleep %s", ending(nanosleep(&ten, &left)));
    printf(" after %ld ms, left %ld\n", passed(), (left.tv_sec * 1000000000 + left.tv_nsec + 500000) / 1000000);
    printf("timer %d expired %d times more\n", (int)(long)timer, timer_getoverrun(timer));
    timer_delete(unused);
    return timer;
}

static void files(void) {
    int timer = timerfd_create(CLOCK_MONOTONIC, 0), ends[2], events;
    struct itimerspec beat = after(1000, 1000), once = after(500, 0);
    struct pollfd wanted = {timer, POLLIN};
    struct epoll_event event = {EPOLLIN};
    struct timeval limit = {1, 500000};
    unsigned long times;
    fd_set set;
    timerfd_settime(timer, 0, &beat, NULL);
    begin();
    read(timer, &times, sizeof(times));
    printf("timerfd %lu after %ld ms\n", times, passed());
    begin();
    sleep(3);
    read(timer, &times, sizeof(times));
    printf("timerfd %lu after %ld ms\n", times, passed());
    timerfd_settime(timer, 0, &once, NULL);
    begin();
    printf("poll of timerfd %d", poll(&wanted, 1, 5000));
    printf(" after %ld ms\n", passed());
    pipe(ends);
    wanted.fd = ends[0];
    begin();
    printf("poll of pipe %d", poll(&wanted, 1, 5000));
    printf(" after %ld ms\n", passed());
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    begin();
    printf("select %d", select(ends[0] + 1, &set, NULL, NULL, &limit));
    printf(" after %ld ms, left %ld\n", passed(), limit.tv_sec * 1000 + limit.tv_usec / 1000);
    FD_SET(ends[0], &set);
    {
        struct timespec longer = {9, 0};
        sigset_t none, alarms;
        sigemptyset(&none);
        sigemptyset(&alarms);
        sigaddset(&alarms, SIGALRM);
        sigprocmask(SIG_BLOCK, &alarms, NULL);
        alarm(2);
        begin();
        printf("pselect %s", ending(pselect(ends[0] + 1, &set, NULL, NULL, &longer, &none)));
        printf(" after %ld ms, signals %d\n", passed(), signals);
        sigprocmask(SIG_UNBLOCK, &alarms, NULL);
    }
    events = epoll_create1(0);
    epoll_ctl(events, EPOLL_CTL_ADD, ends[0], &event);
    begin();
    printf("epoll %d", epoll_wait(events, &event, 1, 700));
    printf(" after %ld ms\n", passed());
    write(ends[1], "x", 1);
    begin();
    printf("epoll with a byte %d", epoll_wait(events, &event, 1, 700));
    printf(" after %ld ms\n", passed());
}

static void others(timer_t timer) {
    struct itimerspec two = after(2000, 0);
    struct timespec limit, three = {3, 0};
    siginfo_t info;
    sigset_t set;
    sem_t semaphore;
    int ends[2], result;
    char byte;
    sem_init(&semaphore, 0, 0);
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 4;
    begin();
    printf("semaphore %s", ending(sem_timedwait(&semaphore, &limit)));
    printf(" after %ld ms\n", passed());
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    timer_settime(timer, 0, &two, NULL);
    begin();
    result = sigwaitinfo(&set, &info);
    printf("sigtimedwait %d by timer %d after %ld ms\n", result, info.si_code == SI_TIMER, passed());
    begin();
    printf("sigtimedwait %s", ending(sigtimedwait(&set, &info, &three)));
    printf(" after %ld ms\n", passed());
    pipe(ends);
    alarm(1);
    begin();
    printf("read %s", ending(read(ends[0], &byte, 1)));
    printf(" after %ld ms\n", passed());
    sigaddset(&set, SIGALRM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    alarm(1);
    signals = 0;
    sleep(2);
    sigpending(&set);
    printf("blocked alarm waits %d", sigismember(&set, SIGALRM));
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    printf(" then came %d\n", signals);
}

/* USR1 is blocked: the timer's later expiries are the overrun of its first. */
static void overrun(timer_t timer) {
    struct itimerspec often = after(100, 100), none = after(0, 0);
    sigset_t set;
    timer_settime(timer, 0, &often, NULL);
    usleep(550000);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    printf("overrun %d\n", timer_getoverrun(timer));
    timer_settime(timer, 0, &none, NULL);
}

static void child(void) {
    int status;
    alarm(9);
    fflush(stdout);
    if (fork() == 0) {
        alarm(2);
        begin();
        printf("child's pause %s", ending(pause()));
        printf(" after %ld ms", passed());
        fflush(stdout);
        _exit(0);
    }
    wait(&status);
    printf(", parent's alarm %d\n", alarm(0) > 0);
}

/* 200 ms until SIGALRM. */
static void arm(void) {
    struct itimerval soon = {{0, 0}, {0, 200000}};
    setitimer(ITIMER_REAL, &soon, NULL);
    begin();
}

static void print(const char *call, long result) {
    printf("%s %s", call, ending(result));
    printf(" after %ld ms, signals %d\n", passed(), signals);
}

/* Calls that wait in the kernel for another process, which does nothing. */
static void interrupted(const char *folder) {
    static char bytes[200000];
    int file, ends[2], status;
    char byte;
    pid_t other;
    chdir(folder);
    mkfifo("fifo", 0600);
    pipe(ends);
    other = fork();
    if (other == 0) {
        flock(open("lock", O_CREAT | O_RDWR, 0600), LOCK_EX);
        write(ends[1], "x", 1);
        for (;;)
            pause();
    }
    read(ends[0], &byte, 1);
    file = open("lock", O_RDWR);
    arm();
    print("open of a fifo", open("fifo", O_RDONLY));
    arm();
    print("flock", flock(file, LOCK_EX));
    arm();
    print("wait", wait(&status));
    arm();
    print("read", read(ends[0], &byte, 1));
    arm();
    print("write", write(ends[1], bytes, sizeof(bytes)));
    arm();
    kill(other, SIGKILL);
    print("wait for its end", wait(&status) == other);
}

int main(int words, char **word) {
    timer_t timer;
    catch(SIGALRM);
    catch(SIGUSR1);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (words > 1) {
        interrupted(word[1]);
        return 0;
    }
    timer = sleeps();
    files();
    others(timer);
    overrun(timer);
    child();
    return 0;
}
