/* A host whose N-th write, fsync, rename or mmap fails: loaded before the C library. Nothing fails before
   failing_host_begin was called; failing_host_count says how many calls of the kind there were since. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *wanted = "";
static long calls, failing;

void failing_host_begin(const char *kind, long number)
{
    wanted = strdup(kind);
    failing = number;
    calls = 0;
}

long failing_host_count(void)
{
    return calls;
}

static int fails(const char *kind)
{
    if (strcmp(kind, wanted))
        return 0;
    return __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) == failing;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FAIL(kind, number, result) \
    if (fails(kind)) { \
        errno = number; \
        return result; \
    }

ssize_t write(int file, const void *data, size_t size)
{
    FAIL("write", ENOSPC, -1)
    return REAL(write)(file, data, size);
}

ssize_t writev(int file, const struct iovec *parts, int count)
{
    FAIL("write", ENOSPC, -1)
    return REAL(writev)(file, parts, count);
}

ssize_t pwrite(int file, const void *data, size_t size, off_t place)
{
    FAIL("write", ENOSPC, -1)
    return REAL(pwrite)(file, data, size, place);
}

int fsync(int file)
{
    FAIL("fsync", EIO, -1)
    return REAL(fsync)(file);
}

int rename(const char *from, const char *to)
{
    FAIL("rename", EIO, -1)
    return REAL(rename)(from, to);
}

int renameat(int from_directory, const char *from, int to_directory, const char *to)
{
    FAIL("rename", EIO, -1)
    return REAL(renameat)(from_directory, from, to_directory, to);
}

void *mmap(void *place, size_t size, int protection, int flags, int file, off_t offset)
{
    static __typeof__(&mmap) real;
    FAIL("mmap", ENOMEM, MAP_FAILED)
    if (!real)
        real = REAL(mmap);
    return real(place, size, protection, flags, file, offset);
}

int ftruncate(int file, off_t size)
{
    FAIL("ftruncate", ENOSPC, -1)
    return REAL(ftruncate)(file, size);
}

int posix_fallocate(int file, off_t offset, off_t size)
{
    FAIL("fallocate", ENOSPC, ENOSPC)
    return REAL(posix_fallocate)(file, offset, size);
}

/* The same, as programs with 64-bit offsets name them. */
void *mmap64(void *place, size_t size, int protection, int flags, int file, off_t offset)
{
    return mmap(place, size, protection, flags, file, offset);
}

ssize_t pwrite64(int file, const void *data, size_t size, off_t place)
{
    return pwrite(file, data, size, place);
}

int ftruncate64(int file, off_t size)
{
    return ftruncate(file, size);
}

int posix_fallocate64(int file, off_t offset, off_t size)
{
    return posix_fallocate(file, offset, size);
}
