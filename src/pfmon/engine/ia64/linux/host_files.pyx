"""State and limits of the host's open files. The modules fcntl and select take longer to load."""

from libc.errno cimport errno
from libc.stdlib cimport free, malloc

import os

cdef extern from "<fcntl.h>":
    int fcntl(int descriptor, int command)
    int F_GETFL

cdef extern from "<poll.h>":
    cdef struct pollfd:
        int fd
        short events
        short revents

    int poll(pollfd* files, unsigned long count, int timeout)

cdef extern from "<sys/resource.h>":
    ctypedef unsigned long rlim_t
    cdef struct rlimit:
        rlim_t rlim_cur
        rlim_t rlim_max

    int getrlimit(int which, rlimit* limit)
    int setrlimit(int which, rlimit* limit)
    int RLIMIT_NOFILE


def allow_open_files(unsigned long wanted):
    """Raise this process's limit of descriptors to ``wanted``, within its hard limit (setrlimit(2), RLIMIT_NOFILE);
    returns the new limit."""
    cdef rlimit limit
    if getrlimit(RLIMIT_NOFILE, &limit):
        raise OSError(errno, os.strerror(errno))
    if limit.rlim_cur < wanted and limit.rlim_cur < limit.rlim_max:
        limit.rlim_cur = min(wanted, limit.rlim_max)
        if setrlimit(RLIMIT_NOFILE, &limit):
            raise OSError(errno, os.strerror(errno))
    return limit.rlim_cur


def flags(int descriptor):
    """The access mode and status flags of an open file (fcntl(2), F_GETFL). OSError: not open."""
    cdef int found = fcntl(descriptor, F_GETFL)
    if found < 0:
        raise OSError(errno, os.strerror(errno))
    return found


def events(wanted):
    """The wanted events present now, by descriptor, with errors and hang-ups (poll(2)). OSError: the host refuses."""
    cdef unsigned long count = len(wanted), i
    cdef pollfd* files = <pollfd*>malloc((count + 1) * sizeof(pollfd))
    if files == NULL:
        raise MemoryError
    try:
        for i, (descriptor, own) in enumerate(wanted.items()):
            files[i].fd, files[i].events, files[i].revents = descriptor, <short><int>own, 0
        if poll(files, count, 0) < 0:
            raise OSError(errno, os.strerror(errno))
        return {files[i].fd: files[i].revents for i in range(count) if files[i].revents}
    finally:
        free(files)
