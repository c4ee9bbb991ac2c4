/* Loaded before the C library (LD_PRELOAD): memory that is mapped as pfmon maps a guest's, anonymous and not reserved,
   lies between pages that nobody may touch. What reaches beyond it kills the process. */
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define GUARD ((size_t)1 << 16)

static void *map(void *address, size_t length, int protection, int flags, int file, off_t offset) {
    return (void *)syscall(SYS_mmap, address, length, protection, flags, file, offset);
}

void *mmap(void *address, size_t length, int protection, int flags, int file, off_t offset) {
    int wanted = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    if (address || flags != wanted || protection != (PROT_READ | PROT_WRITE))
        return map(address, length, protection, flags, file, offset);
    char *whole = map(NULL, length + 2 * GUARD, PROT_NONE, flags, -1, 0);
    if (whole == MAP_FAILED || mprotect(whole + GUARD, length, protection))
        return MAP_FAILED;
    return whole + GUARD;
}

void *mmap64(void *address, size_t length, int protection, int flags, int file, off_t offset)
    __attribute__((alias("mmap")));
