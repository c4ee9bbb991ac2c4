/* What the guest sees of the host, but for clocks, ids and files: random numbers and the system's name and memory. They are
   fixed by default, so that runs repeat. */

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/sysinfo.h>
#include <linux/utsname.h>

#include "runtime.h"
#include "world.h"

struct world world;

uint64_t next_random(uint64_t *seed) {    /* splitmix64 */
    uint64_t z = *seed += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

int64_t fill_randomly(uint64_t to, uint64_t bytes) {
    uint64_t i, word = 0;
    for (i = 0; i < bytes; i++) {
        if ((i == 0 || (to + i) % PAGE == 0) && !is_writable(to + i, 1))
            return i ? (int64_t)i : -EFAULT;
        if (i % 8 == 0)
            word = next_random(&world.seed);
        ((uint8_t *)to)[i] = (uint8_t)(word >> 8 * (i % 8));
    }
    return (int64_t)bytes;
}

static void set_name(char *to, const char *name) {
    uint64_t length = strlen(name);
    memset(to, 0, __NEW_UTS_LEN + 1);
    memcpy(to, name, length < __NEW_UTS_LEN ? length : __NEW_UTS_LEN);
}

static int64_t name_system(uint64_t to) {
    struct new_utsname *name = (struct new_utsname *)to;
    int64_t result = is_writable(to, sizeof(*name)) ? KERNEL1(__NR_uname, to) : -EFAULT;
    if (result)
        return result;
    set_name(name->release, (const char *)world.release);
    if (!(world.flags & HOST_IDS)) {
        set_name(name->nodename, HOST_NAME);
        set_name(name->version, SYSTEM_VERSION);
        set_name(name->domainname, "(none)");
    }
    return 0;
}

static int64_t describe_system(uint64_t to) {
    struct sysinfo *it = (struct sysinfo *)to;
    if (!is_writable(to, sizeof(*it)))
        return -EFAULT;
    memset(it, 0, sizeof(*it));
    it->uptime = (__kernel_long_t)(clock_time(1) / BILLION);
    it->totalram = MEMORY_BYTES;
    it->freeram = MEMORY_BYTES / 2;
    it->procs = 1;
    it->mem_unit = 1;
    return 0;
}

bool world_call(int64_t number, const uint64_t *a, int64_t *result) {
    switch (number) {
    case __NR_uname:
        *result = name_system(a[0]);
        return true;
    case __NR_sysinfo:
        if (world.flags & HOST_CLOCK)
            return false;
        *result = describe_system(a[0]);
        return true;
    case __NR_getrandom:
        if (world.flags & HOST_RANDOM)
            return false;
        *result = (uint32_t)a[2] & ~7u ? -EINVAL : fill_randomly(a[0], a[1]);
        return true;
    default:
        return false;
    }
}
