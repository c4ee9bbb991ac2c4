/* The guest's mappings: their addresses, the files of code, and pages of code that the guest may write. */

#include <asm/unistd.h>
#include <linux/mman.h>

#include "runtime.h"

enum {
    MAX_FREE = 1024, MAX_PLACES = 1024, MAX_SILENT = 64, MAX_WRITABLE = 256, MAX_PATH = 4096,
    DENY_WRITE = 0x800,          /* the dynamic linker sets it for shared objects */
    INVALID = 22, NO_ROOM = 12, EXISTS = 17
};

struct range {
    uint64_t start, end;
};

/* ---------------------------------------------------------------- access */

/* Whether 8 bytes can be read: rt_sigprocmask reads its set before it refuses the operation. */
bool is_readable(uint64_t address) {
    return KERNEL4(__NR_rt_sigprocmask, -1, address & -(uint64_t)8, 0, 8) == -INVALID;
}

static bool is_writable_now(uint64_t at) {
    return KERNEL4(__NR_rt_sigprocmask, 0, 0, at, 8) == 0;
}

/* Whether bytes can be written; translations of code in them are stale then. */
bool is_writable(uint64_t address, uint64_t bytes) {
    uint64_t at, word;
    for (at = address & -(uint64_t)8; at < address + bytes; at = (at & -(uint64_t)PAGE) + PAGE) {
        if (!is_readable(at))
            return false;
        word = *(volatile uint64_t *)at;
        if (!is_writable_now(at) && !(release_code(at) && is_writable_now(at)))
            return false;
        *(volatile uint64_t *)at = word;
    }
    return true;
}

/* ---------------------------------------------------------------- addresses */

struct region {                  /* mapped from its end downwards */
    uint64_t next, least;
    struct range unused[MAX_FREE];   /* given back by munmap */
    uint32_t count;
};

static struct region low = {.next = GUEST_LOW_END, .least = GUEST_PIE},
    high = {.next = GUEST_HIGH_END, .least = 0x100000000UL}, far = {.next = GUEST_FAR_END, .least = GUEST_STACK_END};

static int64_t map_fixed(uint64_t at, uint64_t bytes, int protection, int flags, int file, uint64_t offset) {
    return KERNEL6(__NR_mmap, at, bytes, protection, flags | MAP_FIXED_NOREPLACE, file, offset);
}

static int64_t map_in(struct region *region, uint64_t bytes, int protection, int flags, int file, uint64_t offset) {
    int64_t place;
    uint32_t i;
    for (i = 0; i < region->count; i++) {
        struct range *it = &region->unused[i];
        if (it->end - it->start < bytes)
            continue;
        place = map_fixed(it->end - bytes, bytes, protection, flags, file, offset);
        if (place != -EXISTS) {
            if (!failed(place))
                it->end -= bytes;
            return place;
        }
        *it = region->unused[--region->count];
        i--;
    }
    while (region->next - region->least > bytes) {
        place = map_fixed(region->next - bytes, bytes, protection, flags, file, offset);
        if (place != -EXISTS) {
            if (!failed(place))
                region->next -= bytes;
            return place;
        }
        region->next -= PAGE;
    }
    return -NO_ROOM;
}

/* Files are mapped below an address. */
void map_below(uint64_t address) {
    low.next = address;
}

/* Map at an address of the runtime's choice: below 2 GB, where code reaches it, or above 4 GB. */
int64_t map_somewhere(bool below, uint64_t bytes, int protection, int flags, int file, uint64_t offset) {
    int64_t place;
    bytes = whole_pages(bytes);
    if (bytes == 0)
        return -INVALID;
    place = map_in(below ? &low : &high, bytes, protection, flags, file, offset);
    return place == -NO_ROOM && !below ? map_in(&far, bytes, protection, flags, file, offset) : place;
}

static void give_back(uint64_t start, uint64_t end) {
    struct region *region = start >= far.least ? &far : start >= high.least ? &high : &low;
    uint32_t i;
    for (i = 0; i < region->count; i++) {
        struct range *it = &region->unused[i];
        if (it->end == start || it->start == end) {
            it->start = it->start == end ? start : it->start;
            it->end = it->end == start ? end : it->end;
            return;
        }
    }
    if (start < region->next || region->count == MAX_FREE)
        return;
    region->unused[region->count++] = (struct range){start, end};
}

/* ---------------------------------------------------------------- files of code */

struct file {                    /* files ever mapped executable, by number - 1 */
    uint64_t start, end, offset;
    const char *path;
};

static struct file files[MAX_PLACES], silent[MAX_SILENT];
static uint32_t file_count, silent_count, place_count;
static struct {
    struct range range;
    uint32_t number;
} places[MAX_PLACES];

/* The number of the file that holds the code; 0: none that the program mapped. */
uint32_t file_at(uint64_t address) {
    uint32_t i;
    for (i = place_count; i > 0; i--)
        if (places[i - 1].range.start <= address && address < places[i - 1].range.end)
            return places[i - 1].number;
    return 0;
}

static const char *path_of(int file) {
    static char path[MAX_PATH];
    char link[32] = "/proc/self/fd/", *kept;
    int64_t length, at = 14, digit;
    for (digit = 1000000000; digit; digit /= 10)
        if (file >= digit || digit == 1)
            link[at++] = (char)('0' + file / digit % 10);
    length = KERNEL3(__NR_readlink, link, path, MAX_PATH - 1);
    if (length <= 0 || path[0] != '/')
        return NULL;
    kept = reserve((size_t)length + 1);
    memcpy(kept, path, (size_t)length);
    return kept;
}

static void put_place(const struct file *it) {
    uint32_t number = 0;
    if (place_count == MAX_PLACES)
        return;
    while (number < file_count && (files[number].start != it->start || files[number].end != it->end
                                   || files[number].offset != it->offset || strcmp(files[number].path, it->path)))
        number++;
    if (number == MAX_PLACES)
        return;
    if (number == file_count) {
        files[file_count++] = *it;
        announce_file(it->start, it->end, it->offset, it->path);
    }
    places[place_count].range = (struct range){it->start, it->end};
    places[place_count++].number = number + 1;
}

static void remove_places(uint64_t start, uint64_t end) {
    uint32_t i, kept = 0;
    for (i = 0; i < place_count; i++)
        if (end <= places[i].range.start || places[i].range.end <= start)
            places[kept++] = places[i];
    place_count = kept;
    for (i = 0; i < MAX_SILENT; i++)
        if (silent[i].start < end && start < silent[i].end)
            silent[i].end = silent[i].start;
}

static void keep_file(const struct file *it, int protection) {
    if (!it->path)
        return;
    if (protection & PROT_EXEC)
        put_place(it);
    else
        silent[silent_count++ % MAX_SILENT] = *it;
}

static void announce_silent(uint64_t start, uint64_t end) {
    uint32_t i;
    for (i = 0; i < MAX_SILENT; i++)
        if (silent[i].start < end && start < silent[i].end) {
            put_place(&silent[i]);
            silent[i].end = silent[i].start;
        }
}

/* ---------------------------------------------------------------- code that may change */

static struct range writable[MAX_WRITABLE];      /* mapped writable and executable */
static uint32_t writable_count;
static uint64_t guarded_pages[MAX_WRITABLE * 16];      /* of these, pages whose code is translated: not writable now */
static uint32_t guarded_count;

static void add_writable(uint64_t start, uint64_t end) {
    if (start >= end)
        return;
    if (writable_count == MAX_WRITABLE)
        give_up(NOT_SUPPORTED);
    writable[writable_count++] = (struct range){start, end};
}

void add_mapping(uint64_t start, uint64_t bytes, int protection) {
    if ((protection & (PROT_WRITE | PROT_EXEC)) == (PROT_WRITE | PROT_EXEC))
        add_writable(start, start + bytes);
}

/* Before the kernel writes, wherever: translations of code in writable pages are stale. */
void release_all_code(void) {
    if (guarded_count == 0)
        return;
    forget_translations();
    while (guarded_count)
        KERNEL3(__NR_mprotect, guarded_pages[--guarded_count], PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
}

static void remove_writable(uint64_t start, uint64_t end) {
    uint32_t i = 0;
    while (i < writable_count) {
        struct range old = writable[i];
        if (old.end <= start || end <= old.start) {
            i++;
            continue;
        }
        writable[i] = writable[--writable_count];
        add_writable(old.start, start);
        add_writable(end, old.end);
    }
}

/* Before code is translated: the guest's next store to its page is noticed. */
void protect_code(uint64_t address) {
    uint64_t page = address & -(uint64_t)PAGE;
    uint32_t i;
    for (i = 0; i < writable_count; i++)
        if (writable[i].start <= page && page < writable[i].end)
            break;
    if (i == writable_count)
        return;
    for (i = 0; i < guarded_count; i++)
        if (guarded_pages[i] == page)
            return;
    if (guarded_count == MAX_WRITABLE * 16)
        release_all_code();
    KERNEL3(__NR_mprotect, page, PAGE, PROT_READ | PROT_EXEC);
    guarded_pages[guarded_count++] = page;
}

/* A store to a page of translated code: translations are stale. False: it is no such page. */
bool release_code(uint64_t address) {
    uint64_t page = address & -(uint64_t)PAGE;
    uint32_t i;
    for (i = 0; i < guarded_count; i++)
        if (guarded_pages[i] == page) {
            guarded_pages[i] = guarded_pages[--guarded_count];
            KERNEL3(__NR_mprotect, page, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
            forget_translations();
            return true;
        }
    return false;
}

static void forget_mapping(uint64_t start, uint64_t end) {
    uint32_t i;
    forget_range(start, end);
    remove_writable(start, end);
    for (i = 0; i < guarded_count; i++)
        if (start <= guarded_pages[i] && guarded_pages[i] < end)
            guarded_pages[i--] = guarded_pages[--guarded_count];
}

/* ---------------------------------------------------------------- system calls */

static uint64_t break_start, break_end;

void set_break(uint64_t start) {
    break_start = break_end = whole_pages(start);
}

static int64_t change_break(uint64_t wanted) {
    uint64_t end = whole_pages(wanted), old = whole_pages(break_end);
    int64_t place;
    if (wanted < break_start || wanted > low.next)
        return (int64_t)break_end;
    if (end > old) {
        place = map_fixed(old, end - old, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (place != (int64_t)old)
            return (int64_t)break_end;
    } else if (end < old)
        KERNEL2(__NR_munmap, end, old - end);
    break_end = wanted;
    return (int64_t)wanted;
}

static int64_t map_memory(const uint64_t *a) {
    uint64_t bytes = whole_pages(a[1]);
    int protection = (int)a[2], flags = (int)a[3], file = (int)a[4];
    bool of_file = !(flags & MAP_ANONYMOUS), fixed = flags & (MAP_FIXED | MAP_FIXED_NOREPLACE);
    struct file mapped = {0, 0, a[5], of_file ? path_of(file) : NULL};
    int64_t place;
    if (fixed && a[0] < AREA_AT + AREA_ROOM && a[0] + bytes > AREA_AT)
        return -NO_ROOM;
    if (fixed || (a[0] && a[0] % PAGE == 0 && a[0] >= high.least && a[0] + bytes < GUEST_STACK_END))
        place = KERNEL6(__NR_mmap, a[0], a[1], protection, fixed ? flags : flags | MAP_FIXED_NOREPLACE, file, a[5]);
    else
        place = -EXISTS;
    if (!fixed && place == -EXISTS)
        place = map_somewhere((protection & PROT_EXEC) || (of_file && flags & DENY_WRITE), a[1], protection,
                              flags & ~(MAP_32BIT), file, a[5]);
    if (failed(place))
        return place;
    mapped.start = (uint64_t)place;
    mapped.end = mapped.start + bytes;
    forget_mapping(mapped.start, mapped.end);
    remove_places(mapped.start, mapped.end);
    keep_file(&mapped, protection);
    add_mapping(mapped.start, bytes, protection);
    return place;
}

static int64_t unmap_memory(uint64_t start, uint64_t length) {
    uint64_t bytes = whole_pages(length);
    int64_t result;
    if (start + bytes > AREA_AT && start < 0x80000000UL)
        return -INVALID;
    result = KERNEL2(__NR_munmap, start, length);
    if (result == 0 && bytes) {
        forget_mapping(start, start + bytes);
        remove_places(start, start + bytes);
        give_back(start, start + bytes);
    }
    return result;
}

static int64_t protect_memory(uint64_t start, uint64_t length, int protection) {
    uint64_t bytes = whole_pages(length);
    int64_t result;
    if (start + bytes > AREA_AT && start < 0x80000000UL)
        return -NO_ROOM;
    result = KERNEL3(__NR_mprotect, start, length, protection);
    if (result)
        return result;
    forget_mapping(start, start + bytes);
    add_mapping(start, bytes, protection);
    if (protection & PROT_EXEC)
        announce_silent(start, start + bytes);
    return result;
}

static int64_t move_memory(const uint64_t *a) {
    uint64_t flags = a[3], old = whole_pages(a[1]), bytes = whole_pages(a[2]);
    int64_t room, place;
    if (flags & MREMAP_FIXED || !(flags & MREMAP_MAYMOVE) || bytes <= old)
        place = KERNEL6(__NR_mremap, a[0], a[1], a[2], flags, a[4], 0);
    else {
        place = KERNEL4(__NR_mremap, a[0], a[1], a[2], flags & ~(uint64_t)MREMAP_MAYMOVE);
        if (place == -NO_ROOM) { /* a place of the runtime's choice */
            room = map_somewhere(false, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (failed(room))
                return room;
            place = KERNEL6(__NR_mremap, a[0], a[1], a[2], flags | MREMAP_FIXED, room, 0);
        }
    }
    if (!failed(place) && (uint64_t)place != a[0]) {
        forget_mapping(a[0], a[0] + old);
        give_back(a[0], a[0] + old);
    }
    return place;
}

bool is_map_call(int64_t number) {
    return number == __NR_mmap || number == __NR_munmap || number == __NR_mprotect || number == __NR_mremap
        || number == __NR_brk;
}

int64_t map_call(int64_t number, const uint64_t *a) {
    switch (number) {
    case __NR_mmap:
        return map_memory(a);
    case __NR_munmap:
        return unmap_memory(a[0], a[1]);
    case __NR_mprotect:
        return protect_memory(a[0], a[1], (int)a[2]);
    case __NR_mremap:
        return move_memory(a);
    default:
        return change_break(a[0]);
    }
}
