/* Directories list their entries by name: a file system's own order differs between hosts.

   The place in a directory is the kernel's for the open file, so that copies of a descriptor share it, and lseek works: it is
   the number of the next entry. A directory is read whole when it is listed from its beginning. */

#include <asm/stat.h>
#include <asm/statfs.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/stat.h>

#include "runtime.h"
#include "tasks/schedule.h"
#include "threads/thread.h"
#include "world.h"

enum {
    LONGEST_ENTRY = 32,          /* bytes of one whose name is a number */
    DIRECTORY = 4,               /* DT_DIR */
    MAX_LISTS = 64, FIRST_ROOM = 1 << 16, OLD_NAME = 18, ROOT_OF_PROC = 1
};

struct entry {                   /* struct linux_dirent64 of getdents(2) */
    uint64_t inode, place;
    uint16_t length;
    uint8_t kind;
    char name[];
} __attribute__((packed));

struct list {                    /* the entries of a directory, when it was last listed from its beginning */
    uint64_t device, inode, used;
    int file;
    uint8_t *bytes;              /* NULL: no list */
    uint64_t room, filled, count;
    struct entry **sorted;
};

static struct list lists[MAX_LISTS];
static uint64_t uses;

static void unmap(void *at, uint64_t bytes) {
    KERNEL2(__NR_munmap, at, whole_pages(bytes));
}

static void drop(struct list *it) {
    if (it->bytes)
        unmap(it->bytes, it->room);
    if (it->sorted)
        unmap(it->sorted, it->room);
    memset(it, 0, sizeof(*it));
}

/* Read all entries, in the file system's order; returns 0 or an error. */
static int64_t read_entries(struct list *it) {
    int64_t bytes;
    it->room = FIRST_ROOM;
    it->bytes = new_memory(it->room);
    for (;;) {
        bytes = KERNEL3(__NR_getdents64, it->file, it->bytes + it->filled, it->room - it->filled);
        if (bytes == 0 || (failed(bytes) && bytes != -EINVAL))
            return bytes;
        if (bytes > 0)
            it->filled += (uint64_t)bytes;
        if (it->room - it->filled < FIRST_ROOM / 2) {
            uint8_t *larger = new_memory(2 * it->room);
            memcpy(larger, it->bytes, it->filled);
            unmap(it->bytes, it->room);
            it->bytes = larger;
            it->room *= 2;
        }
    }
}

/* ---------------------------------------------------------------- /proc, /sys */

enum sort { ALL_SHOWN, PROCESSES, TASKS, PROCESSORS, NODES };    /* of a directory */

static const struct {
    const char *path;
    const char *unit;            /* of its names with a number, of which the guest has the first */
} units[] = {[PROCESSORS] = {"/sys/devices/system/cpu", "cpu"}, [NODES] = {"/sys/devices/system/node", "node"}};

static bool is_number(const char *name) {
    const char *end = name;
    take_number(&end);
    return end != name && !*end;
}

static bool ends_with(const char *text, const char *end) {
    uint64_t length = strlen(text), bytes = strlen(end);
    return length >= bytes && !strcmp(text + length - bytes, end);
}

static enum sort sort_of(const struct list *it) {
    struct statfs system;
    struct text path;
    int sort;
    if (KERNEL2(__NR_fstatfs, it->file, &system))
        return ALL_SHOWN;
    if (system.f_type == PROC_SUPER_MAGIC && !(world.flags & HOST_IDS)) {
        path_of_file(it->file, &path);
        return it->inode == ROOT_OF_PROC ? PROCESSES : ends_with(path.bytes, "/task") ? TASKS : ALL_SHOWN;
    }
    if (system.f_type == SYSFS_MAGIC) {
        path_of_file(it->file, &path);
        for (sort = PROCESSORS; sort <= NODES; sort++)
            if (!strcmp(path.bytes, units[sort].path))
                return sort;
    }
    return ALL_SHOWN;
}

/* Show a process by the guest's number. */
static void show_number(struct entry *it, uint64_t number) {
    struct text shown;
    begin_text(&shown, NO_FILE);
    put_number(&shown, (uint64_t)seen_process((int64_t)number));
    if (shown.length < it->length - sizeof(*it))
        memcpy(it->name, shown.bytes, shown.length + 1);
}

/* Whether an entry is shown. In /proc the processes of the run are the only ones. */
static bool is_shown(struct entry *it, enum sort sort) {
    const char *name = it->name;
    uint64_t number;
    if (sort == PROCESSORS || sort == NODES)
        return !begins_with(name, units[sort].unit) || !is_number(name + strlen(units[sort].unit))
            || !strcmp(name + strlen(units[sort].unit), "0");
    if (sort == ALL_SHOWN || !is_number(name))
        return true;
    number = take_number(&name);
    show_number(it, number);
    return sort == TASKS || is_of_run((uint32_t)number) || (int64_t)number == KERNEL0(__NR_getpid);
}

/* ---------------------------------------------------------------- order */

static bool is_before(const struct entry *one, const struct entry *other) {
    int one_first = !strcmp(one->name, ".") ? 2 : !strcmp(one->name, "..");
    int other_first = !strcmp(other->name, ".") ? 2 : !strcmp(other->name, "..");
    return one_first != other_first ? one_first > other_first : strcmp(one->name, other->name) < 0;
}

static void sink(struct entry **heap, uint64_t at, uint64_t count) {
    struct entry *it = heap[at];
    uint64_t child;
    while ((child = 2 * at + 1) < count) {
        if (child + 1 < count && is_before(heap[child], heap[child + 1]))
            child++;
        if (!is_before(it, heap[child]))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = it;
}

static void sort_entries(struct entry **entries, uint64_t count) {
    uint64_t i;
    for (i = count / 2; i-- > 0;)
        sink(entries, i, count);
    for (i = count; i-- > 1;) {
        struct entry *last = entries[0];
        entries[0] = entries[i];
        entries[i] = last;
        sink(entries, 0, i);
    }
}

/* The threads but the first one, which the kernel does not know, as far as there is room. */
static void add_threads(struct list *it) {
    const struct guest_thread *thread;
    struct text name;
    for (thread = threads->next; thread && it->room - it->filled >= LONGEST_ENTRY; thread = thread->next) {
        struct entry *entry = (struct entry *)(it->bytes + it->filled);
        begin_text(&name, NO_FILE);
        put_number(&name, thread->id);
        *entry = (struct entry){.inode = it->inode + thread->id, .length = LONGEST_ENTRY, .kind = DIRECTORY};
        memcpy(entry->name, name.bytes, name.length + 1);
        it->filled += LONGEST_ENTRY;
        it->sorted[it->count++] = entry;
    }
}

static void sort_list(struct list *it) {
    enum sort sort = sort_of(it);
    uint64_t at;
    it->sorted = new_memory(it->room);       /* an entry has more bytes than a pointer */
    for (at = 0; at < it->filled; at += ((struct entry *)(it->bytes + at))->length) {
        struct entry *entry = (struct entry *)(it->bytes + at);
        if (is_shown(entry, sort))
            it->sorted[it->count++] = entry;
    }
    if (sort == TASKS && threaded)
        add_threads(it);
    sort_entries(it->sorted, it->count);
}

/* ---------------------------------------------------------------- lists */

static bool is_of(const struct list *it, const struct stat *status) {
    return it->bytes && it->device == status->st_dev && it->inode == status->st_ino;
}

/* The list of an open directory: that of its descriptor, or of another one of the same directory; NULL: none. */
static struct list *known_list(int file, const struct stat *status) {
    struct list *found = NULL;
    int i;
    for (i = 0; i < MAX_LISTS; i++)
        if (is_of(&lists[i], status) && (!found || lists[i].file == file || (found->file != file && lists[i].used > found->used)))
            found = &lists[i];
    return found;
}

/* A list to fill: the descriptor's earlier one, or the one that was not used for longest. */
static struct list *list_to_fill(int file) {
    struct list *found = lists;
    int i;
    for (i = 0; i < MAX_LISTS; i++) {
        if (lists[i].bytes && lists[i].file == file)
            return &lists[i];
        if (lists[i].used < found->used)
            found = &lists[i];
    }
    return found;
}

/* List the directory; NULL: `error` says why not. */
static struct list *new_list(int file, const struct stat *status, int64_t *error) {
    struct list *it = list_to_fill(file);
    drop(it);
    it->file = file;
    it->device = status->st_dev;
    it->inode = status->st_ino;
    KERNEL3(__NR_lseek, file, 0, SEEK_SET);
    *error = read_entries(it);
    if (*error) {
        drop(it);
        return NULL;
    }
    sort_list(it);
    return it;
}

/* ---------------------------------------------------------------- system calls */

static uint64_t room_of_entry(const struct entry *it) {
    return (sizeof(*it) + strlen(it->name) + 1 + 7) & -(uint64_t)8;
}

/* One record; returns its bytes. The older layout has the kind in its last byte. */
static uint64_t write_entry(uint8_t *to, const struct entry *it, uint64_t next, bool is_old) {
    uint64_t name = strlen(it->name) + 1, length = room_of_entry(it);
    uint16_t short_length = (uint16_t)length;
    memset(to, 0, length);
    memcpy(to, &it->inode, 8);
    memcpy(to + 8, &next, 8);
    memcpy(to + 16, &short_length, 2);
    memcpy(to + (is_old ? OLD_NAME : sizeof(*it)), it->name, name);
    to[is_old ? length - 1 : OLD_NAME] = it->kind;
    return length;
}

/* The entries from a place on that have room; returns the bytes, or an error. */
static int64_t write_entries(const struct list *list, uint64_t *place, uint8_t *to, uint64_t room, bool is_old) {
    uint64_t end = *place, bytes = 0, done = 0;
    while (end < list->count && bytes + room_of_entry(list->sorted[end]) <= room)
        bytes += room_of_entry(list->sorted[end++]);
    if (bytes == 0 && end < list->count)
        return -EINVAL;
    if (bytes && !is_writable((uint64_t)to, bytes))
        return -EFAULT;
    while (*place < end) {
        const struct entry *next = list->sorted[*place];
        done += write_entry(to + done, next, ++*place, is_old);
    }
    return (int64_t)bytes;
}

static int64_t read_directory(int file, uint8_t *to, uint64_t room, bool is_old) {
    struct stat status;
    struct list *list;
    uint64_t place;
    int64_t result = KERNEL2(__NR_fstat, file, &status), moved;
    if (result)
        return result;
    if ((status.st_mode & S_IFMT) != S_IFDIR)
        return -ENOTDIR;
    result = KERNEL3(__NR_lseek, file, 0, SEEK_CUR);
    if (failed(result))
        return result;
    place = (uint64_t)result;
    list = place ? known_list(file, &status) : NULL;
    if (!list && !(list = new_list(file, &status, &result)))
        return result;
    list->used = ++uses;
    result = write_entries(list, &place, to, room, is_old);
    moved = KERNEL3(__NR_lseek, file, place, SEEK_SET);
    return failed(moved) ? moved : result;
}

bool directory_call(int64_t number, const uint64_t *a, int64_t *result) {
    if (number != __NR_getdents64 && number != __NR_getdents)
        return false;
    *result = read_directory((int)a[0], (uint8_t *)a[1], (uint32_t)a[2], number == __NR_getdents);
    return true;
}
