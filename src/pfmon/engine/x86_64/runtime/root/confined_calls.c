/* System calls with paths of a confined guest: each becomes a call on descriptors, or on the last part of a path in a
   directory. */

#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/close_range.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/inotify.h>
#include <linux/openat2.h>
#include <linux/stat.h>
#include <linux/time_types.h>

#include "root.h"
#include "runtime.h"

enum {
    RESOLVE_FLAGS = RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH | RESOLVE_IN_ROOT | RESOLVE_CACHED,
    NR_FCHMODAT2 = 452, MICROSECONDS = 1000000, KEPT_FLAGS = AT_NO_AUTOMOUNT | AT_STATX_SYNC_TYPE | AT_EACCESS
};

static void set(uint64_t *a, uint64_t first, uint64_t second, uint64_t third, uint64_t fourth, uint64_t fifth) {
    a[0] = first;
    a[1] = second;
    a[2] = third;
    a[3] = fourth;
    a[4] = fifth;
}

static int directory_of(const struct path_call *it, const uint64_t *a) {
    return it->directory == NO_DIRECTORY ? AT_FDCWD : (int)a[it->directory];
}

static uint64_t flags_of(const struct path_call *it, const uint64_t *a) {
    return it->link >= 0 ? a[it->link] : 0;
}

/* A descriptor of what the path names; that of the call's directory if the path is empty and may be (AT_EMPTY_PATH). */
static int64_t look_for_argument(const struct path_call *it, const uint64_t *a) {
    static struct text path;
    uint64_t at = a[it->path];
    int64_t result;
    bool may_be_empty = it->use != WATCHES && flags_of(it, a) & AT_EMPTY_PATH;
    if (may_be_empty && !at)
        return directory_of(it, a);
    result = take_name(at, &path);
    if (result)
        return result;
    if (!path.length && (may_be_empty || it->number == __NR_readlinkat))
        return directory_of(it, a);
    return look_for(directory_of(it, a), path.bytes, follows_link(it, a));
}

static int64_t look_above_argument(int directory, uint64_t at, struct text *last) {
    static struct text path;
    int64_t result = take_name(at, &path);
    return result ? result : look_above(directory, path.bytes, last);
}

/* ---------------------------------------------------------------- what a path names */

static bool is_kind(int64_t file, uint32_t kind) {
    struct stat status;
    return KERNEL2(__NR_fstat, file, &status) == 0 && (status.st_mode & S_IFMT) == kind;
}

static bool is_device(int64_t file) {
    return is_kind(file, S_IFCHR) || is_kind(file, S_IFBLK);
}

static int64_t look_at_status(int64_t number, uint64_t file, uint64_t *a) {
    uint64_t empty = (uint64_t)no_name;
    switch (number) {
    case __NR_statx:
        set(a, file, empty, (a[2] & KEPT_FLAGS) | AT_EMPTY_PATH, a[3], a[4]);
        return number;
    case __NR_access:
        set(a, file, empty, a[1], AT_EMPTY_PATH, 0);
        return __NR_faccessat2;
    case __NR_faccessat: case __NR_faccessat2:
        set(a, file, empty, a[2], (number == __NR_faccessat2 ? a[3] & KEPT_FLAGS : 0) | AT_EMPTY_PATH, 0);
        return __NR_faccessat2;
    default:
        set(a, file, empty, number == __NR_newfstatat ? a[2] : a[1],
            (number == __NR_newfstatat ? a[3] & KEPT_FLAGS : 0) | AT_EMPTY_PATH, 0);
        return __NR_newfstatat;
    }
}

/* Times of utime(2) and utimes(2), as those of utimensat(2); an error. */
static int64_t take_times(int64_t number, uint64_t at, struct __kernel_timespec *to) {
    const int64_t *from = (const int64_t *)at;
    int i, words = number == __NR_utime ? 1 : 2;
    if (!are_readable(at, (uint64_t)words * 16))
        return -EFAULT;
    for (i = 0; i < 2; i++) {
        to[i].tv_sec = from[i * words];
        to[i].tv_nsec = words == 2 ? from[2 * i + 1] : 0;
        if (to[i].tv_nsec < 0 || to[i].tv_nsec >= MICROSECONDS)
            return -EINVAL;
        to[i].tv_nsec *= 1000;
    }
    return 0;
}

static int64_t set_times(const struct path_call *it, int64_t file, uint64_t *a, int64_t *result) {
    static struct __kernel_timespec times[2];
    uint64_t at = a[it->path + 1];
    if (it->number != __NR_utimensat && at) {
        *result = take_times(it->number, at, times);
        if (*result)
            return it->number;
        at = (uint64_t)times;
    }
    set(a, (uint64_t)file, (uint64_t)no_name, at, AT_EMPTY_PATH, 0);
    return __NR_utimensat;
}

/* The same call for a file in /proc/self/fd, which is no link then. */
static int64_t with_attributes(int64_t number) {
    switch (number) {
    case __NR_lsetxattr:
        return __NR_setxattr;
    case __NR_lgetxattr:
        return __NR_getxattr;
    case __NR_llistxattr:
        return __NR_listxattr;
    case __NR_lremovexattr:
        return __NR_removexattr;
    default:
        return number;
    }
}

/* Make it a call on a descriptor; returns its number. `result`: an error, then. */
static int64_t on_descriptor(const struct path_call *it, int64_t file, uint64_t *a, int64_t *result) {
    uint64_t empty = (uint64_t)no_name;
    if (it->use != LOOKS && it->use != READS_LINK && it->use != ASKS_SYSTEM && is_device(file)) {
        *result = it->use == CUTS ? -EINVAL : it->use == ENTERS ? -ENOTDIR : -EPERM;
        return it->number;
    }
    switch (it->use) {
    case LOOKS:
        return look_at_status(it->number, (uint64_t)file, a);
    case READS_LINK:
        if (!is_kind(file, S_IFLNK))
            *result = -EINVAL;
        set(a, (uint64_t)file, empty, a[it->path + 1], a[it->path + 2], 0);
        return __NR_readlinkat;
    case ENTERS:
        a[0] = (uint64_t)file;
        return __NR_fchdir;
    case ASKS_SYSTEM:
        a[0] = (uint64_t)file;
        return __NR_fstatfs;
    case SETS_MODE:
        set(a, (uint64_t)file, empty, a[it->path + 1], AT_EMPTY_PATH, 0);
        return NR_FCHMODAT2;
    case SETS_OWNER:
        set(a, (uint64_t)file, empty, a[it->path + 1], a[it->path + 2], AT_EMPTY_PATH);
        return __NR_fchownat;
    case SETS_TIMES:
        return set_times(it, file, a, result);
    default:                     /* CUTS, HAS_ATTRIBUTES, WATCHES */
        a[it->path] = (uint64_t)descriptor_name((int)file);
        if (it->use == WATCHES)
            a[2] &= ~(uint64_t)IN_DONT_FOLLOW;
        return with_attributes(it->number);
    }
}

/* ---------------------------------------------------------------- the last part of a path */

static struct text last, second_last;

static bool makes_device(uint64_t mode) {
    return (mode & S_IFMT) == S_IFCHR || (mode & S_IFMT) == S_IFBLK;
}

static int64_t make_at(const struct path_call *it, uint64_t directory, uint64_t *a, int64_t *result) {
    uint64_t name = (uint64_t)last.bytes;
    switch (it->use) {
    case MAKES_DIRECTORY:
        set(a, directory, name, a[it->path + 1], 0, 0);
        return __NR_mkdirat;
    case MAKES_NODE:
        if (makes_device(a[it->path + 1]))
            *result = -EPERM;
        set(a, directory, name, a[it->path + 1], a[it->path + 2], 0);
        return __NR_mknodat;
    case MAKES_LINK:
        set(a, a[0], directory, name, 0, 0);
        return __NR_symlinkat;
    default:                     /* REMOVES */
        set(a, directory, name, it->number == __NR_rmdir ? AT_REMOVEDIR : it->number == __NR_unlinkat ? a[2] : 0, 0, 0);
        return __NR_unlinkat;
    }
}

static bool exists(int64_t directory, struct text *name) {
    while (name->length > 1 && name->bytes[name->length - 1] == '/')
        name->bytes[--name->length] = 0;
    return !failed(hold(KERNEL4(__NR_openat2, directory, name->bytes, look_at, sizeof(struct open_how))));
}

/* link and rename. */
static int64_t join_or_move(const struct path_call *it, uint64_t *a, int64_t *result) {
    int second = it->second_directory == NO_DIRECTORY ? AT_FDCWD : (int)a[it->second_directory];
    bool joins = it->use == JOINS, whole = joins && it->number == __NR_linkat && a[4] & (AT_SYMLINK_FOLLOW | AT_EMPTY_PATH);
    uint64_t flags = it->number == __NR_renameat2 ? a[4] : 0;
    int64_t from = joins ? look_for_argument(it, a) : 0, to;
    bool is_directory = joins && !failed(from) && is_kind(from, S_IFDIR);
    if (!whole && !failed(from))
        from = look_above_argument(directory_of(it, a), a[it->path], &last);
    if (it->number == __NR_linkat && a[4] & ~(uint64_t)(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
        from = -EINVAL;
    if (failed(from) || from >= DESCRIPTORS) {
        *result = failed(from) && from != AT_FDCWD ? from : -EBADF;
        return it->number;
    }
    to = look_above_argument(second, a[it->second_path], &second_last);
    if (failed(to) || is_directory) {
        *result = failed(to) ? to : exists(to, &second_last) ? -EEXIST : -EPERM;
        return it->number;
    }
    if (whole)
        set(a, (uint64_t)AT_FDCWD, (uint64_t)descriptor_name((int)from), (uint64_t)to, (uint64_t)second_last.bytes, AT_SYMLINK_FOLLOW);
    else
        set(a, (uint64_t)from, (uint64_t)last.bytes, (uint64_t)to, (uint64_t)second_last.bytes, flags);
    return joins ? __NR_linkat : __NR_renameat2;
}

/* ---------------------------------------------------------------- all */

static int64_t open_argument(const struct path_call *it, const uint64_t *a) {
    const struct open_how *how = (const struct open_how *)a[2];
    uint64_t own[3] = {0};
    switch (it->number) {
    case __NR_open:
        return open_confined(AT_FDCWD, a[0], (uint32_t)a[1], a[2]);
    case __NR_creat:
        return open_confined(AT_FDCWD, a[0], O_CREAT | O_WRONLY | O_TRUNC, a[1]);
    case __NR_openat:
        return open_confined((int)a[0], a[1], (uint32_t)a[2], a[3]);
    default:
        if (a[3] < sizeof(*how))
            return -EINVAL;
        if (a[3] > sizeof(*how))
            return -E2BIG;
        if (!are_readable(a[2], sizeof(*how)))
            return -EFAULT;
        memcpy(own, how, sizeof(own));
        if (own[2])              /* programs do without it then */
            return own[2] & ~(uint64_t)RESOLVE_FLAGS ? -EINVAL : -ENOSYS;
        return open_confined((int)a[0], a[1], own[0], own[1]);
    }
}

/* Make a call one on what its path names; returns its number. */
static int64_t on_what_is_named(const struct path_call *it, uint64_t *a, int64_t *result) {
    int64_t file = look_for_argument(it, a);
    if (failed(file) && file != AT_FDCWD) {
        *result = file;
        return it->number;
    }
    return on_descriptor(it, file, a, result);
}

/* Make a call one on the last part of its path. */
static int64_t on_last_part(const struct path_call *it, uint64_t *a, int64_t *result) {
    int64_t above = look_above_argument(directory_of(it, a), a[it->path], &last);
    if (failed(above)) {
        *result = above;
        return it->number;
    }
    return make_at(it, (uint64_t)above, a, result);
}

static bool is_without_path(const struct path_call *it, const uint64_t *a) {
    return it->directory != NO_DIRECTORY && !a[it->path] && (int)a[it->directory] != AT_FDCWD;
}

/* utimensat without a path: times of a descriptor. */
static int64_t on_given_descriptor(const struct path_call *it, uint64_t *a, int64_t *result) {
    if (!is_device((int)a[0]))
        return set_times(it, (int)a[0], a, result);
    *result = -EPERM;
    return it->number;
}

/* A call with paths. True: it is done; else it has become another call, which the kernel shall execute. */
bool confined_call(const struct path_call *it, int64_t *number, uint64_t *a, int64_t *result) {
    *result = 0;
    switch (it->use) {
    case EXECUTES:               /* execute_in_root() */
        return false;
    case OPENS:
        *result = open_argument(it, a);
        return true;
    case ADMINISTERS:
        *result = -EPERM;
        return true;
    case NAMES_HANDLE:
        *result = -EOPNOTSUPP;
        return true;
    case IS_NEW:
        *result = -ENOSYS;
        return true;
    case JOINS: case MOVES:
        *number = join_or_move(it, a, result);
        break;
    case MAKES_DIRECTORY: case MAKES_NODE: case MAKES_LINK: case REMOVES:
        *number = on_last_part(it, a, result);
        break;
    case SETS_TIMES:
        *number = is_without_path(it, a) ? on_given_descriptor(it, a, result) : on_what_is_named(it, a, result);
        break;
    default:
        *number = on_what_is_named(it, a, result);
    }
    return *result;
}

/* ---------------------------------------------------------------- the root's descriptor */

static int64_t close_others(uint64_t first, uint64_t last_file, uint64_t flags) {
    int64_t result = 0;
    if (first < ROOT_FILE)
        result = KERNEL3(__NR_close_range, first, last_file < ROOT_FILE ? last_file : ROOT_FILE - 1, flags);
    if (result == 0 && last_file > ROOT_FILE && !(flags & CLOSE_RANGE_UNSHARE))
        result = KERNEL3(__NR_close_range, first > ROOT_FILE ? first : ROOT_FILE + 1, last_file, flags);
    return result;
}

/* Calls that would close the root's descriptor, and calls on descriptors that would change a device of the host. */
bool guard_root(int64_t number, const uint64_t *a, int64_t *result) {
    *result = -EBADF;
    switch (number) {
    case __NR_close:
        return (uint32_t)a[0] == ROOT_FILE;
    case __NR_dup2: case __NR_dup3:
        return (uint32_t)a[1] == ROOT_FILE;
    case __NR_fcntl:
        return (uint32_t)a[0] == ROOT_FILE;
    case __NR_close_range:
        if (a[0] > a[1] || (uint32_t)a[0] > ROOT_FILE || (uint32_t)a[1] < ROOT_FILE)
            return false;
        *result = close_others((uint32_t)a[0], (uint32_t)a[1], a[2]);
        return true;
    case __NR_fchmod: case __NR_fchown: case __NR_fsetxattr: case __NR_fremovexattr:
        *result = -EPERM;
        return is_device((int)a[0]);
    case __NR_open_by_handle_at: case __NR_fanotify_init:
        *result = -EPERM;
        return true;
    default:
        return false;
    }
}
