/* Files that are mapped executable: the program's shared objects (docs/dev/engines.md).

   Each is announced once, among the blocks, and each block names its file (`mapped_at`). So blocks of different files
   at one address differ, even with equal bytes. A file mapped again at its old place keeps its number. */

#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "follow.h"
#include "parts.h"

enum {
    EXECUTABLE = 4,              /* PROT_EXEC */
    ANONYMOUS = 0x20,            /* MAP_ANONYMOUS, the same for all targets */
    LARGEST_ERROR = 4095,
    MAX_DATA_MAPPINGS = 64
};

struct file {                    /* files ever mapped, by number - 1 */
    uint64_t start, end, offset;
    char *path;
};

struct place {                   /* present place of a file */
    uint64_t start, end;
    uint32_t number;
};

static struct file *files;
static uint32_t file_count;
static struct place *places;
static uint32_t place_count;
static struct file silent[MAX_DATA_MAPPINGS];      /* latest files mapped not executable; some have no path */
static uint32_t silent_count;
static struct {                  /* the thread's running call */
    struct mapping call;
    char *path;                  /* of the file */
} pending[MAX_GUEST_THREADS];

/* Make room for one more in an array, which grows at every power of two. */
static void *one_more(void *array, uint32_t count, size_t size) {
    void *more = array;
    if ((count & (count - 1)) == 0)
        more = realloc(array, (count ? 2 * (size_t)count : 1) * size);
    if (!more)
        give_up(NO_MEMORY);
    return more;
}

/* The number of the file that holds the code; 0: none that the program mapped. */
uint32_t mapped_at(uint64_t address) {
    uint32_t i;
    for (i = 0; i < place_count; i++)
        if (places[i].start <= address && address < places[i].end)
            return places[i].number;
    return 0;
}

static void put_place(uint64_t start, uint64_t end, uint32_t number) {
    places = one_more(places, place_count, sizeof(*places));
    places[place_count++] = (struct place){start, end, number};
}

/* Remove earlier mappings from a range. */
static void clear(uint64_t start, uint64_t end) {
    uint32_t i, count = place_count, kept = 0;
    for (i = 0; i < count; i++) {
        struct place old = places[i];
        if (old.end <= start || end <= old.start)
            continue;
        if (old.start < start)
            places[i].end = start;
        else
            places[i].start = end < old.end ? end : old.end;
        if (old.start < start && end < old.end)
            put_place(end, old.end, old.number);
    }
    for (i = 0; i < place_count; i++)
        if (places[i].start < places[i].end)
            places[kept++] = places[i];
    place_count = kept;
    for (i = 0; i < MAX_DATA_MAPPINGS; i++)
        if (silent[i].start < end && start < silent[i].end)
            silent[i].end = silent[i].start;
}

/* Record a mapped file that may become executable; `path` is kept. */
static void remember(uint64_t start, uint64_t end, uint64_t offset, char *path) {
    struct file *it = &silent[silent_count++ % MAX_DATA_MAPPINGS];
    free(it->path);
    *it = (struct file){start, end, offset, path};
}

/* The number of a file at its place, announced if new there. */
static uint32_t number_of(uint64_t start, uint64_t end, uint64_t offset, const char *path) {
    uint32_t i;
    for (i = 0; i < file_count; i++)
        if (files[i].start == start && files[i].end == end && files[i].offset == offset && !strcmp(files[i].path, path))
            return i + 1;
    files = one_more(files, file_count, sizeof(*files));
    files[file_count] = (struct file){start, end, offset, strdup(path)};
    if (!files[file_count].path)
        give_up(NO_MEMORY);
    announce_file(start, end, offset, path);
    return ++file_count;
}

/* Record that a range has become executable. */
static void announce_silent(uint64_t start, uint64_t end) {
    uint32_t i;
    for (i = 0; i < MAX_DATA_MAPPINGS; i++) {
        struct file it = silent[i];
        if (it.end <= start || end <= it.start)
            continue;
        put_place(it.start, it.end, number_of(it.start, it.end, it.offset, it.path));
        silent[i].end = it.start;
    }
}

static char *path_of(int file) {
    char link[64], path[PATH_MAX + 1];
    ssize_t length;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
    length = readlink(link, path, PATH_MAX);
    return length <= 0 ? NULL : strndup(path, (size_t)length);
}

static uint64_t whole_pages(uint64_t length) {
    return (length + MAPPED_PAGE - 1) & -(uint64_t)MAPPED_PAGE;
}

/* A thread begins a call that maps or unmaps. Unmapped ranges are removed now: before the call returns, another thread
   may map there. The file's path is read now: another thread may close the file. */
void before_mapping(unsigned int cpu, const struct mapping *call) {
    bool wanted = call->kind == MAPS && !(call->flags & ANONYMOUS);
    if (call->kind == UNMAPS && call->address % MAPPED_PAGE == 0)
        clear(call->address, call->address + whole_pages(call->length));
    free(pending[cpu].path);
    pending[cpu].call = *call;
    pending[cpu].path = wanted ? path_of(call->file) : NULL;
}

/* The end of that call, with its result. */
void after_mapping(unsigned int cpu, int64_t result, uint64_t most) {
    const struct mapping *call = &pending[cpu].call;
    uint64_t size = whole_pages(call->length), start = (uint64_t)result & most;
    bool failed = start >= ((uint64_t)-LARGEST_ERROR & most), executable = call->protection & EXECUTABLE;
    char *path = pending[cpu].path;
    pending[cpu].path = NULL;
    if (!failed && call->kind == PROTECTS && executable)
        announce_silent(call->address, call->address + size);
    if (!failed && call->kind == MAPS)
        clear(start, start + size);
    if (!failed && path && !executable) {
        remember(start, start + size, call->offset, path);
        return;
    }
    if (!failed && path)
        put_place(start, start + size, number_of(start, start + size, call->offset, path));
    free(path);
}
