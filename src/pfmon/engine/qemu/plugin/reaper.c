/* The parent of a program under qemu and of its orphaned descendants. pfmon orders it to kill them; it also kills them
   when pfmon has died, in any way.

   reaper ORDERS ANSWERS AREA KEEP COMMAND...

   AREA is the file that the plugin maps (layout.h), or -1. ORDERS and ANSWERS are pipes. The first answer is the
   program's wait status. An order is a byte: KILL kills the program; END, or the end of the pipe, kills all processes,
   and the second answer is their number. KEEP: "keep" leaves the program's descendants alone. */

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include "layout.h"

enum {
    KILL = 'k',
    END = 'e',
    GRACE = 100,                 /* milliseconds for processes to end by themselves */
    PATIENCE = 10000,            /* milliseconds after which survivors are left alone */
    MOMENT = 5,                  /* milliseconds between two scans */
    MAX_STOP_SCANS = 200,         /* scans for processes to stop */
    MAX_PROCESS_IDS = 1 << 22,    /* Linux has no larger process ids */
    MAX_OPEN_FILES = 1024,
    PARENT_ID_OFFSET = 4
};

static int orders, answers, area;
static bool keep;
static pid_t program;
static bool has_status;
static uint8_t ours[MAX_PROCESS_IDS / 8];     /* the program's descendants */

static void on_child(int number) {
    (void)number;
}

static void answer(int32_t what) {
    while (write(answers, &what, sizeof(what)) < 0 && errno == EINTR)
        ;
}

/* Reap ended processes; returns whether any are left. `ended`: their number, without the program. */
static bool reap(int32_t *ended) {
    int status;
    pid_t process;
    while ((process = waitpid(-1, &status, WNOHANG)) > 0) {
        *ended += process != program || has_status;
        if (process == program && !has_status) {
            has_status = true;
            answer(status);
        }
    }
    return process == 0;
}

/* ---------------------------------------------------------------- descendants */

static bool is_ours(long process) {
    return process >= 0 && process < MAX_PROCESS_IDS && ours[process / 8] >> process % 8 & 1;
}

/* State and parent of a process; false: it is gone. */
static bool look_at(int directory, const char *name, char *state, long *parent) {
    char path[32], text[512], *rest;
    ssize_t got;
    int file;
    strcpy(path, name);
    file = openat(directory, strcat(path, "/stat"), O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    got = read(file, text, sizeof(text) - 1);
    close(file);
    text[got > 0 ? got : 0] = 0;
    rest = strrchr(text, ')');       /* the name may contain any character */
    if (!rest || strlen(rest) < 5)
        return false;
    *state = rest[2];
    *parent = strtol(rest + PARENT_ID_OFFSET, NULL, 10);
    return true;
}

/* Send a signal to all descendants that can still act; returns how many received it for the first time: a stopped
   process can be killed, and none can be stopped twice. */
static int send_to_all(int number) {
    int got = 0, found;
    struct dirent *entry;
    DIR *all = opendir("/proc");
    if (!all)
        return 0;
    memset(ours, 0, sizeof(ours));
    do {                             /* until a scan finds no more: a parent may follow its child */
        found = 0;
        rewinddir(all);
        while ((entry = readdir(all))) {
            long process = strtol(entry->d_name, NULL, 10), parent;
            char state;
            if (process <= 0 || process >= MAX_PROCESS_IDS || is_ours(process) || strlen(entry->d_name) > 10
                    || !look_at(dirfd(all), entry->d_name, &state, &parent)
                    || (parent != getpid() && !is_ours(parent)))
                continue;
            ours[process / 8] |= (uint8_t)(1 << process % 8);
            found++;
            if (state != 'Z' && state != 'X' && !(number == SIGSTOP && (state == 'T' || state == 't')))
                got += kill((pid_t)process, number) == 0;
        }
    } while (found);
    closedir(all);
    return got;
}

/* ---------------------------------------------------------------- the end */

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Makes new children of the program end at once (child.c). */
static void let_nobody_begin(void) {
    uint32_t stopping = 1;
    if (area >= 0 && pwrite(area, &stopping, sizeof(stopping), offsetof(struct area, stopping)) < 0)
        close(area);
}

/* Kill all: first stop them, so that none can fork. */
static int32_t end_all(bool patient) {
    int32_t ended = 0;
    int64_t began = now();
    int looks;
    bool left = reap(&ended);
    while (left && patient && now() - began < GRACE) {
        poll(NULL, 0, MOMENT);
        left = reap(&ended);
    }
    ended = 0;
    let_nobody_begin();
    setpriority(PRIO_PROCESS, 0, PRIO_MIN);      /* if permitted */
    for (began = now(); left && now() - began < PATIENCE; left = reap(&ended)) {
        for (looks = 0; looks < MAX_STOP_SCANS && send_to_all(SIGSTOP); looks++)
            ;
        if (!send_to_all(SIGKILL) && looks == 0) {
            reap(&ended);            /* those that have died since */
            break;                   /* the others belong to other users */
        }
        poll(NULL, 0, MOMENT);
    }
    return ended;
}

static void end_the_program(void) {
    if (!has_status)
        kill(program, SIGKILL);
}

/* Carry out an order; false: it was the last. */
static bool obey(void) {
    char order = END;
    ssize_t got = read(orders, &order, 1);
    if (got < 0 && errno == EINTR)
        return true;
    if (got == 1 && order == KILL) {
        end_the_program();
        return true;
    }
    end_the_program();
    if (!keep)
        answer(end_all(got == 1));
    return false;
}

/* ---------------------------------------------------------------- starting */

/* Make the program die with this process. */
static void become_the_program(pid_t parent, const sigset_t *mask, char **command) {
    sigprocmask(SIG_SETMASK, mask, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent)
        execv(*command, command);
    _exit(127);
}

/* Leave the terminal's signals and the open files to the program. */
static void stand_aside(void) {
    static const int others[] = {SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU};
    size_t i;
    int file;
    for (i = 0; i < sizeof(others) / sizeof(*others); i++)
        signal(others[i], SIG_IGN);
    for (file = 0; file < MAX_OPEN_FILES; file++)
        if (file != orders && file != answers && file != area)
            close(file);
}

int main(int count, char **words) {
    struct sigaction action = {.sa_handler = on_child};
    sigset_t child, before;
    pid_t self = getpid();
    int32_t ended = 0;
    if (count < 6)
        return 2;
    orders = atoi(words[1]);
    answers = atoi(words[2]);
    area = atoi(words[3]);
    keep = !strcmp(words[4], "keep");
    fcntl(orders, F_SETFD, FD_CLOEXEC);
    fcntl(answers, F_SETFD, FD_CLOEXEC);
    if (!keep)
        prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &before);
    sigaction(SIGCHLD, &action, NULL);
    program = fork();
    if (program < 0)
        return 1;
    if (program == 0) {
        signal(SIGCHLD, SIG_DFL);
        become_the_program(self, &before, words + 5);
    }
    stand_aside();
    for (;;) {
        struct pollfd wait = {orders, POLLIN, 0};
        sigset_t mask = before;
        sigdelset(&mask, SIGCHLD);
        reap(&ended);
        if (ppoll(&wait, 1, NULL, &mask) == 1 && !obey())
            return 0;
    }
}
