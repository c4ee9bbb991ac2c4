/* A child of the program, or a program that it executes, asks pfmon for files of its own (engine/tasks/tasks.py).

   It connects to pfmon's socket, which has an abstract name. It sends its question with one end of a socket pair, the line, and
   keeps the other: when pfmon's end closes, because pfmon is dead or ends the run, the kernel kills the process (O_ASYNC). No data
   is ever sent on the line: it would also kill. A child keeps its parent's line until it has its own, so that pfmon knows of every
   child before its parent's line closes. */

#include "following.h"

#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/poll.h>
#include <linux/resource.h>
#include <linux/signal.h>
#include <linux/stat.h>
#include <linux/un.h>

#include "runtime.h"

enum {
    ASK_START = 0,               /* a program begins */
    ASK_CHILD = 1,               /* a child begins */
    ASK_LINE = 2,                /* a new line is needed */

    UNIX_FAMILY = 1, STREAM = 1, PACKETS = 5, CLOSED_ON_EXEC = 02000000, NO_SIGNAL = 0x4000,     /* socket(2), send(2) */
    SOCKET_LEVEL = 1, RIGHTS = 1, RECEIVED_CLOSED_ON_EXEC = 0x40000000,                          /* unix(7), recv(2) */
    HIGHEST = 1024,              /* the line gets a number below, and above those that programs use */
    SPARE = 24                   /* distance above programs' numbers, at most */
};

struct question {                /* tasks.py, QUESTION */
    uint32_t kind;
    uint32_t task;               /* the asking one; ASK_CHILD: the parent */
    uint32_t number;             /* of the parent's children, from 1 on */
};

struct vector { void *at; uint64_t bytes; };

struct message {                 /* struct msghdr */
    void *name;
    uint64_t name_bytes;
    struct vector *parts;
    uint64_t part_count;
    void *control;
    uint64_t control_bytes;
    uint64_t flags;
};

struct control {                 /* struct cmsghdr, and descriptors */
    uint64_t bytes;
    int level, type;
    int files[2];
};

uint32_t following;
struct line line = {-1, 0};
static struct sockaddr_un reader;
static uint64_t reader_bytes;

static __attribute__((noreturn)) void end(void) {
    KERNEL2(__NR_kill, KERNEL0(__NR_getpid), SIGKILL);
    for (;;)
        KERNEL0(__NR_pause);
}

static bool is_open(void) {
    struct stat status;
    return line.file >= 0 && KERNEL2(__NR_fstat, line.file, &status) == 0 && status.st_ino == line.number
        && (status.st_mode & S_IFMT) == S_IFSOCK;
}

/* Keep the lowest descriptors free, as programs expect. */
static int out_of_the_way(int file) {
    uint64_t limits[2], lowest = HIGHEST;
    int64_t moved;
    if (KERNEL4(__NR_prlimit64, 0, RLIMIT_NOFILE, 0, limits) == 0 && limits[0] < HIGHEST)
        lowest = limits[0];
    moved = KERNEL3(__NR_fcntl, file, F_DUPFD_CLOEXEC, lowest > SPARE ? lowest - SPARE : 0);
    if (failed(moved))
        return file;
    KERNEL1(__NR_close, file);
    return (int)moved;
}

/* Arm the line: from here on its closing kills this process. */
static void hold(int file) {
    struct stat status;
    struct pollfd now = {.fd = file, .events = POLLIN};
    if (KERNEL2(__NR_fstat, file, &status) || KERNEL3(__NR_fcntl, file, F_SETOWN, KERNEL0(__NR_getpid))
        || KERNEL3(__NR_fcntl, file, F_SETSIG, SIGKILL) || KERNEL3(__NR_fcntl, file, F_SETFL, FASYNC)
        || KERNEL3(__NR_poll, &now, 1, 0) == 1)
        end();
    line = (struct line){file, status.st_ino};
}

static bool send_question(int64_t file, struct question *question, int end_of_line) {
    struct control control = {sizeof(control) - sizeof(int), SOCKET_LEVEL, RIGHTS, {end_of_line, 0}};
    struct vector part = {question, sizeof(*question)};
    struct message message = {.parts = &part, .part_count = 1, .control = &control, .control_bytes = sizeof(control)};
    int64_t sent;
    while ((sent = KERNEL3(__NR_sendmsg, file, &message, NO_SIGNAL)) == -EINTR)
        ;
    return sent == sizeof(*question);
}

/* The descriptors that come with an answer; false: no answer. */
static bool receive(int64_t file, struct files *files) {
    struct control control = {0};
    char answer;
    struct vector part = {&answer, 1};
    struct message message = {.parts = &part, .part_count = 1, .control = &control, .control_bytes = sizeof(control)};
    int64_t got;
    while ((got = KERNEL3(__NR_recvmsg, file, &message, RECEIVED_CLOSED_ON_EXEC)) == -EINTR)
        ;
    if (got != 1 || message.control_bytes != sizeof(control) || control.type != RIGHTS)
        return false;
    *files = (struct files){control.files[0], control.files[1]};
    return true;
}

static int64_t connected(void) {
    int64_t file = KERNEL3(__NR_socket, UNIX_FAMILY, PACKETS | CLOSED_ON_EXEC, 0), result;
    if (failed(file))
        end();
    while ((result = KERNEL3(__NR_connect, file, &reader, reader_bytes)) == -EINTR)
        ;
    if (result)
        end();
    return file;
}

/* Ask pfmon for files. A process without an answer ends: its execution would not be counted. */
static struct files ask(uint32_t kind, uint32_t task, uint32_t child) {
    struct question question = {kind, task, child};
    struct files files = {-1, -1};
    int old = is_open() ? line.file : -1, ends[2];
    int64_t file = connected();
    if (KERNEL4(__NR_socketpair, UNIX_FAMILY, STREAM | CLOSED_ON_EXEC, 0, ends) || !send_question(file, &question, ends[1]))
        end();
    KERNEL1(__NR_close, ends[1]);
    if (kind != ASK_LINE && !receive(file, &files))
        end();
    KERNEL1(__NR_close, file);
    if (old >= 0)
        KERNEL1(__NR_close, old);
    hold(out_of_the_way(ends[0]));
    return files;
}

/* With the name of pfmon's socket. */
void following_begin(const char *name, uint32_t what) {
    uint64_t bytes = strlen(name);
    following = what;
    reader.sun_family = UNIX_FAMILY;
    memcpy(reader.sun_path + 1, name, bytes);
    reader_bytes = offsetof(struct sockaddr_un, sun_path) + 1 + bytes;
}

struct files ask_to_begin(void) {
    return ask(ASK_START, 0, 0);
}

/* `parent`: the number of the parent's task; `child`: which of its children this is, from 1 on. */
struct files ask_for_child(uint32_t parent, uint32_t child) {
    return ask(ASK_CHILD, parent, child);
}

/* In a child that is not followed. */
void follow_no_more(void) {
    if (is_open())
        KERNEL1(__NR_close, line.file);
    line.file = -1;
    following = 0;
}

/* After a system call, which may have closed files. */
void keep_line(int64_t number) {
    bool closes = number == __NR_close || number == __NR_dup2 || number == __NR_dup3 || number == __NR_close_range;
    if (following && closes && !is_open())
        ask(ASK_LINE, area->task, 0);
}
