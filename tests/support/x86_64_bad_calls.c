/* Calls of the kernel with random arguments, among them addresses at the edges of memory: the seed and the number of calls are
   the program's arguments. Prints how many failed. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

enum { PAGE = 4096 };

static const int calls[] = {
    SYS_getresuid, SYS_getgroups, SYS_setreuid, SYS_stat, SYS_fstat, SYS_newfstatat, SYS_statx, SYS_getpgid, SYS_getsid,
    SYS_waitid, SYS_wait4, SYS_sched_getaffinity, SYS_sched_setaffinity, SYS_getcpu, SYS_getdents64, SYS_getdents,
    SYS_readlink, SYS_readlinkat, SYS_open, SYS_openat, SYS_openat2, SYS_clock_gettime, SYS_clock_getres, SYS_gettimeofday,
    SYS_time, SYS_getrusage, SYS_times, SYS_nanosleep, SYS_clock_nanosleep, SYS_getitimer, SYS_timer_create,
    SYS_timer_settime, SYS_timer_gettime, SYS_timer_delete, SYS_timer_getoverrun, SYS_timerfd_create, SYS_timerfd_settime,
    SYS_timerfd_gettime, SYS_poll, SYS_ppoll, SYS_select, SYS_pselect6, SYS_epoll_wait, SYS_epoll_pwait, SYS_epoll_create1,
    SYS_epoll_ctl, SYS_rt_sigtimedwait, SYS_semtimedop, SYS_read, SYS_readv, SYS_uname, SYS_sysinfo, SYS_getrandom, SYS_dup,
    SYS_close, SYS_lseek, SYS_pipe, SYS_eventfd2, SYS_access, SYS_statfs, SYS_getpriority, SYS_set_tid_address, SYS_socketpair,
};
static const char *const names[] = {
    "/proc/self/maps", "/proc/1000/stat", "/proc", "/dev/urandom", "/proc/self/exe", "cpuinfo", "../1000/status",
    "/proc/self/fd", "/proc/self", "/proc/stat", "", "/sys/devices/system/cpu/online",
};
static const unsigned long words[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 64, 1000, -1, AT_FDCWD, 0xFFFF800000000000};
static unsigned long seed;
static char *writable, *readable;

static unsigned int draw(unsigned int below) {
    seed = seed * 6364136223846793005 + 1442695040888963407;
    return (seed >> 33) % below;
}

/* A number, a name, or an address of memory: within it, or near its end. */
static unsigned long argument(void) {
    switch (draw(8)) {
    case 0:
        return (unsigned long)names[draw(sizeof(names) / sizeof(names[0]))];
    case 1:
        return (unsigned long)writable + draw(PAGE);
    case 2:
        return (unsigned long)writable + PAGE - draw(40);
    case 3:
        return (unsigned long)readable + draw(PAGE);
    case 4:
        return (unsigned long)readable + PAGE - draw(40);
    default:
        return words[draw(sizeof(words) / sizeof(words[0]))];
    }
}

static void nothing(int signal) {
}

static char *page(int protection) {
    char *made = mmap(NULL, 2 * PAGE, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(made + PAGE, PAGE);
    return made;
}

static void catch_all(void) {
    struct sigaction action = {.sa_handler = nothing};
    int number;
    for (number = 1; number < NSIG; number++)
        if (number != SIGSEGV && number != SIGINT && number != SIGTERM)
            sigaction(number, &action, NULL);
}

int main(int count, char **word) {
    struct itimerval soon = {{0, 1000}, {0, 1000}};
    long left = atol(word[2]), failed = 0;
    seed = strtoul(word[1], NULL, 10);
    catch_all();
    writable = page(PROT_READ | PROT_WRITE);
    readable = page(PROT_READ);
    setitimer(ITIMER_REAL, &soon, NULL);
    while (left--) {
        int call = calls[draw(sizeof(calls) / sizeof(calls[0]))], i;
        unsigned long a[6];
        for (i = 0; i < 6; i++)
            a[i] = argument();
        if (call == SYS_close && a[0] < 3)
            continue;
        if (call == SYS_open || call == SYS_openat)
            a[call == SYS_open ? 1 : 2] &= O_DIRECTORY | O_PATH | O_CLOEXEC;
        failed += syscall(call, a[0], a[1], a[2], a[3], a[4], a[5]) == -1;
    }
    printf("%ld failed\n", failed);
    return 0;
}
