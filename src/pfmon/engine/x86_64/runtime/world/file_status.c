/* What is fixed of the status of files: the size of a block, by which libraries choose that of their buffers, and the numbers
   of the devices that have file systems, which follow the order in which the guest meets them (--host-ids: the host's). */

#include <asm/stat.h>
#include <linux/stat.h>

#include "world.h"

enum { BLOCK_BYTES = 4096, MAX_DEVICES = 64, SHOWN_MAJOR = 8 };

static uint64_t devices[MAX_DEVICES];    /* the host's, by the guest's number */
static uint32_t device_count;

/* The guest's minor number of a device; false: it has the host's. */
static bool number_device(uint64_t device, uint32_t *minor) {
    uint32_t i;
    if (world.flags & HOST_IDS)
        return false;
    for (i = 0; i < device_count; i++)
        if (devices[i] == device)
            break;
    if (i == MAX_DEVICES)
        return false;
    if (i == device_count)
        devices[device_count++] = device;
    *minor = i + 1;
    return true;
}

/* A device's number in struct stat (makedev(3)). */
static uint64_t device_number(uint64_t major, uint64_t minor) {
    return (minor & 0xFF) | (major & 0xFFF) << 8 | (minor & ~(uint64_t)0xFF) << 12;
}

/* Whether a file system decides the size of a block. */
static bool has_blocks(uint32_t mode) {
    return (mode & S_IFMT) == S_IFREG || (mode & S_IFMT) == S_IFDIR;
}

void fix_status(struct stat *it) {
    uint32_t minor;
    if (has_blocks(it->st_mode))
        it->st_blksize = BLOCK_BYTES;
    if (number_device(it->st_dev, &minor))
        it->st_dev = device_number(SHOWN_MAJOR, minor);
}

void fix_extended_status(struct statx *it) {
    uint64_t device = device_number(it->stx_dev_major, it->stx_dev_minor);
    uint32_t minor;
    if (has_blocks(it->stx_mode))
        it->stx_blksize = BLOCK_BYTES;
    if (number_device(device, &minor)) {
        it->stx_dev_major = SHOWN_MAJOR;
        it->stx_dev_minor = minor;
    }
}
