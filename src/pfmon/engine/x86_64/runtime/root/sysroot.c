/* Names below the guest's root, and names as the guest sees them. */

#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/errno.h>

#include "root.h"
#include "runtime.h"

enum { MAX_LINKS = 40 };

struct root root = {.directory = ""};

void root_begin(const char *directory, bool confined) {
    uint64_t length = strlen(directory);
    root.directory = length == 1 ? "" : directory;
    root.length = strlen(root.directory);
    root.confined = confined;
}

bool is_below_root(const char *path) {
    return begins_with(path, root.directory) && (path[root.length] == '/' || !path[root.length]);
}

/* A name of the host, as the guest sees it. */
void show_in_root(struct text *path) {
    if (!root.length || !is_below_root(path->bytes))
        return;
    path->length -= (uint32_t)root.length;
    memcpy(path->bytes, path->bytes + root.length, path->length + 1);
    if (!path->length)
        put_text(path, "/");
}

/* ---------------------------------------------------------------- without --confine */

static void remove_last(struct text *path) {
    while (path->length > root.length && path->bytes[--path->length] != '/')
        ;
    path->bytes[path->length] = 0;
}

/* Put a link's target in the place of the name; false: it is no link. */
static bool take_target(struct text *path, struct text *rest) {
    static struct text longer;
    int64_t length;
    begin_text(&longer, NO_FILE);
    length = KERNEL3(__NR_readlink, path->bytes, longer.bytes, TEXT_ROOM - 1);
    if (failed(length))
        return false;
    longer.length = (uint32_t)length;
    longer.bytes[length] = 0;
    if (longer.bytes[0] == '/') {
        path->length = (uint32_t)root.length;
        path->bytes[path->length] = 0;
    } else
        remove_last(path);
    put_text(&longer, "/");
    put_text(&longer, rest->bytes);
    memcpy(rest, &longer, sizeof(longer));
    return true;
}

/* Move the first part of a path to the end of another one. */
static void take_part(struct text *rest, struct text *path) {
    const char *at = rest->bytes, *end;
    while (*at == '/')
        at++;
    for (end = at; *end && *end != '/';)
        end++;
    if (end - at == 2 && at[0] == '.' && at[1] == '.')
        remove_last(path);
    else if (end != at && !(end - at == 1 && *at == '.')) {
        put_text(path, "/");
        put_bytes(path, at, (uint64_t)(end - at));
    }
    while (*end == '/')
        end++;
    rest->length -= (uint32_t)(end - rest->bytes);
    memcpy(rest->bytes, end, rest->length + 1);
}

/* The host's name of a file below the root that a whole path of the guest names: links and .. stay there. False: there is
   none. `follow`: a last link, too. */
bool host_name(const char *path, bool follow, struct text *to) {
    static struct text rest;
    struct stat status;
    int links = 0;
    if (!root.length || *path != '/')
        return false;
    begin_text(&rest, NO_FILE);
    put_text(&rest, path);
    begin_text(to, NO_FILE);
    put_text(to, root.directory);
    while (rest.length) {
        take_part(&rest, to);
        if ((rest.length || follow) && to->length > root.length && take_target(to, &rest) && ++links > MAX_LINKS)
            return false;
    }
    return KERNEL2(__NR_lstat, to->bytes, &status) == 0;
}

/* ---------------------------------------------------------------- the working directory */

/* getcwd, in the guest's root. */
bool root_call(int64_t number, const uint64_t *a, int64_t *result) {
    static struct text path;
    if (number != __NR_getcwd || !root.length)
        return false;
    begin_text(&path, NO_FILE);
    *result = KERNEL2(number, path.bytes, TEXT_ROOM);
    if (failed(*result))
        return true;
    path.length = (uint32_t)*result - 1;
    show_in_root(&path);
    *result = path.length + 1;
    if ((uint64_t)*result > a[1])
        *result = -ERANGE;
    else if (!is_writable(a[0], (uint64_t)*result))
        *result = -EFAULT;
    else
        memcpy((void *)a[0], path.bytes, (uint64_t)*result);
    return true;
}
