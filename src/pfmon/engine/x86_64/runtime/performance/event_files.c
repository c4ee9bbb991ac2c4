/* Descriptors of events: each is that of a pipe, which is readable while it holds a byte. */

#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/poll.h>
#include <linux/signal.h>
#include <linux/stat.h>

#include "performance.h"
#include "root/kernel_names.h"
#include "runtime.h"
#include "signals/signals.h"
#include "world/timers.h"
#include "threads/thread.h"
#include "world/world.h"

enum { SETTABLE = O_APPEND | O_NONBLOCK };

static struct event_file files[MAX_EVENTS];
static uint32_t used;            /* places up to the last one that is used */

/* ---------------------------------------------------------------- the table */

/* A child that is counted, too, has descriptors of its parent's events. */
void inherit_event_files(void) {
    uint32_t i;
    for (i = 0; i < used; i++)
        files[i].is_inherited = true;
    forget_all_event_mappings();
    forget_look();
}

/* Whether descriptors may be of events: in a child, of its parent's. */
bool has_event_files(void) {
    return used;
}

bool any_event_is_open(void) {
    return used && !in_child;
}

struct event_file *event_numbered(uint64_t number) {
    uint32_t i;
    for (i = 0; i < used; i++)
        if (files[i].number && files[i].number == number)
            return &files[i];
    return NULL;
}

/* The event of a descriptor; NULL: it is of another file, or of none. */
struct event_file *event_of_file(int file) {
    struct stat status;
    uint32_t i;
    if (KERNEL2(__NR_fstat, file, &status) || (status.st_mode & S_IFMT) != S_IFIFO)
        return NULL;
    for (i = 0; i < used; i++)
        if (files[i].number && files[i].inode == status.st_ino && files[i].device == status.st_dev)
            return &files[i];
    return NULL;
}

static struct event_file *free_place(void) {
    uint32_t i;
    for (i = 0; i < used; i++)
        if (!files[i].number)
            return &files[i];
    return used < MAX_EVENTS ? &files[used++] : NULL;
}

static void leave_out_unused(void) {
    while (used && !files[used - 1].number)
        used--;
}

void forget_event_file(struct event_file *it) {
    it->number = 0;
    leave_out_unused();
}

/* ---------------------------------------------------------------- making one */

/* A descriptor that reads from and writes to a new pipe, the lowest that is free. */
static int64_t open_pipe(uint64_t flags) {
    static struct text path;
    int ends[2];
    int64_t both, result = KERNEL2(__NR_pipe2, ends, O_CLOEXEC | O_NONBLOCK);
    if (failed(result))
        return result;
    both = KERNEL3(__NR_open, name_of_descriptor(ends[0], &path), O_RDWR | O_CLOEXEC, 0);
    if (!failed(both)) {
        KERNEL3(__NR_dup3, both, ends[0], flags);
        KERNEL1(__NR_close, both);
    } else
        KERNEL1(__NR_close, ends[0]);
    KERNEL1(__NR_close, ends[1]);
    return failed(both) ? both : ends[0];
}

/* Make the descriptor of an event whose number is not known yet. */
int64_t new_event_file(bool close_on_exec, struct event_file **to) {
    struct event_file *it = free_place();
    struct stat status;
    int64_t file;
    if (!it)
        return -EMFILE;
    file = open_pipe(close_on_exec ? O_CLOEXEC : 0);
    if (failed(file))
        return file;
    KERNEL2(__NR_fstat, file, &status);
    *it = (struct event_file){.device = status.st_dev, .inode = status.st_ino, .file = (int)file};
    *to = it;
    return file;
}

/* ---------------------------------------------------------------- readiness */

void make_readable(struct event_file *it) {
    if (!it->is_readable && event_of_file(it->file) == it)
        it->is_readable = KERNEL3(__NR_write, it->file, "", 1) == 1;
}

static void make_unreadable(struct event_file *it) {
    struct pollfd wanted = {.fd = it->file, .events = POLLIN};
    char byte;
    it->is_readable = false;
    if (event_of_file(it->file) == it && KERNEL3(__NR_poll, &wanted, 1, 0) == 1)
        KERNEL3(__NR_read, it->file, &byte, 1);
}

/* Before the guest looks which files are ready: those are not whose records it has read. */
void clear_read_events(void) {
    uint32_t i;
    for (i = 0; i < used; i++)
        if (files[i].number && files[i].is_readable && is_ring_read(files[i].number))
            make_unreadable(&files[i]);
}

/* ---------------------------------------------------------------- closing */

static bool is_there[MAX_EVENTS];

static void note_descriptor(int file) {
    struct event_file *it = event_of_file(file);
    if (it) {
        is_there[it - files] = true;
        it->file = file;
    }
}

struct entry {                   /* struct linux_dirent64 of getdents(2) */
    uint64_t inode, offset;
    uint16_t bytes;
    uint8_t type;
    char name[];
};

static void note_descriptors(void) {
    static uint64_t room[512];
    int64_t directory = KERNEL3(__NR_open, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0), bytes, at;
    while ((bytes = KERNEL3(__NR_getdents64, directory, room, sizeof(room))) > 0)
        for (at = 0; at < bytes;) {
            const struct entry *entry = (const struct entry *)((const char *)room + at);
            const char *name = entry->name;
            if (*name != '.')
                note_descriptor((int)take_number(&name));
            at += entry->bytes;
        }
    KERNEL1(__NR_close, directory);
}

/* Release the events that no descriptor and no mapping refers to any more. */
void release_closed_events(void) {
    uint32_t i;
    memset(is_there, 0, sizeof(is_there));
    note_descriptors();
    for (i = 0; i < used; i++)
        if (files[i].number && files[i].is_inherited && !is_there[i])
            files[i].number = 0;
        else if (files[i].number && !is_there[i] && !is_event_mapped(files[i].number)) {
            const int64_t arguments[REQUEST_ARGUMENTS] = {(int64_t)files[i].number};
            ask(ASK_CLOSE, arguments, NULL, 0);
            files[i].number = 0;
        }
    leave_out_unused();
}

/* ---------------------------------------------------------------- fcntl */

struct owner {                   /* struct f_owner_ex */
    int kind, number;
};

static int64_t set_owner(struct event_file *it, int kind, int number) {
    if (kind < F_OWNER_TID || kind > F_OWNER_PGRP)
        return -EINVAL;
    if (number && number != (int)(kind == F_OWNER_PGRP ? process_group() : process_id())
        && !(kind != F_OWNER_PGRP && thread_of((uint32_t)number)))
        return -ESRCH;
    it->owner_kind = kind;
    it->owner = number;
    return 0;
}

static int64_t set_flags(struct event_file *it, int file, uint64_t flags) {
    it->is_asynchronous = flags & FASYNC;
    if (it->is_asynchronous)
        it->file = file;
    return KERNEL3(__NR_fcntl, file, F_SETFL, flags & SETTABLE);
}

/* fcntl: the signal and its owner are not the kernel's. */
int64_t control_event_file(struct event_file *it, int file, uint64_t command, uint64_t argument) {
    struct owner owner;
    int64_t flags;
    switch (command) {
    case F_GETFL:
        flags = KERNEL3(__NR_fcntl, file, F_GETFL, 0);
        return failed(flags) ? flags : flags | (it->is_asynchronous ? FASYNC : 0);
    case F_SETFL:
        return set_flags(it, file, argument);
    case F_SETOWN:
        return (int)argument < 0 ? set_owner(it, F_OWNER_PGRP, -(int)argument) : set_owner(it, F_OWNER_PID, (int)argument);
    case F_GETOWN:
        return it->owner_kind == F_OWNER_PGRP ? -it->owner : it->owner;
    case F_SETOWN_EX:
        if (!are_readable(argument, sizeof(owner)))
            return -EFAULT;
        memcpy(&owner, (const void *)argument, sizeof(owner));
        return set_owner(it, owner.kind, owner.number);
    case F_GETOWN_EX:
        owner = (struct owner){it->owner_kind, it->owner};
        if (!is_writable(argument, sizeof(owner)))
            return -EFAULT;
        memcpy((void *)argument, &owner, sizeof(owner));
        return 0;
    case F_SETSIG:
        if (argument > SIGNALS)
            return -EINVAL;
        it->signal = (int)argument;
        return 0;
    case F_GETSIG:
        return it->signal;
    default:
        return KERNEL3(__NR_fcntl, file, command, argument);
    }
}
