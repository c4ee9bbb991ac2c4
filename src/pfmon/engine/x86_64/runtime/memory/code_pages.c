/* Mappings that the guest executes. Of those that it may write, too, pages with translated code are write-protected, so
   that its next store there is noticed. */

#include <asm/unistd.h>
#include <linux/mman.h>

#include "runtime.h"

enum {
    MAX_RANGES = 4096, MAX_GUARDED = 1 << 16, PAGE_BUCKETS = 1 << 12,
    MOST_STORES = 32,            /* that are noticed by write protection; then code of the page is compared whenever it begins */
    MOST_COMPARISONS = 2048      /* then the page is protected again */
};

struct ranges {
    uint32_t count;
    struct range all[MAX_RANGES];
};

static struct ranges executable, writable_code;  /* the second: a part of the first */
static struct ranges shared;                     /* with other mappings of the same file, and with other processes */

struct code_page {               /* of writable_code, with code that was translated */
    uint64_t address;
    struct code_page *next;      /* with the same hash */
    struct block_in_page *blocks;
    uint32_t guarded;            /* its place in guarded_pages, from 1 on: it is not writable now; 0: it is */
    uint32_t stores, comparisons;
    bool compared;               /* its blocks are compared with memory */
};

static struct code_page *page_buckets[PAGE_BUCKETS], *guarded_pages[MAX_GUARDED];
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

static bool overlaps(const struct ranges *it, uint64_t start, uint64_t end) {
    uint32_t i;
    for (i = 0; i < it->count; i++)
        if (it->all[i].start < end && start < it->all[i].end)
            return true;
    return false;
}

static struct code_page *code_page_at(uint64_t address) {
    struct code_page *it = page_buckets[address / PAGE % PAGE_BUCKETS];
    while (it && it->address != (address & -(uint64_t)PAGE))
        it = it->next;
    return it;
}

static void unguard(struct code_page *it) {
    struct code_page *last = guarded_pages[--guarded_count];
    guarded_pages[it->guarded - 1] = last;
    last->guarded = it->guarded;
    it->guarded = 0;
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

/* Whether blocks of the page are compared with memory: each has one instruction, which so changes none of its own block. */
bool is_compared(uint64_t address) {
    const struct code_page *page = code_page_at(address);
    return page && page->compared;
}

/* Whether the mapping is shared with other mappings of its file, or with other processes. */
bool is_shared(uint64_t address) {
    return contains(&shared, address);
}

/* Whether code may change without a store that is noticed. */
bool changes_unnoticed(uint64_t address) {
    return is_shared(address) || is_compared(address);
}

/* The protection of these bytes changes. */
void forget_protection(uint64_t start, uint64_t end) {
    uint32_t i;
    if (overlaps(&executable, start, end))
        forget_range(start, end);
    remove_range(&executable, start, end);
    remove_range(&writable_code, start, end);
    for (i = 0; i < guarded_count; i++)
        if (start <= guarded_pages[i]->address && guarded_pages[i]->address < end)
            unguard(guarded_pages[i--]);
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

static struct code_page *new_code_page(uint64_t address) {
    struct code_page **bucket = &page_buckets[address / PAGE % PAGE_BUCKETS], *it = reserve(sizeof(*it));
    *it = (struct code_page){.address = address & -(uint64_t)PAGE, .next = *bucket};
    *bucket = it;
    return it;
}

/* Before code is translated: the guest's next store to its page is noticed. */
void protect_code(uint64_t address) {
    struct code_page *it = code_page_at(address);
    if ((it && (it->guarded || it->compared)) || !contains(&writable_code, address & -(uint64_t)PAGE))
        return;
    if (!it)
        it = new_code_page(address);
    if (guarded_count == MAX_GUARDED)
        release_all_code();
    KERNEL3(__NR_mprotect, it->address, PAGE, PROT_READ | PROT_EXEC);
    guarded_pages[guarded_count++] = it;
    it->guarded = guarded_count;
}

static void enter_in_page(struct block_in_page *it, struct block *block, uint64_t address) {
    struct code_page *page = code_page_at(address);
    if (!page || !(page->guarded || page->compared))
        return;
    *it = (struct block_in_page){block, page->blocks};
    page->blocks = it;
}

/* Let a new block be found by the pages of its code. */
void enter_in_pages(struct block *block) {
    enter_in_page(&block->in_pages[0], block, block->ip);
    if ((block->ip ^ (block->end - 1)) / PAGE)
        enter_in_page(&block->in_pages[1], block, block->end - 1);
}

/* The memory of all blocks will be used again. */
void forget_pages_of_blocks(void) {
    struct code_page *it;
    uint32_t i;
    for (i = 0; i < PAGE_BUCKETS; i++)
        for (it = page_buckets[i]; it; it = it->next)
            it->blocks = NULL;
}

static void forget_blocks_of(struct code_page *page) {
    struct block_in_page *it = page->blocks;
    page->blocks = NULL;
    for (; it; it = it->next)
        forget_path_of(it->block);
}

static void release(struct code_page *page) {
    forget_blocks_of(page);
    unguard(page);
    KERNEL3(__NR_mprotect, page->address, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
}

/* The code at an address is compared with memory: after many comparisons its page is protected again. */
void note_comparison(uint64_t address) {
    struct code_page *page = code_page_at(address);
    if (page && page->compared && ++page->comparisons == MOST_COMPARISONS) {
        page->compared = false;
        page->stores = page->comparisons = 0;
        forget_blocks_of(page);
    }
}

/* A store to a page of translated code: the translations of its code are stale. False: it is no such page. */
bool release_code(uint64_t address) {
    struct code_page *page = code_page_at(address);
    if (!page || !page->guarded)
        return false;
    release(page);
    page->compared = ++page->stores >= MOST_STORES;
    return true;
}

/* Before the kernel writes these bytes: translations of code in their pages are stale. */
void release_code_in(uint64_t start, uint64_t bytes) {
    uint64_t end = start + bytes, at;
    uint32_t i;
    if (guarded_count == 0 || end < start)
        return;
    if (bytes / PAGE < guarded_count) {
        for (at = start & -(uint64_t)PAGE; at < end; at += PAGE)
            release_code(at);
        return;
    }
    for (i = guarded_count; i > 0; i--)
        if (guarded_pages[i - 1]->address < end && guarded_pages[i - 1]->address + PAGE > start)
            release(guarded_pages[i - 1]);
}

/* Before the kernel writes, wherever. */
void release_all_code(void) {
    while (guarded_count)
        release(guarded_pages[guarded_count - 1]);
}
