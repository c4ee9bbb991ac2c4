from collections.abc import Mapping

def flags(descriptor: int) -> int:
    """The access mode and status flags of an open file (fcntl(2), F_GETFL). OSError: not open."""

def events(wanted: Mapping[int, int]) -> dict[int, int]:
    """The wanted events present now, by descriptor, with errors and hang-ups (poll(2)). OSError: the host refuses."""

def allow_open_files(wanted: int) -> int:
    """Raise this process's limit of descriptors to ``wanted``, within its hard limit (setrlimit(2), RLIMIT_NOFILE);
    returns the new limit."""
