/* The system calls with paths, and what each does with what the path names. tests/data/engine/x86_64_path_calls.csv has those of
   the kernel. */

#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/inotify.h>
#include <linux/openat2.h>

#include "root.h"
#include "runtime.h"

enum { NONE = NO_DIRECTORY, NUMBERS = 512 };

/* Since Linux 6.6, in the order of their numbers. */
enum {
    NR_FCHMODAT2 = 452, NR_SETXATTRAT = 463, NR_GETXATTRAT, NR_LISTXATTRAT, NR_REMOVEXATTRAT, NR_OPEN_TREE_ATTR,
    NR_FILE_GETATTR, NR_FILE_SETATTR
};

static const struct path_call path_calls[] = {
    {__NR_open, NONE, 0, 1, OPENS, NONE, NONE}, {__NR_openat, 0, 1, 2, OPENS, NONE, NONE},
    {__NR_openat2, 0, 1, 2, OPENS, NONE, NONE}, {__NR_creat, NONE, 0, LINK_FOLLOWED, OPENS, NONE, NONE},
    {__NR_stat, NONE, 0, LINK_FOLLOWED, LOOKS, NONE, NONE}, {__NR_lstat, NONE, 0, LINK_ITSELF, LOOKS, NONE, NONE},
    {__NR_newfstatat, 0, 1, 3, LOOKS, NONE, NONE}, {__NR_statx, 0, 1, 2, LOOKS, NONE, NONE},
    {__NR_access, NONE, 0, LINK_FOLLOWED, LOOKS, NONE, NONE}, {__NR_faccessat, 0, 1, LINK_FOLLOWED, LOOKS, NONE, NONE},
    {__NR_faccessat2, 0, 1, 3, LOOKS, NONE, NONE}, {__NR_readlink, NONE, 0, LINK_ITSELF, READS_LINK, NONE, NONE},
    {__NR_readlinkat, 0, 1, LINK_ITSELF, READS_LINK, NONE, NONE}, {__NR_chdir, NONE, 0, LINK_FOLLOWED, ENTERS, NONE, NONE},
    {__NR_statfs, NONE, 0, LINK_FOLLOWED, ASKS_SYSTEM, NONE, NONE}, {__NR_truncate, NONE, 0, LINK_FOLLOWED, CUTS, NONE, NONE},
    {__NR_chmod, NONE, 0, LINK_FOLLOWED, SETS_MODE, NONE, NONE}, {__NR_fchmodat, 0, 1, LINK_FOLLOWED, SETS_MODE, NONE, NONE},
    {NR_FCHMODAT2, 0, 1, 3, SETS_MODE, NONE, NONE}, {__NR_chown, NONE, 0, LINK_FOLLOWED, SETS_OWNER, NONE, NONE},
    {__NR_lchown, NONE, 0, LINK_ITSELF, SETS_OWNER, NONE, NONE}, {__NR_fchownat, 0, 1, 4, SETS_OWNER, NONE, NONE},
    {__NR_utime, NONE, 0, LINK_FOLLOWED, SETS_TIMES, NONE, NONE}, {__NR_utimes, NONE, 0, LINK_FOLLOWED, SETS_TIMES, NONE, NONE},
    {__NR_futimesat, 0, 1, LINK_FOLLOWED, SETS_TIMES, NONE, NONE}, {__NR_utimensat, 0, 1, 3, SETS_TIMES, NONE, NONE},
    {__NR_setxattr, NONE, 0, LINK_FOLLOWED, HAS_ATTRIBUTES, NONE, NONE},
    {__NR_lsetxattr, NONE, 0, LINK_ITSELF, HAS_ATTRIBUTES, NONE, NONE},
    {__NR_getxattr, NONE, 0, LINK_FOLLOWED, HAS_ATTRIBUTES, NONE, NONE},
    {__NR_lgetxattr, NONE, 0, LINK_ITSELF, HAS_ATTRIBUTES, NONE, NONE},
    {__NR_listxattr, NONE, 0, LINK_FOLLOWED, HAS_ATTRIBUTES, NONE, NONE},
    {__NR_llistxattr, NONE, 0, LINK_ITSELF, HAS_ATTRIBUTES, NONE, NONE},
    {__NR_removexattr, NONE, 0, LINK_FOLLOWED, HAS_ATTRIBUTES, NONE, NONE},
    {__NR_lremovexattr, NONE, 0, LINK_ITSELF, HAS_ATTRIBUTES, NONE, NONE},
    {__NR_inotify_add_watch, NONE, 1, 2, WATCHES, NONE, NONE},
    {__NR_execve, NONE, 0, LINK_FOLLOWED, EXECUTES, NONE, NONE}, {__NR_execveat, 0, 1, 4, EXECUTES, NONE, NONE},
    {__NR_mkdir, NONE, 0, LINK_ITSELF, MAKES_DIRECTORY, NONE, NONE}, {__NR_mkdirat, 0, 1, LINK_ITSELF, MAKES_DIRECTORY, NONE, NONE},
    {__NR_mknod, NONE, 0, LINK_ITSELF, MAKES_NODE, NONE, NONE}, {__NR_mknodat, 0, 1, LINK_ITSELF, MAKES_NODE, NONE, NONE},
    {__NR_symlink, NONE, 1, LINK_ITSELF, MAKES_LINK, NONE, NONE}, {__NR_symlinkat, 1, 2, LINK_ITSELF, MAKES_LINK, NONE, NONE},
    {__NR_rmdir, NONE, 0, LINK_ITSELF, REMOVES, NONE, NONE}, {__NR_unlink, NONE, 0, LINK_ITSELF, REMOVES, NONE, NONE},
    {__NR_unlinkat, 0, 1, LINK_ITSELF, REMOVES, NONE, NONE}, {__NR_link, NONE, 0, LINK_ITSELF, JOINS, NONE, 1},
    {__NR_linkat, 0, 1, 4, JOINS, 2, 3}, {__NR_rename, NONE, 0, LINK_ITSELF, MOVES, NONE, 1},
    {__NR_renameat, 0, 1, LINK_ITSELF, MOVES, 2, 3}, {__NR_renameat2, 0, 1, LINK_ITSELF, MOVES, 2, 3},
    {__NR_name_to_handle_at, 0, 1, 4, NAMES_HANDLE, NONE, NONE},
    {__NR_mount, NONE, 1, LINK_FOLLOWED, ADMINISTERS, NONE, 0}, {__NR_umount2, NONE, 0, LINK_FOLLOWED, ADMINISTERS, NONE, NONE},
    {__NR_pivot_root, NONE, 0, LINK_FOLLOWED, ADMINISTERS, NONE, 1}, {__NR_chroot, NONE, 0, LINK_FOLLOWED, ADMINISTERS, NONE, NONE},
    {__NR_swapon, NONE, 0, LINK_FOLLOWED, ADMINISTERS, NONE, NONE}, {__NR_swapoff, NONE, 0, LINK_FOLLOWED, ADMINISTERS, NONE, NONE},
    {__NR_acct, NONE, 0, LINK_FOLLOWED, ADMINISTERS, NONE, NONE}, {__NR_quotactl, NONE, 1, LINK_FOLLOWED, ADMINISTERS, NONE, NONE},
    {__NR_uselib, NONE, 0, LINK_FOLLOWED, ADMINISTERS, NONE, NONE},
    {__NR_fanotify_mark, 3, 4, LINK_FOLLOWED, ADMINISTERS, NONE, NONE},
    {__NR_open_tree, 0, 1, LINK_FOLLOWED, ADMINISTERS, NONE, NONE}, {__NR_move_mount, 0, 1, LINK_FOLLOWED, ADMINISTERS, 2, 3},
    {__NR_fspick, 0, 1, LINK_FOLLOWED, ADMINISTERS, NONE, NONE}, {__NR_mount_setattr, 0, 1, LINK_FOLLOWED, ADMINISTERS, NONE, NONE},
    {NR_OPEN_TREE_ATTR, 0, 1, LINK_FOLLOWED, ADMINISTERS, NONE, NONE},
    {NR_SETXATTRAT, 0, 1, 2, IS_NEW, NONE, NONE}, {NR_GETXATTRAT, 0, 1, 2, IS_NEW, NONE, NONE},
    {NR_LISTXATTRAT, 0, 1, 2, IS_NEW, NONE, NONE}, {NR_REMOVEXATTRAT, 0, 1, 2, IS_NEW, NONE, NONE},
    {NR_FILE_GETATTR, 0, 1, 4, IS_NEW, NONE, NONE}, {NR_FILE_SETATTR, 0, 1, 4, IS_NEW, NONE, NONE},
};

const struct path_call *path_call_numbered(int64_t number) {
    static uint8_t rows[NUMBERS];            /* 0: none */
    uint8_t row;
    if (!rows[__NR_open])
        for (row = sizeof(path_calls) / sizeof(path_calls[0]); row > 0; row--)
            rows[path_calls[row - 1].number] = row;
    return (uint64_t)number < NUMBERS && rows[number] ? &path_calls[rows[number] - 1] : NULL;
}

static bool opening_follows(uint64_t flags) {
    return !(flags & O_NOFOLLOW) && (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
}

/* Whether what a last link names is meant, and not the link. */
bool follows_link(const struct path_call *it, const uint64_t *a) {
    if (it->link < 0)
        return it->link == LINK_FOLLOWED;
    switch (it->number) {
    case __NR_open: case __NR_openat:
        return opening_follows(a[it->link]);
    case __NR_openat2:
        return are_readable(a[2], sizeof(struct open_how)) && opening_follows(((const struct open_how *)a[2])->flags);
    case __NR_inotify_add_watch:
        return !(a[it->link] & IN_DONT_FOLLOW);
    case __NR_linkat: case __NR_name_to_handle_at:
        return a[it->link] & AT_SYMLINK_FOLLOW;
    default:
        return !(a[it->link] & AT_SYMLINK_NOFOLLOW);
    }
}
