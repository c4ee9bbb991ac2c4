/* Following: a child of the program, or a program that it executes, requests its own files from pfmon (tasks.py).

   It connects to pfmon's socket, which has an abstract name. It sends its question with one end of a socket pair, the
   line, and keeps the other: when pfmon's end closes, because pfmon is dead or ends the run, the kernel kills the
   process (O_ASYNC). No data is ever sent on the line: it would also kill. A child keeps its parent's line until it has
   its own, so that pfmon knows of every child before its parent's line closes. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "follow.h"
#include "parts.h"

enum {
    HIGHEST = 1024,              /* the line gets a number below, and above those that programs use */
    SPARE = 24                   /* distance above programs' numbers, at most */
};

struct question {                /* tasks.py, Question */
    uint32_t kind;
    uint32_t task;               /* the asking one; ASK_CHILD: the parent */
    uint32_t number;             /* of the parent's children, from 1 on */
};

int following;
static struct sockaddr_un reader;
static socklen_t reader_length;
static int line = -1;
static ino_t line_number;        /* inode of the line: the program may close it and open another file there */
static uint32_t forks;           /* number of the latest child */

static __attribute__((noreturn)) void die(void) {
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

static bool is_open(void) {
    struct stat status;
    return line >= 0 && fstat(line, &status) == 0 && status.st_ino == line_number && S_ISSOCK(status.st_mode);
}

/* Keep the lowest descriptors free, as programs expect. */
static int out_of_the_way(int file) {
    struct rlimit limit;
    int moved, lowest = HIGHEST;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < HIGHEST)
        lowest = (int)limit.rlim_cur;
    moved = fcntl(file, F_DUPFD_CLOEXEC, lowest > SPARE ? lowest - SPARE : 0);
    if (moved < 0)
        return file;
    close(file);
    return moved;
}

/* Arm the line: from here on its closing kills this process. */
static void hold(int file) {
    struct stat status;
    struct pollfd now = {file, POLLIN, 0};
    line = file;
    if (fstat(line, &status) || fcntl(line, F_SETOWN, getpid()) || fcntl(line, F_SETSIG, SIGKILL)
            || fcntl(line, F_SETFL, O_ASYNC) || poll(&now, 1, 0) == 1)
        die();
    line_number = status.st_ino;
}

union control {                  /* room for descriptors in a message */
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof(struct files))];
};

static bool send_question(int file, const struct question *question, int end) {
    union control control = {0};
    struct iovec part = {(void *)question, sizeof(*question)};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
                             .msg_controllen = CMSG_SPACE(sizeof(int))};
    ssize_t sent;
    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(&control.head), &end, sizeof(int));
    while ((sent = sendmsg(file, &message, MSG_NOSIGNAL)) < 0 && errno == EINTR)
        ;
    return sent == sizeof(*question);
}

/* The descriptors that come with an answer; false: no answer. */
static bool receive(int file, struct files *files) {
    union control control;
    char answer;
    struct iovec part = {&answer, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    struct cmsghdr *head;
    ssize_t got;
    while ((got = recvmsg(file, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
        ;
    head = CMSG_FIRSTHDR(&message);
    if (got != 1 || !head || head->cmsg_type != SCM_RIGHTS || head->cmsg_len != CMSG_LEN(sizeof(struct files)))
        return false;
    memcpy(files, CMSG_DATA(head), sizeof(struct files));
    return true;
}

static int connected(void) {
    int file = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), failed;
    if (file < 0)
        die();
    while ((failed = connect(file, (struct sockaddr *)&reader, reader_length)) < 0 && errno == EINTR)
        ;
    if (failed)
        die();
    return file;
}

/* Ask pfmon for files. A process without an answer ends: its execution would not be counted. */
static struct files ask(enum ask kind, uint32_t task) {
    struct question question = {kind, task, forks};
    struct files files = {-1, -1};
    int old = is_open() ? line : -1, ends[2], file = connected();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) || !send_question(file, &question, ends[1]))
        die();
    close(ends[1]);
    if (kind != ASK_LINE && !receive(file, &files))
        die();
    close(file);
    if (old >= 0)
        close(old);
    hold(out_of_the_way(ends[0]));
    return files;
}

/* Called when the program begins; `name`: of pfmon's socket. */
struct files follow_start(const char *name, int what) {
    following = what;
    reader.sun_family = AF_UNIX;
    strncpy(reader.sun_path + 1, name, sizeof(reader.sun_path) - 2);
    reader_length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
    return ask(ASK_START, 0);
}

/* Called before a fork. */
void follow_fork(void) {
    forks = ++area->forks;
}

/* Called in a child, which still uses its parent's area. */
struct files follow_child(void) {
    return ask(ASK_CHILD, area->task);
}

/* Called in a child that is not followed. */
void follow_no_more(void) {
    if (is_open())
        close(line);
    line = -1;
    following = 0;
}

/* A system call that may close files has returned. */
void follow_keep(void) {
    if (!is_open())
        ask(ASK_LINE, area->task);
}
