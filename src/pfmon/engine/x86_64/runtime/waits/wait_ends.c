/* What can end a wait: the guest itself and time, or also what comes from outside of the run. */

#include <asm/socket.h>
#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/poll.h>
#include <linux/stat.h>
#include <linux/wait.h>

#include "tasks/schedule.h"
#include "waits.h"

enum {
    DEPTH = 2,                   /* of epoll descriptors in each other */
    SOCKET_LEVEL = 1, UNIX_FAMILY = 1, UNNAMED = 2   /* bytes of an address without a name (unix(7)) */
};

bool made_process, waits_endlessly;

/* Whether processes that are not in the schedule may end a wait. */
static bool has_strangers(void) {
    return schedule->on ? schedule->natives : made_process;
}

static bool has_children(void) {
    if (schedule->on)
        return schedule->natives;
    return made_process && KERNEL4(__NR_waitid, P_ALL, 0, 0, WNOHANG | WNOWAIT | WEXITED | WSTOPPED | WCONTINUED) != -ECHILD;
}

static bool is_pair(int file) {
    uint64_t address[16];
    int family = 0;
    uint32_t bytes = sizeof(family), own = sizeof(address), other = sizeof(address);
    KERNEL6(__NR_getsockopt, file, SOCKET_LEVEL, SO_DOMAIN, &family, &bytes, 0);
    return family == UNIX_FAMILY && KERNEL3(__NR_getsockname, file, address, &own) == 0 && own == UNNAMED
        && KERNEL3(__NR_getpeername, file, address, &other) == 0 && other == UNNAMED;
}

/* What /proc tells of a descriptor. */
bool read_descriptor_info(int file, struct text *to) {
    int64_t info, bytes;
    info = KERNEL3(__NR_open, info_name_of_descriptor(file, to), O_RDONLY | O_CLOEXEC, 0);
    if (failed(info))
        return false;
    bytes = KERNEL3(__NR_read, info, to->bytes, TEXT_ROOM - 1);
    KERNEL1(__NR_close, info);
    to->length = bytes > 0 ? (uint32_t)bytes : 0;
    to->bytes[to->length] = 0;
    return bytes > 0 && bytes < TEXT_ROOM - 1;
}

static bool is_inside_file(int file, int depth);

static bool is_inside_epoll(int file, int depth) {
    struct text info;
    const char *at;
    if (depth == 0 || !read_descriptor_info(file, &info))
        return false;
    for (at = info.bytes; (at = value_of_field(at, "tfd:"));)
        if (!is_inside_file((int)take_number(&at), depth - 1))
            return false;
    return true;
}

static bool is_standard(const struct stat *status, int number) {
    return schedule->standard[number].device == status->st_dev && schedule->standard[number].inode == status->st_ino;
}

/* Whether a file is the run's standard output or error, which others than the run's processes read: a write waits in the kernel,
   so that the order of threads and processes does not depend on how fast they do. */
bool is_output_of_run(int file) {
    struct stat status;
    if (KERNEL2(__NR_fstat, file, &status) || ((status.st_mode & S_IFMT) != S_IFCHR && is_standard(&status, 0)))
        return false;
    return is_standard(&status, 1) || is_standard(&status, 2);
}

/* Whether only the guest itself, or time, can make a file ready. */
static bool is_inside_file(int file, int depth) {
    struct stat status;
    struct text path;
    int i;
    if (KERNEL2(__NR_fstat, file, &status))
        return true;
    for (i = 0; i < 3; i++)
        if (is_standard(&status, i))
            return false;
    if ((status.st_mode & S_IFMT) == S_IFREG)
        return true;
    path_of_file(file, &path);
    if (begins_with(path.bytes, "anon_inode:[eventpoll]"))
        return is_inside_epoll(file, depth);
    if (begins_with(path.bytes, "socket:"))
        return is_pair(file);
    if (begins_with(path.bytes, "anon_inode:[signalfd]"))
        return !waits_endlessly;
    return begins_with(path.bytes, "pipe:") || begins_with(path.bytes, "anon_inode:[eventfd]");
}

bool is_inside_descriptor(int file) {
    return !has_strangers() && is_inside_file(file, DEPTH);
}

bool without_children(const struct wait *it) {
    (void)it;
    return !has_children();
}

bool without_processes(const struct wait *it) {
    (void)it;
    return !has_strangers();
}

bool never_inside(const struct wait *it) {
    (void)it;
    return false;
}

bool is_inside_poll(const struct wait *it) {
    const struct pollfd *files = (const struct pollfd *)it->a[0];
    uint32_t i;
    for (i = 0; i < (uint32_t)it->a[1]; i++)
        if (files[i].fd >= 0 && !is_inside_descriptor(files[i].fd))
            return false;
    return true;
}
