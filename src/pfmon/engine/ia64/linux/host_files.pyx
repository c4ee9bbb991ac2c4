"""What the host says of an open file at once. The modules fcntl and select take longer to load than to write this."""

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


def flags(int descriptor):
    """The access mode and status flags of an open file (fcntl(2), F_GETFL). OSError: there is none."""
    cdef int found = fcntl(descriptor, F_GETFL)
    if found < 0:
        raise OSError(errno, os.strerror(errno))
    return found


def events(wanted):
    """What has come by now of the wanted events, by descriptor, with errors and hang-ups (poll(2)). OSError: the host
    refuses."""
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
