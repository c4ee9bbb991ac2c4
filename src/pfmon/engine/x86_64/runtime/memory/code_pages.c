/* Mappings that the guest executes. Of those that it may write, too, pages with translated code are write-protected, so
   that its next store there is noticed. */

#include <asm/unistd.h>
#include <linux/mman.h>

#include "runtime.h"

enum { MAX_RANGES = 4096, MAX_GUARDED = 4096 };

struct ranges {
    uint32_t count;
    struct range all[MAX_RANGES];
};

static struct ranges executable, writable_code;  /* the second: a part of the first */
static struct ranges shared;                     /* with other mappings of the same file, and with other processes */
static uint64_t guarded_pages[MAX_GUARDED];      /* with translated code: not writable now */
static uint32_t guarded_count;

/* ---------------------------------------------------------------- mappings */

static bool contains(const struct ranges *it, uint64_t address) {
    uint32_t i;
    for (i = 0; i < it->count; i++)
        if (it->all[i].start <= address && address < it->all[i].end)
            return true;
    return false;
}

static void add_range(struct ranges *to, uint64_t start, uint64_t end) {
    if (start >= end)
        return;
    if (to->count == MAX_RANGES)
        give_up(NOT_SUPPORTED);
    to->all[to->count++] = (struct range){start, end};
}

static void remove_range(struct ranges *from, uint64_t start, uint64_t end) {
    uint32_t i = 0;
    while (i < from->count) {
        struct range old = from->all[i];
        if (old.end <= start || end <= old.start) {
            i++;
            continue;
        }
        from->all[i] = from->all[--from->count];
        add_range(from, old.start, start);
        add_range(from, end, old.end);
    }
}

void add_mapping(uint64_t start, uint64_t bytes, int protection) {
    if (protection & PROT_EXEC)
        add_range(&executable, start, start + bytes);
    if (protection & PROT_EXEC && protection & PROT_WRITE)
        add_range(&writable_code, start, start + bytes);
}

/* A mapping by MAP_SHARED, whatever its protection. */
void add_shared_mapping(uint64_t start, uint64_t bytes) {
    add_range(&shared, start, start + bytes);
}

bool is_executable(uint64_t address) {
    return contains(&executable, address);
}

/* Whether code may change without a store that is noticed. */
bool is_shared(uint64_t address) {
    return contains(&shared, address);
}

/* The protection of these bytes changes. */
void forget_protection(uint64_t start, uint64_t end) {
    uint32_t i;
    forget_range(start, end);
    remove_range(&executable, start, end);
    remove_range(&writable_code, start, end);
    for (i = 0; i < guarded_count; i++)
        if (start <= guarded_pages[i] && guarded_pages[i] < end)
            guarded_pages[i--] = guarded_pages[--guarded_count];
}

/* The guest has unmapped these bytes, or mapped others there. */
void forget_mapping(uint64_t start, uint64_t end) {
    forget_protection(start, end);
    remove_range(&shared, start, end);
}

/* The guest has moved a mapping. No page is guarded then. */
void move_mapping(uint64_t from, uint64_t end, uint64_t to, uint64_t bytes) {
    struct ranges *lists[] = {&executable, &writable_code, &shared};
    bool was_in[3];
    uint32_t i;
    for (i = 0; i < 3; i++)
        was_in[i] = contains(lists[i], from);
    forget_mapping(from, end);
    forget_mapping(to, to + bytes);
    for (i = 0; i < 3; i++)
        if (was_in[i])
            add_range(lists[i], to, to + bytes);
}

/* ---------------------------------------------------------------- pages of code */

static bool is_guarded(uint64_t page) {
    uint32_t i;
    for (i = 0; i < guarded_count; i++)
        if (guarded_pages[i] == page)
            return true;
    return false;
}

/* Before code is translated: the guest's next store to its page is noticed. */
void protect_code(uint64_t address) {
    uint64_t page = address & -(uint64_t)PAGE;
    if (!contains(&writable_code, page) || is_guarded(page))
        return;
    if (guarded_count == MAX_GUARDED)
        release_all_code();
    KERNEL3(__NR_mprotect, page, PAGE, PROT_READ | PROT_EXEC);
    guarded_pages[guarded_count++] = page;
}

static void release(uint32_t number) {
    uint64_t page = guarded_pages[number];
    guarded_pages[number] = guarded_pages[--guarded_count];
    KERNEL3(__NR_mprotect, page, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
}

/* A store to a page of translated code: translations are stale. False: it is no such page. */
bool release_code(uint64_t address) {
    uint64_t page = address & -(uint64_t)PAGE;
    uint32_t i;
    for (i = 0; i < guarded_count; i++)
        if (guarded_pages[i] == page) {
            release(i);
            forget_translations();
            return true;
        }
    return false;
}

/* Before the kernel writes, wherever: translations of code in writable pages are stale. */
void release_all_code(void) {
    if (guarded_count == 0)
        return;
    forget_translations();
    while (guarded_count)
        release(guarded_count - 1);
}
