/* Files of a confined guest. Each name is read from the guest once, made whole, and resolved by the kernel from the descriptor of
   the root (openat2(2), RESOLVE_IN_ROOT), which gives a descriptor: what is done is done to that. It is held to the end of the
   system call. */

#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/openat2.h>

#include "root.h"
#include "runtime.h"
#include "world/world.h"

enum {
    ATTEMPTS = 32,               /* of resolving a name that somebody renames something in meanwhile (EAGAIN) */
    MOST_HELD = 32
};

static int held[MOST_HELD];
static uint32_t held_count;

/* Close a descriptor, if it is one, at the end of the system call. */
int64_t hold(int64_t file) {
    if (!failed(file) && held_count < MOST_HELD)
        held[held_count++] = (int)file;
    return file;
}

/* The guest gets the descriptor. */
void let_go(int64_t file) {
    uint32_t i;
    for (i = 0; i < held_count; i++)
        if (held[i] == file)
            held[i] = held[--held_count];
}

void close_held(void) {
    while (held_count)
        KERNEL1(__NR_close, held[--held_count]);
}

/* They are those of a child that shared the memory. */
void forget_held(void) {
    held_count = 0;
}

/* A path of the guest's; an error if it cannot be read, or is too long. */
int64_t take_name(uint64_t from, struct text *to) {
    begin_text(to, NO_FILE);
    for (; to->length < TEXT_ROOM - 1; from++) {
        if ((to->length == 0 || from % PAGE == 0) && !is_readable(from))
            return -EFAULT;
        if (!*(const char *)from)
            return 0;
        put_bytes(to, (const char *)from, 1);
    }
    return -ENAMETOOLONG;
}

/* ---------------------------------------------------------------- outside of the root */

/* The devices that a confined guest has, whatever is below its root. */
const char *device_name(const char *path) {
    const char *names[] = {null_name, zero_name, full_name, random_name, urandom_name};
    uint32_t i;
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(path, names[i]))
            return names[i];
    return NULL;
}

/* What follows the descriptor's number in a name of one, or NULL. */
static const char *after_descriptor(const char *path, int *file) {
    const char *own = own_part(path), *end;
    uint64_t number;
    if (!own || !begins_with(own, "fd/"))
        return NULL;
    end = own + 3;
    number = take_number(&end);
    if (end == own + 3 || (*end && *end != '/') || number >= DESCRIPTORS)
        return NULL;
    *file = (int)number;
    return end;
}

/* The descriptor that a name is of: /proc/self/fd/3; -1: it is of something else. */
int descriptor_in(const char *path) {
    int file;
    const char *rest = after_descriptor(path, &file);
    return rest && !*rest ? file : -1;
}

/* ---------------------------------------------------------------- names */

/* The guest's name of a directory that is open, or of the working one. */
static int64_t name_of_directory(int directory, struct text *to) {
    const char *link = directory == AT_FDCWD ? cwd_name : descriptor_name(directory);
    int64_t length;
    if (directory != AT_FDCWD && (uint32_t)directory >= DESCRIPTORS)
        return -EBADF;
    begin_text(to, NO_FILE);
    length = KERNEL3(__NR_readlink, link, to->bytes, TEXT_ROOM - 1);
    if (failed(length))
        return length == -ENOENT ? -EBADF : length;
    to->length = (uint32_t)length;
    to->bytes[length] = 0;
    if (!is_below_root(to->bytes))
        return -ENOENT;
    show_in_root(to);
    return 0;
}

/* A path from the guest's root; 0, or an error. */
int64_t whole_name(int directory, const char *path, struct text *to) {
    int file;
    const char *below = *path == '/' ? after_descriptor(path, &file) : path;
    int64_t result = 0;
    if (!*path)
        return -ENOENT;
    if (*path != '/')
        result = name_of_directory(directory, to);
    else if (below && *below)
        result = name_of_directory(file, to);
    else {
        begin_text(to, NO_FILE);
        below = path;
    }
    if (result)
        return result;
    if (*path != '/')
        put_text(to, "/");
    put_text(to, below);
    return to->length < TEXT_ROOM - 1 ? 0 : -ENAMETOOLONG;
}

static int64_t resolve(const char *path, const char *how) {
    int64_t file = -EAGAIN;
    int i;
    for (i = 0; i < ATTEMPTS && file == -EAGAIN; i++)
        file = KERNEL4(__NR_openat2, ROOT_FILE, path, how, sizeof(struct open_how));
    return hold(file);
}

/* A descriptor (O_PATH) of what a path names. `follow`: what a last link names. */
int64_t look_for(int directory, const char *path, bool follow) {
    static struct text whole;
    struct stat status;
    const char *device = device_name(path);
    int file = *path == '/' ? descriptor_in(path) : -1;
    int64_t result;
    if (device)
        return hold(KERNEL3(__NR_open, device, O_PATH | O_CLOEXEC, 0));
    if (file >= 0)
        return KERNEL2(__NR_fstat, file, &status) == 0 ? file : -ENOENT;
    result = whole_name(directory, path, &whole);
    return result ? result : resolve(whole.bytes, follow ? look_through : look_at);
}

/* A descriptor of the directory that a path's last part is in, and that part. */
int64_t look_above(int directory, const char *path, struct text *last) {
    static struct text whole;
    uint32_t end, start;
    int64_t result = whole_name(directory, path, &whole);
    if (result)
        return result;
    for (end = whole.length; end > 1 && whole.bytes[end - 1] == '/';)
        end--;
    for (start = end; start > 0 && whole.bytes[start - 1] != '/';)
        start--;
    begin_text(last, NO_FILE);
    put_bytes(last, whole.bytes + start, end - start);
    if (!last->length)
        put_text(last, ".");
    else if (strcmp(last->bytes, ".") && strcmp(last->bytes, "..")) {
        put_text(last, whole.bytes[end] ? "/" : "");
        whole.bytes[start] = 0;
    }
    return resolve(start ? whole.bytes : "/", look_into);
}
