"""Files in memory that several processes map: sealed, since truncating one would kill the other processes with
SIGBUS."""

import os

cdef extern from "<fcntl.h>" nogil:
    int fcntl(int, int, ...)
    int F_ADD_SEALS "(1024 + 9)"
    int SEALS "0x0001 | 0x0002 | 0x0004"     # F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW (linux/fcntl.h)


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
