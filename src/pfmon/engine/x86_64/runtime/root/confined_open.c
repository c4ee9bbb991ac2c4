/* Opening and making files of a confined guest. */

#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/stat.h>

#include "root.h"
#include "runtime.h"
#include "threads/thread.h"
#include "waits/waits.h"

enum { MAX_LINKS = 40, OWNER_USES = 0600 };

static const uint64_t OF_NAMES = O_CREAT | O_EXCL | O_NOFOLLOW;      /* flags that are about the name */

/* Give the guest the lowest descriptor that is free, as open(2) does. */
static int64_t at_lowest(int64_t file, uint64_t flags) {
    int64_t lower;
    if (failed(file))
        return file;
    close_held();
    lower = KERNEL3(__NR_fcntl, file, flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
    if (failed(lower) || lower > file) {
        KERNEL1(__NR_close, lower);
        return file;
    }
    KERNEL1(__NR_close, file);
    return lower;
}

static int64_t open_held(int64_t held, uint64_t flags, uint64_t mode) {
    const uint64_t a[6] = {(uint64_t)descriptor_name((int)held), flags & ~OF_NAMES, mode};
    return at_lowest(pass_on(__NR_open, a), flags);
}

/* Other threads run until the other end is open. */
static int64_t open_pipe(int64_t held, uint64_t flags) {
    const uint64_t a[6] = {(uint64_t)descriptor_name((int)held), flags & ~OF_NAMES};
    int64_t file;
    let_go(held);
    file = open_named_pipe(__NR_open, a, 1);
    KERNEL1(__NR_close, held);
    return at_lowest(file, flags);
}

/* Open what was found. EACCES: a device, as with the mount option nodev. */
static int64_t open_found(int64_t held, uint64_t flags, uint64_t mode) {
    struct stat status;
    int64_t result = KERNEL2(__NR_fstat, held, &status);
    uint32_t kind = status.st_mode & S_IFMT;
    if (result)
        return result;
    if (flags & O_CREAT && !(flags & O_PATH) && flags & O_EXCL)
        return -EEXIST;
    if (kind == S_IFLNK && !(flags & O_PATH))
        return flags & O_DIRECTORY ? -ENOTDIR : -ELOOP;
    if (kind == S_IFCHR || kind == S_IFBLK)
        return -EACCES;
    if (kind == S_IFDIR && flags & O_CREAT && !(flags & O_PATH))
        return -EISDIR;
    if (threaded && opening_waits(flags, &status))
        return open_pipe(held, flags);
    if (!(flags & O_PATH))
        return open_held(held, flags, mode);
    if (kind != S_IFDIR && flags & O_DIRECTORY)
        return -ENOTDIR;
    let_go(held);
    KERNEL3(__NR_fcntl, held, F_SETFD, flags & O_CLOEXEC ? FD_CLOEXEC : 0);
    return held;
}

static uint32_t creation_mask(void) {
    int64_t mask = KERNEL1(__NR_umask, 0);
    KERNEL1(__NR_umask, mask);
    return (uint32_t)mask;
}

/* Open a file that was made just now, whatever its rights are. */
static int64_t open_made(int directory, const char *name, uint64_t flags, uint32_t mode) {
    int64_t held = hold(KERNEL4(__NR_openat2, directory, name, look_at, 24)), file;
    if (failed(held))
        return held;
    file = open_held(held, flags, 0);
    if ((mode & OWNER_USES) != OWNER_USES && !failed(file))
        KERNEL2(__NR_fchmod, file, mode & ~creation_mask());
    return file;
}

/* The path that a link in a directory leads to, in the place of the link's. */
static int64_t take_link(int directory, const char *name, struct text *path) {
    static struct text target, above;
    int64_t length, link = hold(KERNEL4(__NR_openat2, directory, name, look_at, 24));
    begin_text(&target, NO_FILE);
    length = failed(link) ? link : KERNEL4(__NR_readlinkat, link, no_name, target.bytes, TEXT_ROOM - 1);
    if (failed(length))
        return length;
    target.bytes[length] = 0;
    length = target.bytes[0] == '/' ? 0 : whole_name(directory, ".", &above);
    if (length)
        return length;
    begin_text(path, NO_FILE);
    if (target.bytes[0] != '/') {
        put_text(path, above.bytes);
        put_text(path, "/");
    }
    put_text(path, target.bytes);
    return 0;
}

/* Make and open a file that is not there; through links, if there are any. */
static int64_t make(int directory, const char *given, uint64_t flags, uint64_t mode) {
    static struct text path, last;
    int64_t above, result = -ELOOP;
    int links;
    begin_text(&path, NO_FILE);
    put_text(&path, given);
    for (links = 0; links < MAX_LINKS; links++) {
        above = look_above(directory, path.bytes, &last);
        if (failed(above))
            return above;
        result = KERNEL4(__NR_mknodat, above, last.bytes, S_IFREG | (mode & 07777) | OWNER_USES, 0);
        if (result == 0)
            return open_made((int)above, last.bytes, flags, (uint32_t)(mode & 07777));
        if (result != -EEXIST || flags & (O_EXCL | O_NOFOLLOW))
            return result;
        result = take_link((int)above, last.bytes, &path);
        if (result)
            return result == -EINVAL ? -EAGAIN : result;     /* no link: somebody else has made a file */
        close_held();
    }
    return result;
}

/* open, openat, creat, openat2. */
int64_t open_confined(int directory, uint64_t at, uint64_t flags, uint64_t mode) {
    static struct text path, last;
    int64_t found = take_name(at, &path);
    bool creates = flags & O_CREAT && !(flags & O_PATH);
    const char *device;
    int file;
    if (found)
        return found;
    device = device_name(path.bytes);
    if (device)
        return pass_on(__NR_open, (const uint64_t[6]){(uint64_t)device, flags & ~OF_NAMES, 0});
    file = path.bytes[0] == '/' ? descriptor_in(path.bytes) : -1;
    if (file >= 0)
        return pass_on(__NR_open, (const uint64_t[6]){(uint64_t)descriptor_name(file), flags & ~OF_NAMES, mode});
    if (creates && flags & O_DIRECTORY)
        return -EINVAL;
    if (creates && path.length && path.bytes[path.length - 1] == '/') {
        found = look_above(directory, path.bytes, &last);
        return failed(found) ? found : -EISDIR;
    }
    found = look_for(directory, path.bytes, !(flags & O_NOFOLLOW) && !(creates && flags & O_EXCL));
    if (found == -ENOENT && creates && path.length)
        return make(directory, path.bytes, flags, mode);
    return failed(found) ? found : open_found(found, flags, mode);
}
