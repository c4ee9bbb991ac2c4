/* Signals that one process of the run sends to another. The kernel delivers them; of those that end or stop a process at once the
   schedule hears here. */

#include <asm/siginfo.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/signal.h>

#include "runtime.h"
#include "schedule.h"
#include "waits/waits.h"
#include "world/text.h"
#include "world/world.h"

enum { STOP_MOMENTS = 5, ALL = -1 };

/* Whether kill(2) with that number, of the host, reaches a process. */
static bool reaches(int32_t given, uint32_t host) {
    if (given > 0)
        return (uint32_t)given == host;
    return given == ALL || KERNEL1(__NR_getpgid, host) == (given ? -(int64_t)given : KERNEL1(__NR_getpgid, 0));
}

static bool stops(uint64_t signal) {
    return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/* Whether a process stops: it may handle the signal, unless that is SIGSTOP. */
static bool is_stopped_by(uint32_t host, uint64_t signal) {
    return stops_within(host, signal == SIGSTOP ? MOST_MOMENTS : STOP_MOMENTS) || signal == SIGSTOP;
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
            it->stopped = i != own_place && is_stopped_by(it->host, signal);
        else if (i != own_place) {
            doom_children(it->host);
            wait_for_death(it->host);
            remove_process(i);
        }
    }
    if (signal == SIGKILL)
        follow_death();
}

/* A call with the host's numbers, `given` of which is that of kill(2). */
static int64_t send(int64_t number, const uint64_t *a, int32_t given, uint64_t signal) {
    bool to_itself = given != ALL && reaches(given, (uint32_t)KERNEL0(__NR_getpid));
    int64_t result;
    if (!schedule->on || (signal != SIGKILL && signal != SIGCONT && !stops(signal)))
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

/* The process stops, as SIGSTOP has it. */
void stop_process(void) {
    uint64_t own = (uint64_t)KERNEL0(__NR_getpid);
    send(__NR_kill, (const uint64_t[6]){own, SIGSTOP}, (int32_t)own, SIGSTOP);
}

/* SIGKILL for the rest of the run. */
void kill_others(void) {
    uint32_t i;
    for (i = 0; i < schedule->places; i++)
        if (i != own_place && schedule->processes[i].stage != NOBODY && schedule->processes[i].host)
            KERNEL2(__NR_kill, schedule->processes[i].host, SIGKILL);
}

/* kill(-1): all processes of the run but the caller. */
static int64_t send_to_all(uint64_t signal) {
    int64_t result = -ESRCH;
    uint32_t i, own = (uint32_t)KERNEL0(__NR_getpid);
    for (i = 0; i < schedule->places; i++) {
        uint32_t host = schedule->processes[i].stage == NOBODY ? 0 : schedule->processes[i].host;
        if (host && host != own && send(__NR_kill, (const uint64_t[6]){host, signal}, (int32_t)host, signal) == 0)
            result = 0;
    }
    return result;
}

static int64_t kill_call(const uint64_t *a) {
    uint64_t host = host_of_process_or_group(a[0]);
    if ((int32_t)a[0] == ALL && !(world.flags & HOST_IDS))
        return send_to_all(a[1]);
    return send(__NR_kill, (const uint64_t[6]){host, a[1]}, (int32_t)host, a[1]);
}

/* The sender, of whom the program tells, has the host's number: show_sender() translates it. */
static const siginfo_t *with_host_s_sender(uint64_t at, siginfo_t *info) {
    memcpy(info, (const void *)at, sizeof(*info));
    if (info->si_code == SI_QUEUE || info->si_code == SI_MESGQ)
        info->si_pid = (int)host_of_number((uint32_t)info->si_pid);
    return info;
}

/* The host's number of the process that a descriptor of pidfd_open(2) refers to; 0: there is none. */
static uint32_t process_of_file(uint64_t file) {
    struct text info;
    const char *at = read_descriptor_info((int)file, &info) ? value_of_field(info.bytes, "Pid:") : NULL;
    return at ? (uint32_t)take_number(&at) : 0;
}

/* rt_sigqueueinfo, rt_tgsigqueueinfo, pidfd_send_signal: `info_at` is the number of the argument. */
static int64_t send_with_info(int64_t number, const uint64_t *a, int32_t given, uint64_t signal, uint32_t info_at) {
    uint64_t own[6] = {a[0], a[1], a[2], a[3]};
    siginfo_t info;
    if (a[info_at] && !are_readable(a[info_at], sizeof(info)))
        return -EFAULT;
    if (a[info_at])
        own[info_at] = (uint64_t)with_host_s_sender(a[info_at], &info);
    return send(number, own, given, signal);
}

/* The call sends a signal. */
bool sent_signal_call(int64_t number, const uint64_t *a, int64_t *result) {
    uint64_t host = host_of_number(a[0]), thread = host_of_number(a[1]);
    switch (number) {
    case __NR_kill:
        *result = kill_call(a);
        return true;
    case __NR_tkill:
        *result = send(number, (const uint64_t[6]){host, a[1]}, (int32_t)host, a[1]);
        return true;
    case __NR_tgkill:
        *result = send(number, (const uint64_t[6]){host, thread, a[2]}, (int32_t)host, a[2]);
        return true;
    case __NR_rt_sigqueueinfo:
        *result = send_with_info(number, (const uint64_t[6]){host, a[1], a[2]}, (int32_t)host, a[1], 2);
        return true;
    case __NR_rt_tgsigqueueinfo:
        *result = send_with_info(number, (const uint64_t[6]){host, thread, a[2], a[3]}, (int32_t)host, a[2], 3);
        return true;
    case __NR_pidfd_send_signal:
        host = process_of_file(a[0]);
        *result = send_with_info(number, a, (int32_t)host, a[1], 2);
        return true;
    default:
        return false;
    }
}
