/* System calls that map memory. */

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/mman.h>
#include <linux/shm.h>

#include "interpreter/python.h"
#include "mapped_file.h"
#include "runtime.h"

/* Whatever can be executed can be read, as on processors without protection keys. */
static int with_read(int protection) {
    return protection & PROT_EXEC ? protection | PROT_READ : protection;
}

/* Memory that the guest wants at an address of the runtime's is refused; the run ends if it would have replaced what it had
   there. */
static int64_t map_at_address(const uint64_t *a, int flags) {
    if (is_own(a[0], whole_pages(a[1]))) {
        if (flags & MAP_FIXED && !(flags & MAP_FIXED_NOREPLACE) && a[0] < USER_END)
            give_up(NOT_SUPPORTED);
        return a[0] < USER_END ? -EEXIST : -ENOMEM;
    }
    return KERNEL6(__NR_mmap, a[0], a[1], with_read((int)a[2]), flags, a[4], a[5]);
}

static int64_t map_memory(const uint64_t *a) {
    uint64_t bytes = whole_pages(a[1]);
    int protection = with_read((int)a[2]), flags = (int)a[3], file = (int)a[4];
    bool of_file = !(flags & MAP_ANONYMOUS), fixed = flags & (MAP_FIXED | MAP_FIXED_NOREPLACE);
    bool below = protection & PROT_EXEC || flags & MAP_32BIT || (of_file && flags & MAP_DENYWRITE);   /* by the dynamic linker */
    struct file mapped = {0, 0, a[5], of_file ? path_of(file) : NULL};
    int64_t place = -EEXIST;
    if (fixed)
        place = map_at_address(a, flags);
    else if (a[0] >= PAGE && a[0] % PAGE == 0 && !(flags & MAP_32BIT))
        place = map_at_address(a, flags | MAP_FIXED_NOREPLACE);
    if (!fixed && place == -EEXIST)
        place = map_somewhere(below, a[1], protection, flags & ~MAP_32BIT, file, a[5]);
    if (failed(place))
        return place;
    mapped.start = (uint64_t)place;
    mapped.end = mapped.start + bytes;
    forget_mapping(mapped.start, mapped.end);
    remove_places(mapped.start, mapped.end);
    keep_file(&mapped, protection);
    add_mapping(mapped.start, bytes, protection);
    if ((flags & MAP_TYPE) != MAP_PRIVATE)
        add_shared_mapping(mapped.start, bytes);
    return place;
}

static int64_t unmap_guest(uint64_t start, uint64_t bytes) {
    int64_t result = KERNEL2(__NR_munmap, start, bytes);
    if (result == 0 && bytes) {
        forget_mapping(start, start + bytes);
        remove_places(start, start + bytes);
        give_back(start, start + bytes);
    }
    return result;
}

/* The runtime's addresses look unmapped. */
static int64_t unmap_memory(uint64_t start, uint64_t length) {
    uint64_t bytes = whole_pages(length), end = start + bytes;
    if (start % PAGE || bytes == 0 || end < start || end > USER_END)
        return -EINVAL;
    if (start < LOW_RUNTIME && end > LOW_RUNTIME)
        unmap_guest(start, LOW_RUNTIME - start);
    if (start < LOW_RUNTIME_END && end > LOW_RUNTIME)
        start = end < LOW_RUNTIME_END ? end : LOW_RUNTIME_END;
    if (end > HIGH_RUNTIME)
        end = HIGH_RUNTIME;
    return start < end ? unmap_guest(start, end - start) : 0;
}

static int64_t protect_memory(uint64_t start, uint64_t length, int protection) {
    uint64_t bytes = whole_pages(length), end = start + bytes;
    int64_t result;
    if (is_own(start, bytes))
        return -ENOMEM;
    protection = with_read(protection);
    result = KERNEL3(__NR_mprotect, start, length, protection);
    if (result)
        return result;
    if (protection & PROT_GROWSDOWN)
        start = GUEST_HIGH_END;
    forget_protection(start, end);
    add_mapping(start, end - start, protection);
    if (protection & PROT_EXEC)
        announce_silent(start, end);
    return result;
}

static int64_t move_memory(const uint64_t *a) {
    uint64_t flags = a[3], old = whole_pages(a[1]), bytes = whole_pages(a[2]);
    bool fixed = flags & MREMAP_FIXED;
    int64_t room, place;
    if (is_own(a[0], old))
        return -EFAULT;
    if (fixed && is_own(a[4], bytes))
        give_up(NOT_SUPPORTED);
    release_all_code();
    if (fixed || !(flags & MREMAP_MAYMOVE) || bytes <= old)
        place = KERNEL6(__NR_mremap, a[0], a[1], a[2], flags, a[4], 0);
    else {
        place = KERNEL4(__NR_mremap, a[0], a[1], a[2], flags & ~(uint64_t)MREMAP_MAYMOVE);
        if (place == -ENOMEM) { /* a place of the runtime's choice */
            room = map_somewhere(is_executable(a[0]), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (failed(room))
                return room;
            place = KERNEL6(__NR_mremap, a[0], a[1], a[2], flags | MREMAP_FIXED, room, 0);
            if (failed(place))
                unmap_guest((uint64_t)room, bytes);
        }
    }
    if (!failed(place)) {
        move_mapping(a[0], a[0] + old, (uint64_t)place, bytes);
        if ((uint64_t)place != a[0] && !(flags & MREMAP_DONTUNMAP))
            give_back(a[0], a[0] + old);
    }
    return place;
}

/* Attach shared memory where other mappings go, too. */
static int64_t attach_memory(uint64_t id, uint64_t address, uint64_t flags) {
    struct shmid64_ds about;
    int64_t room, place;
    if (address)
        return is_own(address, PAGE) ? -EINVAL : KERNEL3(__NR_shmat, id, address, flags);
    room = KERNEL3(__NR_shmctl, id, IPC_STAT, &about);
    if (failed(room))
        return room;
    room = map_somewhere(false, about.shm_segsz, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (failed(room))
        return room;
    place = KERNEL3(__NR_shmat, id, room, flags | SHM_REMAP);
    if (failed(place))
        unmap_guest((uint64_t)room, whole_pages(about.shm_segsz));
    return place;
}

bool is_map_call(int64_t number) {
    switch (number) {
    case __NR_mmap: case __NR_munmap: case __NR_mprotect: case __NR_pkey_mprotect: case __NR_mremap: case __NR_madvise:
    case __NR_shmat: case __NR_brk:
        return true;
    default:
        return false;
    }
}

int64_t map_call(int64_t number, const uint64_t *a) {
    forget_readable_pages();
    switch (number) {
    case __NR_mmap:
        return map_memory(a);
    case __NR_munmap:
        return unmap_memory(a[0], a[1]);
    case __NR_mprotect:
        return protect_memory(a[0], a[1], (int)a[2]);
    case __NR_pkey_mprotect:     /* the processor has no protection keys */
        return (int64_t)a[3] == -1 ? protect_memory(a[0], a[1], (int)a[2]) : -EINVAL;
    case __NR_mremap:
        return move_memory(a);
    case __NR_madvise:
        return is_own(a[0], whole_pages(a[1])) ? -ENOMEM : KERNEL3(number, a[0], a[1], a[2]);
    case __NR_shmat:
        return attach_memory(a[0], a[1], a[2]);
    default:
        return change_break(a[0]);
    }
}
