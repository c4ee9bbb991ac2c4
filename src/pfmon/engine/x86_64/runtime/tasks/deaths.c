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

enum { MOMENT = 1000000 };

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

/* Whether a process stops within some milliseconds; not, if it ends. */
bool stops_within(uint32_t host, int moments) {
    for (; moments; moments--) {
        char found = state_of(host);
        if (found == 'T' || found == 'Z' || found == 'X')
            return found == 'T';
        wait_a_moment();
    }
    return false;
}

/* ---------------------------------------------------------------- the end of a parent */

/* prctl(PR_SET_PDEATHSIG): the kernel sends the signal. */
int64_t set_parent_death_signal(const uint64_t *a) {
    int64_t result = pass_on(__NR_prctl, a);
    if (result == 0 && schedule->on)
        schedule->processes[own_place].dies_with = a[1] == SIGKILL ? (uint32_t)KERNEL0(__NR_getppid) : 0;
    return result;
}

static bool dies_with_doomed(const struct process *it) {
    uint32_t i;
    for (i = 0; i < schedule->places; i++)
        if (schedule->processes[i].doomed && schedule->processes[i].host == it->dies_with)
            return true;
    return false;
}

/* The processes that the kernel kills when this one ends do not execute any more. */
void doom_children(uint32_t host) {
    bool found;
    uint32_t i;
    do {
        found = false;
        for (i = 0; i < schedule->places; i++) {
            struct process *it = &schedule->processes[i];
            if (it->stage == NOBODY || it->doomed || !it->dies_with || (it->dies_with != host && !dies_with_doomed(it)))
                continue;
            it->doomed = 1;
            found = true;
        }
    } while (found);
}

/* The kernel lets the stopped processes of a group go on when it has become orphaned (_exit(2)). */
static void find_continued(void) {
    uint32_t i;
    for (i = 0; i < schedule->places; i++) {
        struct process *it = &schedule->processes[i];
        if (it->stopped && it->stage != NOBODY && it->host && state_of(it->host) != 'T')
            it->stopped = false;
    }
}

/* A process has ended, and what the kernel does to others then has been done. */
void follow_death(void) {
    uint32_t i;
    find_continued();
    for (i = 0; i < schedule->places; i++)
        if (schedule->processes[i].doomed && schedule->processes[i].stage != NOBODY && i != own_place) {
            wait_for_death(schedule->processes[i].host);
            remove_process(i);
        }
    if (!schedule->processes[own_place].doomed)
        return;
    publish_count();
    leave_run();
    for (;;)
        KERNEL0(__NR_pause);
}
