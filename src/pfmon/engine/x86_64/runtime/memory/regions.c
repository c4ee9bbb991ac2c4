/* Addresses: where the guest's mappings go, where the runtime's own memory goes, and what can be accessed. */

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/mman.h>

#include "root/kernel_names.h"
#include "runtime.h"
#include "world/text.h"

enum { MAX_FREE = 1024 };

/* ---------------------------------------------------------------- access */

/* Whether 8 bytes can be read: rt_sigprocmask reads its set before it refuses the operation. */
bool is_readable(uint64_t address) {
    return KERNEL4(__NR_rt_sigprocmask, -1, address & -(uint64_t)8, 0, 8) == -EINVAL;
}

static bool is_writable_now(uint64_t at) {
    return KERNEL4(__NR_rt_sigprocmask, 0, 0, at, 8) == 0;
}

bool are_readable(uint64_t address, uint64_t bytes) {
    uint64_t at, end = address + bytes;
    for (at = address & -(uint64_t)8; at < end; at = (at & -(uint64_t)PAGE) + PAGE)
        if (!is_readable(at))
            return false;
    return end >= address;
}

/* Whether bytes can be written; translations of code in them are stale then. */
bool is_writable(uint64_t address, uint64_t bytes) {
    uint64_t at, word, end = address + bytes;
    for (at = address & -(uint64_t)8; at < end; at = (at & -(uint64_t)PAGE) + PAGE) {
        if (!is_readable(at))
            return false;
        word = *(volatile uint64_t *)at;
        if (!is_writable_now(at) && !(release_code(at) && is_writable_now(at)))
            return false;
        *(volatile uint64_t *)at = word;
    }
    return end >= address;
}

/* ---------------------------------------------------------------- the runtime's own memory */

/* Whether the runtime has any of these bytes, or keeps their addresses for itself. */
bool is_own(uint64_t start, uint64_t bytes) {
    return bytes && ((start < LOW_RUNTIME_END && start + bytes > LOW_RUNTIME) || start + bytes > HIGH_RUNTIME || start + bytes < start);
}

/* An address that the guest cannot know. */
static uint64_t first_own_address(void) {
    uint32_t page = 0;
    KERNEL3(__NR_getrandom, &page, sizeof(page), 0);
    return RUNTIME_MEMORY + page % RUNTIME_MEMORY_PAGES * PAGE;
}

/* Addresses for memory of the runtime; an inaccessible page is behind it. */
uint64_t own_address(uint64_t bytes) {
    static uint64_t next;
    uint64_t it;
    if (!next)
        next = first_own_address();
    it = next;
    next += whole_pages(bytes) + PAGE;
    return it;
}

/* ---------------------------------------------------------------- the guest's mappings */

struct region {                  /* mapped from its end downwards */
    uint64_t next, least;
    struct range unused[MAX_FREE];   /* given back by munmap */
    uint32_t count;
};

static struct region low = {.next = GUEST_LOW_END, .least = GUEST_PIE},
    high = {.next = GUEST_HIGH_END, .least = GUEST_HIGH}, middle = {.next = GUEST_HIGH, .least = GUEST_MIDDLE};

static int64_t map_free(uint64_t at, uint64_t bytes, int protection, int flags, int file, uint64_t offset) {
    return KERNEL6(__NR_mmap, at, bytes, protection, flags | MAP_FIXED_NOREPLACE, file, offset);
}

/* The start of the lowest mapping that has some of these bytes (proc(5), /proc/pid/maps); `end`: none is found. */
static uint64_t first_mapping(uint64_t start, uint64_t end) {
    static char text[4 * PAGE];   /* a line is shorter than two pages */
    int64_t file = KERNEL3(__NR_open, maps_name, O_RDONLY | O_CLOEXEC, 0), bytes;
    uint64_t found = end, kept = 0;
    while (!failed(file) && found == end && (bytes = KERNEL3(__NR_read, file, text + kept, PAGE)) > 0) {
        const char *line = text, *limit = text + kept + bytes, *next;
        for (;; line = next + 1) {
            uint64_t from, to;
            for (next = line; next < limit && *next != '\n'; next++)
                ;
            if (next == limit)
                break;
            from = take_hexadecimal(&line);
            line++;
            to = take_hexadecimal(&line);
            if (to > start && from < end && from < found)
                found = from;
        }
        kept = (uint64_t)(limit - line);
        memcpy(text, line, kept);
    }
    if (!failed(file))
        KERNEL1(__NR_close, file);
    return found;
}

static int64_t map_unused(struct region *region, uint64_t bytes, int protection, int flags, int file, uint64_t offset) {
    uint32_t i = 0;
    while (i < region->count) {
        struct range *it = &region->unused[i];
        int64_t place;
        if (it->end - it->start < bytes) {
            i++;
            continue;
        }
        place = map_free(it->end - bytes, bytes, protection, flags, file, offset);
        if (place != -EEXIST) {
            if (!failed(place))
                it->end -= bytes;
            return place;
        }
        *it = region->unused[--region->count];
    }
    return -EEXIST;
}

static int64_t map_new(struct region *region, uint64_t bytes, int protection, int flags, int file, uint64_t offset) {
    int64_t place = -EEXIST;
    while (place == -EEXIST) {
        uint64_t at = region->next - bytes;
        if (region->next < region->least || region->next - region->least <= bytes)
            return -EEXIST;
        place = map_free(at, bytes, protection, flags, file, offset);
        if (!failed(place))
            region->next = at;
        else if (place == -EEXIST) {
            uint64_t found = first_mapping(at, region->next);
            region->next = found < region->next ? found : region->next - whole_pages(bytes / 4 + 1);
        }
    }
    return place;
}

/* Memory that was given back is used again; that of files of code only when there is no other, so that an address stands for
   one object in samples and triggers. */
static int64_t map_in(struct region *region, uint64_t bytes, int protection, int flags, int file, uint64_t offset) {
    bool again = region != &low;
    int64_t place = (again ? map_unused : map_new)(region, bytes, protection, flags, file, offset);
    if (place == -EEXIST)
        place = (again ? map_new : map_unused)(region, bytes, protection, flags, file, offset);
    return place == -EEXIST ? -ENOMEM : place;
}

/* Map memory of the runtime's, which the guest does not write; returns its address, or an error. */
int64_t map_kept(uint64_t bytes) {
    uint64_t pages = whole_pages(bytes);
    int64_t place = KERNEL6(__NR_mmap, own_address(pages), pages, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (!failed(place))
        keep_from_guest((uint64_t)place, pages, PROT_READ | PROT_WRITE);
    return place;
}

/* Such memory, without which the run ends. */
void *new_memory(uint64_t bytes) {
    int64_t place = map_kept(bytes);
    if (failed(place))
        give_up(NO_MEMORY);
    return (void *)place;
}

/* Files are mapped below an address. */
void map_below(uint64_t address) {
    low.next = address;
}

/* Map at an address of the runtime's choice: below 2 GB, where code reaches it, or high. */
int64_t map_somewhere(bool below, uint64_t bytes, int protection, int flags, int file, uint64_t offset) {
    int64_t place;
    bytes = whole_pages(bytes);
    if (bytes == 0)
        return -EINVAL;
    place = map_in(below ? &low : &high, bytes, protection, flags, file, offset);
    return place == -ENOMEM ? map_in(&middle, bytes, protection, flags, file, offset) : place;
}

/* The guest has unmapped these bytes. */
void give_back(uint64_t start, uint64_t end) {
    struct region *region = start >= high.least ? &high : start >= middle.least ? &middle : &low;
    uint32_t i;
    for (i = 0; i < region->count; i++) {
        struct range *it = &region->unused[i];
        if (it->end == start || it->start == end) {
            it->start = it->start == end ? start : it->start;
            it->end = it->end == start ? end : it->end;
            return;
        }
    }
    if (start < region->next || region->count == MAX_FREE || is_own(start, end - start))
        return;
    region->unused[region->count++] = (struct range){start, end};
}

/* ---------------------------------------------------------------- the break */

static uint64_t break_start, break_end;

void set_break(uint64_t start) {
    break_start = break_end = whole_pages(start);
}

uint64_t heap_start(void) {
    return break_start;
}

uint64_t heap_end(void) {
    return break_end;
}

int64_t change_break(uint64_t wanted) {
    uint64_t end = whole_pages(wanted), old = whole_pages(break_end);
    if (wanted < break_start || (break_start < GUEST_LOW_END && wanted > low.next))
        return (int64_t)break_end;
    if (end > old && map_free(old, end - old, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != (int64_t)old)
        return (int64_t)break_end;
    if (end < old)
        KERNEL2(__NR_munmap, end, old - end);
    break_end = wanted;
    return (int64_t)wanted;
}
