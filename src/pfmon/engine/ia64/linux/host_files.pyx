"""What the host says of an open file at once. The modules fcntl and select take longer to load than to write this."""

from libc.errno cimport errno

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


def events(int descriptor, int wanted):
    """Which of the wanted events have come by now, with errors and hang-ups (poll(2)). OSError: the host refuses."""
    cdef pollfd file
    file.fd, file.events, file.revents = descriptor, <short>wanted, 0
    if poll(&file, 1, 0) < 0:
        raise OSError(errno, os.strerror(errno))
    return file.revents
