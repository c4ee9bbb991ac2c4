/* Names of files that are the guest's own or fixed: /proc of its process and of its system, random devices. Names are
   compared as the guest gives them; relative ones are completed when their directory is in /proc, /sys or /dev. */

#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/openat2.h>
#include <linux/stat.h>

#include "performance/performance.h"
#include "root/root.h"
#include "runtime.h"
#include "tasks/schedule.h"
#include "threads/thread.h"
#include "world.h"

enum { RANDOM_DEVICE = 1 << 8 | 8, URANDOM_DEVICE = 1 << 8 | 9 };

static bool random_is_open;      /* a descriptor may be of a random device */

static void read_link_of_host(const char *link, struct text *to) {
    int64_t length = KERNEL3(__NR_readlink, link, to->bytes, TEXT_ROOM - 1);
    to->file = NO_FILE;
    to->length = length > 0 ? (uint32_t)length : 0;
    to->bytes[to->length] = 0;
}

void path_of_file(int file, struct text *to) {
    struct text room;
    read_link_of_host(name_of_descriptor(file, &room), to);
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
    if (take_name(a[it->path], &given) || !given.length)
        return false;
    begin_text(to, NO_FILE);
    if (given.bytes[0] != '/') {
        if (it->directory == NO_DIRECTORY || (int32_t)a[it->directory] == AT_FDCWD)
            read_link_of_host(cwd_name, to);
        else
            path_of_file((int)a[it->directory], to);
        show_in_root(to);
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

/* The thread whose files a path names. */
static const struct guest_thread *named;

const struct guest_thread *named_thread(void) {
    return named ? named : threads;
}

/* What follows the number of one of its threads, or NULL. */
static const char *after_thread(const char *path) {
    const char *end = path;
    uint64_t number = take_number(&end);
    const struct guest_thread *it = end != path && (*end == '/' || !*end) && number ? thread_of((uint32_t)number) : NULL;
    if (!it)
        return NULL;
    named = it;
    return end;
}

/* What follows a number of this process, or NULL: `path` begins with another one. */
static const char *after_own_number(const char *path) {
    const char *end = path;
    uint64_t number = take_number(&end);
    return end != path && (*end == '/' || !*end) && is_own_number(number) ? end : NULL;
}

/* What follows the name of this process's directory in /proc; NULL: the path is not there. */
const char *own_part(const char *path) {
    const char *rest, *task;
    named = threads;
    if (!begins_with(path, "/proc/"))
        return NULL;
    path += 6;
    if (begins_with(path, "self/"))
        rest = path + 4;
    else if (begins_with(path, "thread-self/")) {
        named = running;
        rest = path + 11;
    } else if (!(rest = after_own_number(path)))
        return NULL;
    if (begins_with(rest, "/task/") && ((task = after_thread(rest + 6)) || (task = after_own_number(rest + 6))))
        rest = task;
    return *rest ? rest + 1 : rest;
}

static bool ends_in_directory(const char *path, const char *end) {
    return end - path == 6 || (end - path > 6 && !memcmp(end - 6, "/task/", 6));
}

/* A directory that is open has the host's number in its name. */
static uint64_t process_in_path(uint64_t number) {
    uint64_t host = host_of_number(number);
    return host == NO_PROCESS && is_of_run((uint32_t)number) ? number : host;
}

/* Put the host's numbers of processes in the place of the guest's. */
static void host_path(const char *path, struct text *to) {
    const char *rest = path;
    begin_text(to, NO_FILE);
    while (*rest) {
        const char *end = rest;
        uint64_t number = take_number(&end);
        bool is_process = ends_in_directory(path, rest) && end != rest && (*end == '/' || !*end);
        if (is_process && number && threaded && thread_of((uint32_t)number))
            put_number(to, (uint64_t)KERNEL0(__NR_getpid));
        else if (is_process && !(world.flags & HOST_IDS))
            put_number(to, process_in_path(number));
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

/* /proc/self and /proc/thread-self. */
static void put_own_directory(const char *path, struct text *to) {
    if (strcmp(path, "/proc/self") && strcmp(path, "/proc/thread-self"))
        return;
    put_number(to, process_id());
    if (path[6] == 't') {
        put_text(to, "/task/");
        put_number(to, running->id);
    }
}

/* The target of a link that is the guest's own; false: it is another one. */
static bool own_link(const char *path, const char *own, struct text *to) {
    int file = root.length ? descriptor_in(path) : -1;
    begin_text(to, NO_FILE);
    if (!own)
        put_own_directory(path, to);
    else if (!strcmp(own, "exe"))
        put_text(to, program_path);
    else if (!strcmp(own, "cwd") && root.length)
        read_link_of_host(cwd_name, to);
    else if (!strcmp(own, "root") && root.confined)
        put_text(to, "/");
    else if (file >= 0 && file != ROOT_FILE)
        path_of_file(file, to);
    show_in_root(to);
    return to->length;
}

/* O_PATH: the kernel shall open the file, or refuse to. */
static uint64_t open_flags(int64_t number, const uint64_t *a) {
    const struct open_how *how;
    if (number != __NR_openat2)
        return number == __NR_creat ? O_WRONLY : a[number == __NR_open ? 1 : 2];
    how = (const struct open_how *)a[2];
    return a[3] == sizeof(*how) && are_readable(a[2], sizeof(*how)) && !how->mode && !how->resolve ? how->flags : O_PATH;
}

/* Open or look up a file by a path that is not the host's; false: the host decides. */
static bool special_call(const struct path_call *it, const uint64_t *a, const struct text *path, int64_t *result) {
    const char *own = own_part(path->bytes);
    static struct text target;
    uint64_t flags;
    if (it->use == READS_LINK) {
        if (!own_link(path->bytes, own, &target))
            return false;
        *result = read_link(target.bytes, a[it->path + 1], a[it->path + 2]);
        return true;
    }
    if (it->use != OPENS)
        return false;
    flags = open_flags(it->number, a);
    if (begins_with(path->bytes, "/dev/"))
        random_is_open = random_is_open || !strcmp(path->bytes, "/dev/random") || !strcmp(path->bytes, "/dev/urandom");
    else if (!(flags & (O_PATH | O_DIRECTORY | O_ACCMODE)))
        return open_proc_file(path->bytes, own, flags, result);
    return false;
}

/* Replace a path of the guest's by the host's name of the file; `room`: for that. */
static void find_below_root(uint64_t *at, bool follow, struct text *room) {
    static struct text given;
    if (!take_name(*at, &given) && host_name(given.bytes, follow, room))
        *at = (uint64_t)room->bytes;
}

/* A path to the guest's own files of /proc, by the guest's names; false: it is none, or there are no others. */
static bool find_in_proc(const struct path_call *it, const struct text *path, uint64_t *a) {
    static struct text of_host;
    const char *own = own_part(path->bytes);
    if (own && !strcmp(own, "exe") && follows_link(it, a))
        a[it->path] = (uint64_t)program_path;
    else if (begins_with(path->bytes, "/proc/")) {
        host_path(path->bytes, &of_host);
        if (!strcmp(of_host.bytes, path->bytes))
            return false;
        a[it->path] = (uint64_t)of_host.bytes;
    } else
        return false;
    return true;
}

/* Copy the paths of a confined guest's call, which nobody can change then. */
static void copy_paths(const struct path_call *it, uint64_t *a) {
    static struct text first, second;
    if (!take_name(a[it->path], &first))
        a[it->path] = (uint64_t)first.bytes;
    if (it->second_path != NO_DIRECTORY && !take_name(a[it->second_path], &second))
        a[it->second_path] = (uint64_t)second.bytes;
}

/* Give a call the host's names of the files that its paths name. True: the call is done. */
bool path_call(int64_t *number, uint64_t *a, int64_t *result) {
    static struct text path, found, second;
    const struct path_call *it = path_call_numbered(*number);
    bool special;
    if (!it)
        return false;
    if (root.confined)
        copy_paths(it, a);
    special = special_path(it, a, &path);
    if (special && pmu_path(path.bytes, &found)) {
        a[it->path] = (uint64_t)found.bytes;
        return false;
    }
    if (special && special_call(it, a, &path, result))
        return true;
    if (root.confined)
        return confined_call(it, number, a, result);
    if (special && find_in_proc(it, &path, a))
        return false;
    if (root.length && it->use != EXECUTES) {
        find_below_root(&a[it->path], follows_link(it, a), &found);
        if (it->second_path != NO_DIRECTORY)
            find_below_root(&a[it->second_path], false, &second);
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
