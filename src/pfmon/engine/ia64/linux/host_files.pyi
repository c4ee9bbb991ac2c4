from collections.abc import Mapping

def flags(descriptor: int) -> int:
    """The access mode and status flags of an open file (fcntl(2), F_GETFL). OSError: not open."""

def events(wanted: Mapping[int, int]) -> dict[int, int]:
    """What has come by now of the wanted events, by descriptor, with errors and hang-ups (poll(2)). OSError: the host
    refuses."""

def allow_open_files(wanted: int) -> int:
    """Let this process have so many descriptors, or as many as its hard limit allows (setrlimit(2), RLIMIT_NOFILE);
    how many it may have now."""
