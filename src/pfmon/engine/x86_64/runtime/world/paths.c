/* Names of files that are the guest's own or fixed: /proc of its process and of its system, random devices. Names are
   compared as the guest gives them; relative ones are completed when their directory is in /proc, /sys or /dev. */

#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/openat2.h>
#include <linux/stat.h>

#include "runtime.h"
#include "world.h"

enum {
    PATH_ROOM = 4096, NO_DIRECTORY = -1, RANDOM_DEVICE = 1 << 8 | 8, URANDOM_DEVICE = 1 << 8 | 9,
    LINK_NEVER = -1, LINK_ALWAYS = -2     /* a final link is followed; it is not */
};

struct path_call {               /* a system call with a path: the arguments' numbers */
    int16_t number;
    int8_t directory, path;
    int8_t link;                 /* LINK_..., or the argument with AT_SYMLINK_NOFOLLOW */
};

static const struct path_call path_calls[] = {
    {__NR_open, NO_DIRECTORY, 0, LINK_NEVER}, {__NR_openat, 0, 1, LINK_NEVER}, {__NR_openat2, 0, 1, LINK_NEVER},
    {__NR_stat, NO_DIRECTORY, 0, LINK_NEVER}, {__NR_lstat, NO_DIRECTORY, 0, LINK_ALWAYS},
    {__NR_newfstatat, 0, 1, 3}, {__NR_statx, 0, 1, 2}, {__NR_access, NO_DIRECTORY, 0, LINK_NEVER},
    {__NR_faccessat, 0, 1, LINK_NEVER}, {__NR_faccessat2, 0, 1, 3}, {__NR_readlink, NO_DIRECTORY, 0, LINK_ALWAYS},
    {__NR_readlinkat, 0, 1, LINK_ALWAYS}, {__NR_chdir, NO_DIRECTORY, 0, LINK_NEVER},
    {__NR_execve, NO_DIRECTORY, 0, LINK_NEVER}, {__NR_execveat, 0, 1, 4}, {__NR_statfs, NO_DIRECTORY, 0, LINK_NEVER},
    {__NR_getxattr, NO_DIRECTORY, 0, LINK_NEVER}, {__NR_lgetxattr, NO_DIRECTORY, 0, LINK_ALWAYS},
};

static bool random_is_open;      /* a descriptor may be of a random device */

void path_of_file(int file, struct text *to) {
    struct text link;
    int64_t length;
    begin_text(&link, NO_FILE);
    put_text(&link, "/proc/self/fd/");
    put_number(&link, (uint32_t)file);
    length = KERNEL3(__NR_readlink, link.bytes, to->bytes, TEXT_ROOM - 1);
    to->file = NO_FILE;
    to->length = length > 0 ? (uint32_t)length : 0;
    to->bytes[to->length] = 0;
}

/* The guest's path; false: it cannot be read, or is too long, which the kernel tells the guest. */
static bool take_path(uint64_t from, struct text *to) {
    begin_text(to, NO_FILE);
    for (; to->length < TEXT_ROOM - 1; from++) {
        if ((to->length == 0 || from % PAGE == 0) && !is_readable(from))
            return false;
        if (!*(const char *)from)
            return true;
        put_bytes(to, (const char *)from, 1);
    }
    return false;
}

static bool is_special(const char *path) {
    return begins_with(path, "/proc") || begins_with(path, "/sys/") || begins_with(path, "/dev/");
}

/* What follows "./" and "../" at the beginning of a path; `directory`, where it begins, becomes the one above for each of the
   latter. */
static const char *above(const char *path, struct text *directory) {
    while (begins_with(path, "./") || begins_with(path, "../")) {
        if (path[1] == '.') {
            while (directory->length && directory->bytes[directory->length] != '/')
                directory->length--;
            directory->bytes[directory->length] = 0;
            path++;
        }
        path += 2;
    }
    return path;
}

/* The whole path of a call that names a file there; false: it names another one. */
static bool special_path(const struct path_call *it, const uint64_t *a, struct text *to) {
    static struct text given;
    const char *rest = given.bytes;
    int64_t length;
    if (!take_path(a[it->path], &given) || !given.length)
        return false;
    begin_text(to, NO_FILE);
    if (given.bytes[0] != '/') {
        if (it->directory == NO_DIRECTORY || (int32_t)a[it->directory] == AT_FDCWD) {
            length = KERNEL3(__NR_readlink, "/proc/self/cwd", to->bytes, TEXT_ROOM - 1);
            to->length = length > 0 ? (uint32_t)length : 0;
            to->bytes[to->length] = 0;
        } else
            path_of_file((int)a[it->directory], to);
        rest = above(given.bytes, to);
        if (!is_special(to->bytes) && strcmp(to->bytes, "/sys") && strcmp(to->bytes, "/dev"))
            return false;
        put_text(to, "/");
    }
    put_text(to, rest);
    return is_special(to->bytes);
}

/* ---------------------------------------------------------------- the process's own directory */

static bool is_own_number(uint64_t number) {
    return number == process_id() || (int64_t)number == KERNEL0(__NR_getpid);
}

/* What follows a number of this process, or NULL: `path` begins with another one. */
static const char *after_own_number(const char *path) {
    const char *end = path;
    uint64_t number = take_number(&end);
    return end != path && (*end == '/' || !*end) && is_own_number(number) ? end : NULL;
}

/* What follows the name of this process's directory in /proc; NULL: the path is not there. */
static const char *own_part(const char *path) {
    const char *rest, *task;
    if (!begins_with(path, "/proc/"))
        return NULL;
    path += 6;
    if (begins_with(path, "self/"))
        rest = path + 4;
    else if (begins_with(path, "thread-self/"))
        rest = path + 11;
    else if (!(rest = after_own_number(path)))
        return NULL;
    if (begins_with(rest, "/task/") && (task = after_own_number(rest + 6)))
        rest = task;
    return *rest ? rest + 1 : rest;
}

/* Put the host's numbers of the process in the place of the guest's. */
static void host_path(const char *path, struct text *to) {
    const char *rest = path;
    begin_text(to, NO_FILE);
    while (*rest) {
        const char *end = rest;
        bool after_slash = rest > path && rest[-1] == '/';
        uint64_t number = take_number(&end);
        if (after_slash && end != rest && (*end == '/' || !*end) && (int64_t)number == seen_process(first_process()))
            put_number(to, first_process());
        else
            put_bytes(to, rest, end != rest ? (uint64_t)(end - rest) : 1);
        rest = end != rest ? end : rest + 1;
    }
}

/* ---------------------------------------------------------------- system calls */

static int64_t read_link(const char *target, uint64_t to, uint64_t room) {
    uint64_t length = strlen(target);
    if ((int64_t)room <= 0)
        return -EINVAL;
    if (length > room)
        length = room;
    if (!is_writable(to, length))
        return -EFAULT;
    memcpy((void *)to, target, length);
    return (int64_t)length;
}

/* The target of a link that is the guest's own; false: it is another one. */
static bool own_link(const char *path, const char *own, struct text *to) {
    begin_text(to, NO_FILE);
    if (own && !strcmp(own, "exe"))
        put_text(to, program_path);
    else if (!strcmp(path, "/proc/self") || !strcmp(path, "/proc/thread-self")) {
        put_number(to, process_id());
        if (path[6] == 't') {
            put_text(to, "/task/");
            put_number(to, process_id());
        }
    }
    return to->length;
}

/* O_PATH: the kernel shall open the file, or refuse to. */
static uint64_t open_flags(int64_t number, const uint64_t *a) {
    const struct open_how *how;
    if (number != __NR_openat2)
        return a[number == __NR_open ? 1 : 2];
    how = (const struct open_how *)a[2];
    return a[3] == sizeof(*how) && are_readable(a[2], sizeof(*how)) && !how->mode && !how->resolve ? how->flags : O_PATH;
}

static bool opens(int64_t number) {
    return number == __NR_open || number == __NR_openat || number == __NR_openat2;
}

static bool does_not_follow(const struct path_call *it, const uint64_t *a) {
    return it->link >= 0 ? a[it->link] & AT_SYMLINK_NOFOLLOW : it->link == LINK_ALWAYS;
}

/* Open or look up a file by a path that is not the host's; false: the host decides. */
static bool special_call(const struct path_call *it, const uint64_t *a, const struct text *path, int64_t *result) {
    const char *own = own_part(path->bytes);
    static struct text target;
    uint64_t flags;
    if (it->number == __NR_readlink || it->number == __NR_readlinkat) {
        if (!own_link(path->bytes, own, &target))
            return false;
        *result = read_link(target.bytes, a[it->path + 1], a[it->path + 2]);
        return true;
    }
    if (!opens(it->number))
        return false;
    flags = open_flags(it->number, a);
    if (begins_with(path->bytes, "/dev/"))
        random_is_open = random_is_open || !strcmp(path->bytes, "/dev/random") || !strcmp(path->bytes, "/dev/urandom");
    else if (!(flags & (O_PATH | O_DIRECTORY | O_ACCMODE)))
        return open_proc_file(path->bytes, own, flags, result);
    return false;
}

/* Change the path of a call that names one of the guest's own files by the guest's names. True: the call is done. */
bool path_call(int64_t number, uint64_t *a, int64_t *result) {
    static struct text path, of_host;
    const struct path_call *it = path_calls, *end = path_calls + sizeof(path_calls) / sizeof(path_calls[0]);
    const char *own;
    while (it < end && it->number != number)
        it++;
    if (it == end || !special_path(it, a, &path))
        return false;
    if (special_call(it, a, &path, result))
        return true;
    own = own_part(path.bytes);
    if (own && !strcmp(own, "exe") && !does_not_follow(it, a))
        a[it->path] = (uint64_t)program_path;
    else if (begins_with(path.bytes, "/proc/")) {
        host_path(path.bytes, &of_host);
        if (strcmp(of_host.bytes, path.bytes))
            a[it->path] = (uint64_t)of_host.bytes;
    }
    return false;
}

/* ---------------------------------------------------------------- random devices */

bool is_random(uint64_t file) {
    struct stat status;
    return KERNEL2(__NR_fstat, file, &status) == 0 && (status.st_mode & S_IFMT) == S_IFCHR
        && (status.st_rdev == RANDOM_DEVICE || status.st_rdev == URANDOM_DEVICE);
}

void paths_begin(void) {
    random_is_open = is_random(0) || is_random(1) || is_random(2);
}

static int64_t read_randomly(uint64_t vectors, uint64_t count) {
    const struct { uint64_t at, bytes; } *it = (const void *)vectors;
    int64_t done = 0, part;
    for (; count--; it++) {
        if (!are_readable((uint64_t)it, sizeof(*it)))
            return -EFAULT;
        part = fill_randomly(it->at, it->bytes);
        if (failed(part))
            return done ? done : part;
        done += part;
    }
    return done;
}

/* Reads of random devices get the seed's bytes. */
bool random_call(int64_t number, const uint64_t *a, int64_t *result) {
    bool is_vector = number == __NR_readv || number == __NR_preadv || number == __NR_preadv2;
    if (!random_is_open || (world.flags & HOST_RANDOM)
        || !(is_vector || number == __NR_read || number == __NR_pread64) || !is_random(a[0]))
        return false;
    *result = is_vector ? read_randomly(a[1], a[2]) : fill_randomly(a[1], a[2]);
    return true;
}
