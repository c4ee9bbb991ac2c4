/* perf_event_open, and system calls on its descriptors. */

#include <asm/ioctls.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/perf_event.h>
#include <linux/prctl.h>
#include <linux/uio.h>

#include "performance.h"
#include "runtime.h"
#include "tasks/schedule.h"
#include "threads/thread.h"
#include "world/world.h"

static const int64_t OTHER_PROCESS = (int64_t)1 << 32;

enum { SIZE_AT = 4 };            /* of perf_event_attr */

/* ---------------------------------------------------------------- perf_event_open */

/* The number of an event for a descriptor of its group. */
static int64_t group_of(int file) {
    const struct event_file *it = file == -1 ? NULL : event_of_file(file);
    return it ? (int64_t)it->number : file == -1 ? NO_EVENT : BAD_EVENT;
}

/* 0: the running thread, a number of another one, or OTHER_PROCESS and the host's number; NO_TASK: none of the run's. */
static int64_t task_of(int number) {
    uint32_t host;
    if (number <= 0 || thread_of((uint32_t)number))
        return number;
    host = (uint32_t)(world.flags & HOST_IDS ? (uint64_t)number : host_of_number((uint64_t)number));
    return is_of_run(host) ? OTHER_PROCESS | host : NO_TASK;
}

/* Bytes of the attribute to send: its size is judged there. */
static uint64_t bytes_of_attribute(uint64_t attribute) {
    uint32_t size = *(const uint32_t *)(attribute + SIZE_AT);
    if (size == 0)
        return PERF_ATTR_SIZE_VER0;
    return size < PERF_ATTR_SIZE_VER0 || size > PAGE ? 2 * SIZE_AT : size;
}

/* The size of the attributes that there are, in place of the one that is too big. */
static void return_size(uint64_t attribute) {
    if (is_writable(attribute + SIZE_AT, 4) && answered_bytes() >= 2 * SIZE_AT)
        memcpy((void *)(attribute + SIZE_AT), (const uint8_t *)answered_data() + SIZE_AT, 4);
}

static int64_t open_event(const uint64_t *a) {
    int64_t arguments[REQUEST_ARGUMENTS] = {task_of((int)a[1]), (int)a[2], group_of((int)a[3]), (int64_t)a[4],
                                            process_id()};
    struct event_file *it;
    int64_t file, number;
    uint64_t bytes;
    if (!are_readable(a[0], 2 * SIZE_AT))
        return -EFAULT;
    bytes = bytes_of_attribute(a[0]);
    if (!are_readable(a[0], bytes))
        return -EFAULT;
    file = new_event_file(a[4] & PERF_FLAG_FD_CLOEXEC, &it);
    if (failed(file))
        return file;
    events_of_thread(running->id);           /* threads that ran before the first event are not known */
    number = ask(ASK_OPEN, arguments, (const void *)a[0], bytes);
    if (number > 0) {
        it->number = (uint64_t)number;
        return file;
    }
    forget_event_file(it);
    KERNEL1(__NR_close, file);
    if (number == -E2BIG)
        return_size(a[0]);
    return number ? number : -EINVAL;
}

/* ---------------------------------------------------------------- read, ioctl */

static int64_t read_event(const struct event_file *it, uint64_t to, uint64_t room) {
    const int64_t arguments[REQUEST_ARGUMENTS] = {(int64_t)it->number, (int64_t)room};
    int64_t bytes = ask(ASK_READ, arguments, NULL, 0);
    if (failed(bytes) || bytes == 0)
        return bytes;
    if ((uint64_t)bytes > room || (uint64_t)bytes > answered_bytes())
        return -ENOSPC;
    if (!is_writable(to, (uint64_t)bytes))
        return -EFAULT;
    memcpy((void *)to, answered_data(), (uint64_t)bytes);
    return bytes;
}

static int64_t read_into_first(const struct event_file *it, uint64_t vectors, uint64_t count) {
    const struct iovec *first = (const struct iovec *)vectors;
    if (!count)
        return 0;
    if (!are_readable(vectors, sizeof(*first)))
        return -EFAULT;
    return read_event(it, (uint64_t)first->iov_base, first->iov_len);
}

static int64_t control_event(const struct event_file *it, uint64_t request, uint64_t argument) {
    int64_t arguments[REQUEST_ARGUMENTS] = {(int64_t)it->number, (int64_t)request, (int64_t)argument}, result;
    uint64_t bytes = 0;
    if (request == PERF_EVENT_IOC_PERIOD && !are_readable(argument, bytes = 8))
        return -EFAULT;
    if (request == PERF_EVENT_IOC_PERIOD || request == PERF_EVENT_IOC_ID)
        arguments[2] = 0;        /* a place in the data */
    else if (request == PERF_EVENT_IOC_SET_OUTPUT)
        arguments[2] = group_of((int)argument);
    result = ask(ASK_CONTROL, arguments, (const void *)argument, bytes);
    if (failed(result) || request != PERF_EVENT_IOC_ID)
        return result;
    if (!is_writable(argument, 8) || answered_bytes() < 8)
        return -EFAULT;
    memcpy((void *)argument, answered_data(), 8);
    return result;
}

/* false: the kernel's request of any file. */
static bool event_ioctl(struct event_file *it, const uint64_t *a, int64_t *result) {
    switch ((uint32_t)a[1]) {
    case FIOCLEX: case FIONCLEX: case FIONBIO:
        return false;
    case FIOASYNC:
        *result = are_readable(a[2], 4) ? 0 : -EFAULT;
        if (!*result)
            it->is_asynchronous = *(const int *)a[2];
        return true;
    default:
        *result = control_event(it, (uint32_t)a[1], a[2]);
        return true;
    }
}

/* ---------------------------------------------------------------- calls on a descriptor */

static bool descriptor_call(int64_t number, const uint64_t *a, int64_t *result) {
    struct event_file *it = event_of_file((int)a[number == __NR_mmap ? 4 : 0]);
    if (!it)
        return false;
    if (in_child && number != __NR_fcntl) {      /* the events are its parent's */
        *result = -EACCES;
        return true;
    }
    switch (number) {
    case __NR_read:
        *result = read_event(it, a[1], a[2]);
        return true;
    case __NR_readv:
        *result = read_into_first(it, a[1], a[2]);
        return true;
    case __NR_ioctl:
        return event_ioctl(it, a, result);
    case __NR_fcntl:
        if (in_child || a[1] == F_DUPFD || a[1] == F_DUPFD_CLOEXEC)
            return false;
        *result = control_event_file(it, (int)a[0], a[1], a[2]);
        return true;
    case __NR_mmap:
        if (a[3] & MAP_ANONYMOUS)
            return false;
        *result = map_event(it, a);
        return true;
    default:                     /* a write */
        *result = -EINVAL;
        return true;
    }
}

/* Another thread runs from here on: its own events count. */
void events_of_thread(uint32_t id) {
    const int64_t arguments[REQUEST_ARGUMENTS] = {id};
    if (any_event_is_open())
        ask(ASK_THREAD, arguments, NULL, 0);
}

/* Whether a call that does not go to an event may close a descriptor, or replace a mapping, of one. */
bool may_lose_event(int64_t number, const uint64_t *a) {
    if (!any_event_is_open())
        return false;
    switch (number) {
    case __NR_close:
        return event_of_file((int)a[0]);
    case __NR_dup2: case __NR_dup3:
        return event_of_file((int)a[1]);
    case __NR_close_range: case __NR_munmap: case __NR_mremap:
        return true;
    case __NR_mmap:
        return a[3] & MAP_FIXED;
    default:
        return false;
    }
}

/* After such a call. */
void release_lost_events(int64_t number, const uint64_t *a, int64_t result) {
    if (failed(result))
        return;
    if (number == __NR_munmap || number == __NR_mremap || number == __NR_mmap)
        forget_event_mappings(a[0], a[0] + whole_pages(a[1]));
    release_closed_events();
}

/* Calls that do not name one event. */
static bool process_call(int64_t number, const uint64_t *a, int64_t *result) {
    const int64_t on[REQUEST_ARGUMENTS] = {a[0] == PR_TASK_PERF_EVENTS_ENABLE};
    switch (number) {
    case __NR_poll: case __NR_ppoll: case __NR_select: case __NR_pselect6: case __NR_epoll_wait: case __NR_epoll_pwait:
    case __NR_epoll_pwait2:
        clear_read_events();
        return false;
    case __NR_prctl:
        if (a[0] != PR_TASK_PERF_EVENTS_ENABLE && a[0] != PR_TASK_PERF_EVENTS_DISABLE)
            return false;
        *result = ask(ASK_SWITCH_ALL, on, NULL, 0);
        return true;
    default:
        return false;
    }
}

/* Whether the call is one about events; others go on to the kernel. */
bool performance_call(int64_t number, const uint64_t *a, int64_t *result) {
    if (number == __NR_perf_event_open) {
        *result = has_pmu() ? open_event(a) : -EACCES;
        return true;
    }
    if (!has_event_files())
        return false;
    switch (number) {
    case __NR_read: case __NR_readv: case __NR_write: case __NR_writev: case __NR_ioctl: case __NR_fcntl: case __NR_mmap:
        return descriptor_call(number, a, result);
    default:
        return any_event_is_open() && process_call(number, a, result);
    }
}
