def flags(descriptor: int) -> int:
    """The access mode and status flags of an open file (fcntl(2), F_GETFL). OSError: there is none."""

def events(descriptor: int, wanted: int) -> int:
    """Which of the wanted events have come by now, with errors and hang-ups (poll(2)). OSError: the host refuses."""
