"""Files in memory that several processes map: sealed, since truncating one would kill the other processes with
SIGBUS."""

import os

cdef extern from "<fcntl.h>" nogil:
    int fcntl(int, int, ...)
    int F_ADD_SEALS "(1024 + 9)"
    int SEALS "0x0001 | 0x0002 | 0x0004"     # F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW (linux/fcntl.h)


cdef extern from "<sys/resource.h>" nogil:
    struct rlimit:
        uint64_t rlim_cur
    int getrlimit(int, rlimit*)
    int RLIMIT_AS, RLIMIT_FSIZE
    uint64_t RLIM_INFINITY                   # the greatest number of 64 bits


cdef uint64_t limit_of(int which) noexcept:
    cdef rlimit limit
    return limit.rlim_cur if getrlimit(which, &limit) == 0 else RLIM_INFINITY


cdef uint64_t largest_file() noexcept:
    return limit_of(RLIMIT_FSIZE)


cdef uint64_t free_address_space() except? 0:
    cdef uint64_t limit = limit_of(RLIMIT_AS), used
    if limit == RLIM_INFINITY:
        return limit
    try:
        with open("/proc/self/statm", "rb") as file:
            used = int(file.read().split()[0]) * <uint64_t>os.sysconf("SC_PAGESIZE")
    except OSError:
        used = 0
    return limit - min(limit, used)


cdef int make_memory_file(name, uint64_t size) except -1:
    cdef int descriptor = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(descriptor, size)
        seal_size(descriptor)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


cdef int seal_size(int descriptor) except -1:
    if fcntl(descriptor, F_ADD_SEALS, SEALS):
        raise OSError("the host's kernel does not seal files in memory")
    return 0
