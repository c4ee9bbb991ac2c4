/* Calls that other processes of the run may end: each is tried without waiting, while others execute (waits.c). */

#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/stat.h>

#include "runtime.h"
#include "tasks/schedule.h"
#include "waits.h"
#include "world/world.h"

enum {
    MESSAGE_WITHOUT_WAIT = 0x40, /* send(2) */
    MOST_PARTS = 1024, PIPE_BYTES = 4096, SOCKET_LEVEL = 1, SOCKET_ERROR = 4
};

static bool is_kind(uint64_t file, uint32_t kind) {
    struct stat status;
    return KERNEL2(__NR_fstat, file, &status) == 0 && (status.st_mode & S_IFMT) == kind;
}

static bool waits(uint64_t file) {
    int64_t flags = KERNEL3(__NR_fcntl, file, F_GETFL, 0);
    return !failed(flags) && !(flags & (O_NONBLOCK | O_PATH));
}

/* ---------------------------------------------------------------- writing */

struct part { uint64_t at, bytes; };

struct writing {                 /* a wait, and how far the call has come */
    struct wait wait;
    uint64_t file, done;
    bool is_pipe;
    struct part *parts;
    uint64_t count;
};

static int64_t write_now(const struct writing *it) {
    struct { uint64_t name, name_bytes; struct part *parts; uint64_t count, control, control_bytes, flags; } message = {
        .parts = it->parts, .count = it->count};
    struct pollfd wanted = {.fd = (int)it->file, .events = POLLOUT};
    int64_t result;
    if (!it->is_pipe)
        return call(__NR_sendmsg, it->file, (uint64_t)&message, MESSAGE_WITHOUT_WAIT, 0, 0, 0);
    result = call(__NR_pwritev2, it->file, (uint64_t)it->parts, it->count, ~(uint64_t)0, ~(uint64_t)0, RWF_NOWAIT);
    if (result != -EOPNOTSUPP && result != -ESPIPE)
        return result;
    if (KERNEL3(__NR_poll, &wanted, 1, 0) != 1)
        return -EAGAIN;
    return call(__NR_write, it->file, it->parts->at, it->parts->bytes < PIPE_BYTES ? it->parts->bytes : PIPE_BYTES, 0, 0, 0);
}

/* Leave out what is written, which others may wait for; returns whether something is left. */
static bool skip_parts(struct writing *it, uint64_t written) {
    it->done += written;
    schedule->events++;
    while (it->count && written >= it->parts->bytes) {
        written -= it->parts->bytes;
        it->parts++;
        it->count--;
    }
    if (it->count) {
        it->parts->at += written;
        it->parts->bytes -= written;
    }
    return it->count;
}

static int64_t attempt_writing(const struct wait *wait, uint64_t limit) {
    struct writing *it = (struct writing *)wait;
    int64_t result;
    if (limit)
        rest_for(limit);
    do {
        result = write_now(it);
        if (result == -EAGAIN)
            return result;
        if (failed(result))
            return it->done ? (int64_t)it->done : result;
    } while (skip_parts(it, (uint64_t)result));
    return (int64_t)it->done;
}

static bool is_inside_writing(const struct wait *wait) {
    return is_inside_descriptor((int)((const struct writing *)wait)->file);
}

static int64_t write_waiting(uint64_t file, bool is_pipe, struct part *parts, uint64_t count) {
    struct writing it = {.wait = {.attempt = attempt_writing, .is_inside = is_inside_writing, .nothing = -EAGAIN, .text = "to write"},
                         .file = file, .is_pipe = is_pipe, .parts = parts, .count = count};
    int64_t result = wait_until(&it.wait, NEVER);
    return result == -EINTR && it.done ? (int64_t)it.done : result;
}

static bool write_call(int64_t number, const uint64_t *a, int64_t *result) {
    struct part parts[MOST_PARTS], one = {a[1], a[2]};
    bool is_pipe = is_kind(a[0], S_IFIFO);
    if ((!is_pipe && !is_kind(a[0], S_IFSOCK)) || !waits(a[0]) || is_output_of_run((int)a[0]))
        return false;
    if (number == __NR_write && a[2] == 0)
        return false;
    if (number == __NR_write) {
        *result = write_waiting(a[0], is_pipe, &one, 1);
        return true;
    }
    if (a[2] == 0 || a[2] > MOST_PARTS || !are_readable(a[1], a[2] * sizeof(one)))
        return false;
    memcpy(parts, (const void *)a[1], a[2] * sizeof(one));
    *result = write_waiting(a[0], is_pipe, parts, a[2]);
    return true;
}

/* ---------------------------------------------------------------- sockets */

static int64_t attempt_send(const struct wait *it, uint64_t limit) {
    int at = it->number == __NR_sendto ? 3 : 2;
    uint64_t a[6];
    if (limit)
        rest_for(limit);
    memcpy(a, it->a, sizeof(a));
    a[at] |= MESSAGE_WITHOUT_WAIT;
    return pass_on(it->number, a);
}

static bool is_inside_socket(const struct wait *it) {
    return is_inside_descriptor((int)it->a[0]);
}

/* sendto sends all; sendmsg is not divided here. */
static int64_t send_waiting(int64_t number, const uint64_t *a) {
    uint64_t own[6], done = 0;
    const struct wait wait = {.attempt = attempt_send, .is_inside = is_inside_socket, .number = number, .a = own, .nothing = -EAGAIN,
                              .text = "to send"};
    int64_t result;
    memcpy(own, a, sizeof(own));
    for (;;) {
        result = wait_until(&wait, NEVER);
        if (failed(result))
            return done ? (int64_t)done : result;
        done += (uint64_t)result;
        schedule->events++;
        if (number == __NR_sendmsg || (uint64_t)result >= own[2] || result == 0)
            return (int64_t)done;
        own[1] += (uint64_t)result;
        own[2] -= (uint64_t)result;
    }
}

static int64_t attempt_connection(const struct wait *it, uint64_t limit) {
    struct pollfd wanted = {.fd = (int)it->a[0], .events = POLLOUT};
    int64_t flags = KERNEL3(__NR_fcntl, it->a[0], F_GETFL, 0), result;
    int error = 0;
    uint32_t bytes = sizeof(error);
    if (limit)
        rest_for(limit);
    KERNEL3(__NR_fcntl, it->a[0], F_SETFL, flags | O_NONBLOCK);
    result = call(__NR_connect, it->a[0], it->a[1], it->a[2], 0, 0, 0);
    KERNEL3(__NR_fcntl, it->a[0], F_SETFL, flags);
    if (result != -EINPROGRESS && result != -EALREADY)
        return result;
    schedule->events += result == -EINPROGRESS;
    if (KERNEL3(__NR_poll, &wanted, 1, 0) != 1)
        return -EAGAIN;
    KERNEL6(__NR_getsockopt, it->a[0], SOCKET_LEVEL, SOCKET_ERROR, &error, &bytes, 0);
    return -(int64_t)error;
}

static int64_t connect_waiting(const uint64_t *a) {
    const struct wait wait = {.attempt = attempt_connection, .is_inside = never_inside, .number = __NR_connect, .a = a,
                              .nothing = -EAGAIN, .text = "for a connection"};
    return wait_until(&wait, NEVER);
}

/* ---------------------------------------------------------------- named pipes */

struct opening {                 /* a wait for the other side */
    struct wait wait;
    int64_t file;                /* that has no writer yet; NO_FILE */
};

static int64_t open_now(const struct wait *it) {
    int at = it->number == __NR_open ? 1 : 2;
    uint64_t a[6];
    memcpy(a, it->a, sizeof(a));
    a[at] |= O_NONBLOCK;
    return pass_on(it->number, a);
}

/* A pipe without a writer has an end; one that had one says so. */
static bool has_writer(int64_t file) {
    struct pollfd wanted = {.fd = (int)file, .events = POLLIN};
    char byte;
    return KERNEL3(__NR_poll, &wanted, 1, 0) == 1 || KERNEL3(__NR_read, file, &byte, 1) != 0;
}

static int64_t attempt_open(const struct wait *wait, uint64_t limit) {
    struct opening *it = (struct opening *)wait;
    bool reads = (wait->a[wait->number == __NR_open ? 1 : 2] & O_ACCMODE) == O_RDONLY;
    if (limit)
        rest_for(limit);
    if (it->file == NO_FILE) {
        int64_t file = open_now(wait);
        if (failed(file))
            return file;
        it->file = file;
        schedule->events++;
    }
    return reads && !has_writer(it->file) ? wait->nothing : it->file;
}

static bool open_call(int64_t number, const uint64_t *a, int64_t *result) {
    bool at = number == __NR_openat;
    struct opening it = {.wait = {.attempt = attempt_open, .is_inside = never_inside, .number = number, .a = a, .nothing = -ENXIO,
                                 .text = "for the other end of a named pipe"},
                         .file = NO_FILE};
    struct stat status;
    uint64_t flags = a[1 + at];
    if (flags & (O_NONBLOCK | O_PATH | O_DIRECTORY) || (flags & O_ACCMODE) == O_RDWR
        || KERNEL4(__NR_newfstatat, at ? a[0] : (uint64_t)AT_FDCWD, a[at], &status, flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0)
        || (status.st_mode & S_IFMT) != S_IFIFO)
        return false;
    *result = wait_until(&it.wait, NEVER);
    if (!failed(*result))
        KERNEL3(__NR_fcntl, *result, F_SETFL, flags);
    else if (it.file != NO_FILE)
        KERNEL1(__NR_close, it.file);
    return true;
}

/* ---------------------------------------------------------------- the calls */

/* Whether a transfer is not to wait for a pipe, as its O_NONBLOCK says. */
static bool is_pipe_without_wait(uint64_t file) {
    return is_kind(file, S_IFIFO) && !waits(file);
}

/* While there are other processes. */
bool shared_wait_call(int64_t number, uint64_t *a, int64_t *result) {
    if (!others_exist())
        return false;
    switch (number) {
    case __NR_write: case __NR_writev:
        return write_call(number, a, result);
    case __NR_sendto: case __NR_sendmsg:
        if (a[number == __NR_sendto ? 3 : 2] & MESSAGE_WITHOUT_WAIT || !is_kind(a[0], S_IFSOCK) || !waits(a[0]))
            return false;
        *result = send_waiting(number, a);
        return true;
    case __NR_connect:
        if (!is_kind(a[0], S_IFSOCK) || !waits(a[0]))
            return false;
        *result = connect_waiting(a);
        return true;
    case __NR_sendfile:
        if (is_kind(a[0], S_IFIFO) && a[3] > PIPE_BYTES)
            a[3] = PIPE_BYTES;
        if (waits(a[0]))
            *result = wait_for_file((int)a[0], POLLOUT);
        return waits(a[0]) && *result == -EINTR;
    case __NR_splice: case __NR_tee:
        if (is_pipe_without_wait(a[0]) || is_pipe_without_wait(a[number == __NR_tee ? 1 : 2]))
            return false;
        return immediate_call(number, a, result);
    case __NR_open: case __NR_openat:
        return open_call(number, a, result);
    default:
        return immediate_call(number, a, result);
    }
}
