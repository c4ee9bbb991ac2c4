/* Calls that would wait in the kernel, and all threads with them: they are tried without waiting, and other threads run until
   one succeeds. */

#include <asm/ioctls.h>
#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/poll.h>
#include <linux/stat.h>
#include <linux/uio.h>

#include "root/root.h"
#include "threads/thread.h"
#include "waits.h"

enum {
    WITHOUT_WAIT = 0x40,         /* send(2): MSG_DONTWAIT */
    PART = PAGE                  /* bytes that a pipe takes at once, if it takes any */
};

/* ---------------------------------------------------------------- output */

/* How a descriptor is written to. */
enum output { DOES_NOT_WAIT, IN_PARTS, TO_SOCKET };

static enum output kind_of(int file) {
    struct stat status;
    int64_t flags = KERNEL3(__NR_fcntl, file, F_GETFL, 0);
    if (failed(flags) || flags & O_NONBLOCK || is_output_of_run(file) || KERNEL2(__NR_fstat, file, &status))
        return DOES_NOT_WAIT;
    switch (status.st_mode & S_IFMT) {
    case S_IFIFO: case S_IFCHR:
        return IN_PARTS;
    case S_IFSOCK:
        return TO_SOCKET;
    default:
        return (status.st_mode & S_IFMT) == 0 ? IN_PARTS : DOES_NOT_WAIT;    /* an eventfd and its like */
    }
}

static int64_t send_part(int file, enum output kind, uint64_t at, uint64_t bytes) {
    uint64_t part = bytes < PART ? bytes : PART;
    int64_t result;
    for (;;) {
        if (kind == IN_PARTS) {
            result = wait_for_file(file, POLLOUT);
            return result == -EINTR ? result : call(__NR_write, (uint64_t)file, at, part, 0, 0, 0);
        }
        result = call(__NR_sendto, (uint64_t)file, at, bytes, WITHOUT_WAIT, 0, 0);
        if (result != -EAGAIN)
            return result;
        result = wait_for_file(file, POLLOUT);
        if (result == -EINTR)
            return result;
    }
}

/* Write bytes, in as many parts as it takes. */
static int64_t write_all(int file, enum output kind, uint64_t at, uint64_t bytes) {
    uint64_t done = 0;
    int64_t result;
    do {
        result = send_part(file, kind, at + done, bytes - done);
        if (result <= 0)
            return done ? (int64_t)done : result;
        done += (uint64_t)result;
    } while (done < bytes);
    return (int64_t)done;
}

static int64_t write_vectors(int file, enum output kind, const struct iovec *all, uint64_t count) {
    uint64_t i, done = 0;
    int64_t result;
    for (i = 0; i < count; i++) {
        if (!all[i].iov_len)
            continue;
        result = write_all(file, kind, (uint64_t)all[i].iov_base, all[i].iov_len);
        if (result < 0)
            return done ? (int64_t)done : result;
        done += (uint64_t)result;
        if ((uint64_t)result < all[i].iov_len)
            break;
    }
    return (int64_t)done;
}

static uint64_t bytes_of(const struct iovec *all, uint64_t count) {
    uint64_t i, sum = 0;
    for (i = 0; i < count; i++)
        sum += all[i].iov_len;
    return sum;
}

static bool write_call(int64_t number, const uint64_t *a, int64_t *result) {
    const struct iovec *vectors = (const struct iovec *)a[1];
    enum output kind = kind_of((int)a[0]);
    if (kind == DOES_NOT_WAIT)
        return false;
    if (number == __NR_write) {
        *result = write_all((int)a[0], kind, a[1], a[2]);
        return true;
    }
    if (a[2] > UIO_MAXIOV || !are_readable(a[1], a[2] * sizeof(*vectors)))
        return false;            /* the kernel says what is wrong */
    if (kind == IN_PARTS && bytes_of(vectors, a[2]) <= PART) {       /* in one piece */
        *result = wait_for_file((int)a[0], POLLOUT);
        return *result == -EINTR;
    }
    *result = write_vectors((int)a[0], kind, vectors, a[2]);
    return true;
}

/* sendto, sendmsg, sendmmsg: `flags`, the number of the argument that has them. */
static bool send_call(int64_t number, const uint64_t *a, int flags, int64_t *result) {
    uint64_t own[6];
    if (a[flags] & WITHOUT_WAIT || kind_of((int)a[0]) == DOES_NOT_WAIT)
        return false;
    memcpy(own, a, sizeof(own));
    own[flags] |= WITHOUT_WAIT;
    do {
        *result = pass_on(number, own);
        if (*result != -EAGAIN)
            return true;
        *result = wait_for_file((int)a[0], POLLOUT);
    } while (*result != -EINTR);
    return true;
}

/* ---------------------------------------------------------------- named pipes */

/* The opening of a named pipe waits for its other end; a reader waits when it reads. `flags`: the number of that argument. */
int64_t open_named_pipe(int64_t number, const uint64_t *a, int flags) {
    uint64_t own[6];
    int64_t file;
    memcpy(own, a, sizeof(own));
    own[flags] |= O_NONBLOCK;
    file = wait_trying(number, own, -ENXIO, "for a reader of a named pipe");
    if (!failed(file))
        KERNEL3(__NR_fcntl, file, F_SETFL, a[flags] & O_APPEND);
    return file;
}

bool opening_waits(uint64_t flags, const struct stat *status) {
    return !(flags & (O_NONBLOCK | O_PATH | O_DIRECTORY | O_CREAT)) && (status->st_mode & S_IFMT) == S_IFIFO;
}

static bool open_call(int64_t number, const uint64_t *a, int path, int64_t *result) {
    uint64_t directory = path ? a[0] : (uint64_t)AT_FDCWD;
    struct stat status;
    if (root.confined || KERNEL4(__NR_newfstatat, directory, a[path], &status, 0) || !opening_waits(a[path + 1], &status))
        return false;
    *result = open_named_pipe(number, a, path + 1);
    return true;
}

/* ---------------------------------------------------------------- all calls */

/* Wait until both files of a transfer are ready. */
static bool transfer_call(uint64_t from, uint64_t to, int64_t *result) {
    *result = kind_of((int)from) == DOES_NOT_WAIT ? 0 : wait_for_file((int)from, POLLIN);
    if (*result != -EINTR && kind_of((int)to) != DOES_NOT_WAIT)
        *result = wait_for_file((int)to, POLLOUT);
    return *result == -EINTR;
}

/* A file goes to a socket in as many parts as it takes: the kernel would wait until all of it is sent. */
static bool send_file_call(const uint64_t *a, int64_t *result) {
    uint64_t done = 0, part;
    if (kind_of((int)a[0]) != TO_SOCKET)
        return transfer_call(a[1], a[0], result);
    do {
        part = a[3] - done < PART ? a[3] - done : PART;
        *result = wait_for_file((int)a[0], POLLOUT);
        if (*result != -EINTR)
            *result = call(__NR_sendfile, a[0], a[1], a[2], part, 0, 0);
        if (*result > 0)
            done += (uint64_t)*result;
    } while (*result > 0 && done < a[3]);
    if (done)
        *result = (int64_t)done;
    return true;
}

/* Returns whether the call has been executed: the kernel executes others, which do not wait now. */
bool blocking_call(int64_t number, const uint64_t *a, int64_t *result) {
    switch (number) {
    case __NR_write: case __NR_writev:
        return write_call(number, a, result);
    case __NR_sendto: case __NR_sendmmsg:
        return send_call(number, a, 3, result);
    case __NR_sendmsg:
        return send_call(number, a, 2, result);
    case __NR_openat:
        return open_call(number, a, 1, result);
    case __NR_open:
        return open_call(number, a, 0, result);
    case __NR_splice:
        return transfer_call(a[0], a[2], result);
    case __NR_tee:
        return transfer_call(a[0], a[1], result);
    case __NR_sendfile:
        return send_file_call(a, result);
    default:
        return immediate_call(number, a, result);
    }
}
