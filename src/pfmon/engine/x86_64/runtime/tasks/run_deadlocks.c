/* All processes of a run wait, and nothing can end any of the waits: they end, and pfmon says which waits in which call. */

#include <asm/unistd.h>
#include <linux/signal.h>

#include "runtime.h"
#include "schedule.h"
#include "world/text.h"
#include "world/world.h"

enum { MOST_TOLD = 8 };

static void put_call(struct text *to, uint32_t call) {
    static const struct { uint16_t number; const char *name; } names[] = {
        {__NR_read, "read"}, {__NR_readv, "readv"}, {__NR_write, "write"}, {__NR_writev, "writev"}, {__NR_wait4, "wait4"},
        {__NR_waitid, "waitid"}, {__NR_futex, "futex"}, {__NR_poll, "poll"}, {__NR_ppoll, "ppoll"}, {__NR_select, "select"},
        {__NR_pselect6, "pselect6"}, {__NR_epoll_wait, "epoll_wait"}, {__NR_epoll_pwait, "epoll_pwait"}, {__NR_pause, "pause"},
        {__NR_flock, "flock"}, {__NR_fcntl, "fcntl"}, {__NR_rt_sigsuspend, "rt_sigsuspend"}, {__NR_semop, "semop"},
        {__NR_rt_sigtimedwait, "rt_sigtimedwait"}, {__NR_msgrcv, "msgrcv"}, {__NR_msgsnd, "msgsnd"}, {__NR_accept, "accept"},
        {__NR_accept4, "accept4"}, {__NR_connect, "connect"}, {__NR_recvfrom, "recvfrom"}, {__NR_recvmsg, "recvmsg"},
        {__NR_sendto, "sendto"}, {__NR_sendmsg, "sendmsg"}, {__NR_open, "open"}, {__NR_openat, "openat"},
    };
    uint32_t i;
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].number == call) {
            put_text(to, names[i].name);
            return;
        }
    put_text(to, "system call ");
    put_number(to, call);
}

static void tell_deadlock(void) {
    static struct text text;
    uint32_t i, told = 0;
    begin_text(&text, NO_FILE);
    for (i = 0; i < schedule->places; i++) {
        const struct process *it = &schedule->processes[i];
        if (it->stage != WAITING || told++ >= MOST_TOLD)
            continue;
        put_text(&text, text.length ? "; process " : "process ");
        put_number(&text, world.flags & HOST_IDS ? it->host : it->number);
        put_text(&text, " waits in ");
        put_call(&text, it->call);
    }
    if (told > MOST_TOLD) {
        put_text(&text, "; and ");
        put_number(&text, told - MOST_TOLD);
        put_text(&text, " more");
    }
    schedule->deadlock_bytes = text.length < MAX_DEADLOCK_BYTES ? text.length : MAX_DEADLOCK_BYTES;
    memcpy(schedule->deadlock, text.bytes, schedule->deadlock_bytes);
    schedule->deadlocked = 1;
}

void end_run_in_deadlock(void) {
    while (in_child && is_dead(schedule->first))
        KERNEL0(__NR_pause);     /* what is left of a program that has ended: it ends with the run */
    tell_deadlock();
    kill_others();
    for (;;)
        KERNEL2(__NR_kill, KERNEL0(__NR_getpid), SIGKILL);
}
