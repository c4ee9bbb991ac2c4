/* Processes that die: by signals of the run, and otherwise. The kernel ends a process after it has given the turn away; the one that
   has it then waits for that, so that it finds files closed, and a child that has ended. */

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/poll.h>
#include <linux/signal.h>
#include <linux/time_types.h>
#include <linux/wait.h>

#include "runtime.h"
#include "schedule.h"
#include "world/text.h"
#include "world/world.h"

enum { MOMENT = 1000000, MOST_MOMENTS = 1000, STOP_MOMENTS = 5 };

/* The state of a process as /proc has it; 'X': there is none, '?': it is not known. */
char state_of(uint32_t host) {
    static struct text path;
    char text[64 + 16], *end;
    int64_t file, bytes;
    file = KERNEL3(__NR_open, name_in_process(host, "/stat", &path), O_RDONLY | O_CLOEXEC, 0);
    if (failed(file))
        return file == -ENOENT || file == -ESRCH ? 'X' : '?';
    bytes = KERNEL3(__NR_read, file, text, sizeof(text) - 1);
    KERNEL1(__NR_close, file);
    if (bytes <= 0)
        return bytes == -ESRCH ? 'X' : '?';
    for (end = text + bytes; end > text && *--end != ')';)       /* the name may have any character */
        ;
    return end > text && end + 2 < text + bytes ? end[2] : '?';
}

bool is_dead(uint32_t host) {
    char found = state_of(host);
    return found == 'X' || found == 'Z';
}

static void wait_a_moment(void) {
    struct __kernel_timespec time = {0, MOMENT};
    KERNEL2(__NR_nanosleep, &time, 0);
}

/* Until the parent of a process can wait for it. */
void wait_for_death(uint32_t host) {
    int64_t file = KERNEL2(__NR_pidfd_open, host, 0);
    struct pollfd wanted = {.fd = (int)file, .events = POLLIN};
    int i;
    if (!failed(file)) {
        while (KERNEL3(__NR_poll, &wanted, 1, -1) == -EINTR)
            ;
        KERNEL1(__NR_close, file);
    } else if (file != -ESRCH)
        for (i = 0; i < MOST_MOMENTS && !is_dead(host); i++)
            wait_a_moment();
    KERNEL4(__NR_waitid, P_ALL, 0, 0, WNOHANG | WNOWAIT | WEXITED);      /* behind the lock under which it tells its parent */
}

/* ---------------------------------------------------------------- signals of the run */

/* Whether kill(2) with that number, of the host, reaches a process. */
static bool reaches(int32_t given, uint32_t host) {
    if (given > 0)
        return (uint32_t)given == host;
    return given == -1 || KERNEL1(__NR_getpgid, host) == (given ? -(int64_t)given : KERNEL1(__NR_getpgid, 0));
}

static bool stops(uint64_t signal) {
    return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/* Whether a process stops by a signal that it may handle. */
static bool has_stopped(uint32_t host) {
    int i;
    for (i = 0; i < STOP_MOMENTS && state_of(host) != 'T'; i++)
        wait_a_moment();
    return i < STOP_MOMENTS;
}

static void follow_signal(int32_t given, uint64_t signal) {
    uint32_t i;
    for (i = 0; i < schedule->places; i++) {
        struct process *it = &schedule->processes[i];
        if (it->stage == NOBODY || !it->host || !reaches(given, it->host))
            continue;
        if (signal == SIGCONT)
            it->stopped = false;
        else if (stops(signal))
            it->stopped = i != own_place && (signal == SIGSTOP || has_stopped(it->host));
        else if (i != own_place) {
            wait_for_death(it->host);
            remove_process(i);
        }
    }
}

/* kill, tkill and tgkill, with the host's numbers. */
int64_t send_signal(int64_t number, const uint64_t *a) {
    int32_t given = (int32_t)a[0];
    uint64_t signal = a[number == __NR_tgkill ? 2 : 1];
    bool to_itself = given != -1 && reaches(given, (uint32_t)KERNEL0(__NR_getpid));
    int64_t result;
    if (!others_exist() || (signal != SIGKILL && signal != SIGCONT && !stops(signal)))
        return pass_on(number, a);
    if (signal == SIGKILL && to_itself) {
        publish_count();
        leave_run();
    }
    if (stops(signal) && to_itself)
        begin_stop();
    result = pass_on(number, a);
    if (stops(signal) && to_itself)
        end_stop();
    if (result == 0)
        follow_signal(given, signal);
    return result;
}
