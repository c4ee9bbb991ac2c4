/* Mappings that the guest executes. Of those that it may write, too, pages with translated code are write-protected, so
   that its next store there is noticed. */

#include <asm/unistd.h>
#include <linux/mman.h>

#include "runtime.h"

enum { MAX_EXECUTABLE = 4096, MAX_GUARDED = 4096 };

static struct executable {
    struct range range;
    bool writable;
} executable[MAX_EXECUTABLE];
static uint32_t executable_count;
static uint64_t guarded_pages[MAX_GUARDED];      /* with translated code: not writable now */
static uint32_t guarded_count;

/* ---------------------------------------------------------------- mappings */

static void add_executable(uint64_t start, uint64_t end, bool writable) {
    if (start >= end)
        return;
    if (executable_count == MAX_EXECUTABLE)
        give_up(NOT_SUPPORTED);
    executable[executable_count++] = (struct executable){{start, end}, writable};
}

void add_mapping(uint64_t start, uint64_t bytes, int protection) {
    if (protection & PROT_EXEC)
        add_executable(start, start + bytes, protection & PROT_WRITE);
}

static const struct executable *executable_at(uint64_t address) {
    uint32_t i;
    for (i = 0; i < executable_count; i++)
        if (executable[i].range.start <= address && address < executable[i].range.end)
            return &executable[i];
    return NULL;
}

bool is_executable(uint64_t address) {
    return executable_at(address) != NULL;
}

static void remove_executable(uint64_t start, uint64_t end) {
    uint32_t i = 0;
    while (i < executable_count) {
        struct executable old = executable[i];
        if (old.range.end <= start || end <= old.range.start) {
            i++;
            continue;
        }
        executable[i] = executable[--executable_count];
        add_executable(old.range.start, start, old.writable);
        add_executable(end, old.range.end, old.writable);
    }
}

/* The guest has unmapped these bytes, or mapped others there. */
void forget_mapping(uint64_t start, uint64_t end) {
    uint32_t i;
    forget_range(start, end);
    remove_executable(start, end);
    for (i = 0; i < guarded_count; i++)
        if (start <= guarded_pages[i] && guarded_pages[i] < end)
            guarded_pages[i--] = guarded_pages[--guarded_count];
}

/* The guest has moved a mapping. No page is guarded then. */
void move_mapping(uint64_t from, uint64_t end, uint64_t to, uint64_t bytes) {
    const struct executable *it = executable_at(from);
    bool executes = it != NULL, writable = it && it->writable;
    forget_mapping(from, end);
    forget_mapping(to, to + bytes);
    if (executes)
        add_executable(to, to + bytes, writable);
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
    const struct executable *it = executable_at(page);
    if (!it || !it->writable || is_guarded(page))
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
