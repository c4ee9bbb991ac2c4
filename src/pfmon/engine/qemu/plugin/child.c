/* A child of the program: it must not write to its parent's shared memory. */

#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "follow.h"
#include "parts.h"

enum { PAGE = 1 << 12 };

size_t bytes_of(int file) {
    struct stat status;
    return fstat(file, &status) ? 0 : (size_t)status.st_size;
}

void *map_file(int file, size_t bytes) {
    void *place;
    if (bytes_of(file) != bytes)
        return NULL;
    place = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    return place == MAP_FAILED ? NULL : place;
}

/* Whether the run ends, as the area tells all children, even if another area is mapped in place of theirs. */
static const volatile uint32_t *run_ends;

bool watch_the_end(int area_file) {
    size_t place = offsetof(struct area, stopping), start = place & -(size_t)PAGE;
    const char *page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, area_file, (off_t)start);
    run_ends = page == MAP_FAILED ? NULL : (const volatile uint32_t *)(page + (place - start));
    return run_ends != NULL;
}

/* A child that is not followed continues with private memory in place of the shared. */
static void in_lone_child(void) {
    int i, flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
    if (*run_ends)
        kill(getpid(), SIGKILL);
    is_child = true;
    follow_no_more();
    if (mmap(ring, sizeof(struct ring), PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED
        || mmap(area, area_bytes, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
        _exit(127);
    for (i = 0; i < MAX_GUEST_THREADS; i++)
        area->threads[i].last = &area->nothing;
}

/* A followed child continues with files of its own. They have its parent's announcements at the same places, since code
   translated before points there. */
static void in_followed_child(void) {
    struct files files = follow_child();
    struct area *fresh = map_file(files.area, area_bytes);
    int flags = MAP_SHARED | MAP_FIXED | MAP_NORESERVE;
    unsigned int i;
    if (!fresh || !copy_announcements(fresh))
        give_up(NO_MEMORY);
    fresh->nothing = area->nothing;
    for (i = 0; i < threads; i++) {
        fresh->threads[i].last = &area->nothing;
        forget_accesses(&fresh->threads[i]);
    }
    fresh->base = area;          /* last: from here on the reader expects what is above */
    if (mmap(ring, sizeof(struct ring), PROT_READ | PROT_WRITE, flags, files.ring, 0) == MAP_FAILED
        || mmap(area, area_bytes, PROT_READ | PROT_WRITE, flags, files.area, 0) == MAP_FAILED)
        give_up(NO_MEMORY);
    munmap(fresh, area_bytes);
    close(files.ring);
    close(files.area);
    words = ring->buffers[0].words;
}

void in_child(void) {
    fresh_lock();
    if (following & FOLLOW_FORKS)
        in_followed_child();
    else
        in_lone_child();
}

void before_child(void) {
    if (following & FOLLOW_FORKS)
        follow_fork();
}
