"""State and limits of the host's open files."""

from __future__ import annotations

import fcntl
import resource
import select
from collections.abc import Mapping


def allow_open_files(wanted: int) -> int:
    """Raise this process's limit of descriptors to ``wanted``, within its hard limit (setrlimit(2), RLIMIT_NOFILE);
    returns the new limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return wanted
    if soft < wanted and soft != hard:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return soft


def flags(descriptor: int) -> int:
    """The access mode and status flags of an open file (fcntl(2), F_GETFL). OSError: not open."""
    return fcntl.fcntl(descriptor, fcntl.F_GETFL)


def events(wanted: Mapping[int, int]) -> dict[int, int]:
    """The wanted events present now, by descriptor, with errors and hang-ups (poll(2)). OSError: the host refuses."""
    poller = select.poll()
    for descriptor, own in wanted.items():
        poller.register(descriptor, own & 0xFFFF)
    return dict(poller.poll(0))
