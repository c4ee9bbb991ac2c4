"""The machine and host as a program sees them. The defaults are fixed, so that runs repeat."""

from __future__ import annotations

from typing import NamedTuple


class GuestSettings(NamedTuple):
    """Options of the Linux layer. The host_ options expose the host, so runs with them do not repeat."""

    sysroot: str | None = None
    confined: bool = False  # the program sees only the sysroot
    net: bool = False  # sockets reach other machines
    host_clock: bool = False  # time passes as on the host, and sleeping takes time
    host_random: bool = False  # random bytes come from the host
    standard_files: tuple[int, int, int] = (0, 1, 2)  # the host's descriptors that are the program's first three
    host_ids: bool = False  # process, user and group ids, host name
    seed: int = 0
    epoch: int = 1_767_225_600  # seconds since 1970 when the program starts: 2026-01-01 00:00:00 UTC
    boot: int = 1000  # seconds that the machine has been up then
    nanoseconds_per_instruction: int = 1  # a nominal 1 GHz, one instruction per cycle
    process_id: int = 1000
    parent_id: int = 999
    user_id: int = 1000
    group_id: int = 1000
    detach_children: bool = False  # processes left by a program under qemu keep running
    host_name: str = "pfmon"
    release: str = "6.1.0"  # of the kernel; Linux had IA-64 up to 6.6
    cpu: str = ""  # the model of processor that qemu gives the program; empty: its default
    processors: int = 1
    memory: int = 8 << 30  # bytes that sysinfo reports
    quantum: int = 100_000  # instructions of a thread's turn, when there are several
    schedule_seed: int = 0  # 0: threads take turns one after the other; else they are drawn, repeatably
    most_processes: int = 250  # at a time
    stack_size: int = 8 << 20
    backing_store_size: int = 8 << 20
