"""Socket addresses: those permitted to a program, and the host paths of UNIX sockets."""

from __future__ import annotations

import errno
import os
import socket
import struct

from pfmon.engine.linux.files.open_flags import AT_FDCWD
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import fail

AF_UNIX, AF_INET, AF_INET6 = 1, 2, 10
FAMILIES = (AF_UNIX, AF_INET, AF_INET6)
MAX_ADDRESS_BYTES = 128
MAX_SOCKET_PATH = 108
FAMILY = struct.Struct("=H")
ANY_4, ANY_6 = bytes(4), bytes(16)
LOOPBACK_4, LOOPBACK_6 = b"\x7f\0\0\1", bytes(15) + b"\1"
MAPPED_4 = bytes(10) + b"\xff\xff"


def read_address(p: Process, address: int, length: int) -> bytes:
    """struct sockaddr as the program has it; EINVAL for one that is too short or too long."""
    if not FAMILY.size <= length <= MAX_ADDRESS_BYTES:
        fail(errno.EINVAL)
    return p.user.read(address, length)


def for_host(p: Process, given: bytes, binding: bool) -> bytes:
    """The address for the host. Without --net other machines are unreachable (ENETUNREACH), and a socket bound to all
    addresses is bound to the loopback one."""
    (family,) = FAMILY.unpack_from(given)
    if family == AF_UNIX:
        return _unix(p, given, binding)
    if p.settings.net or family not in (AF_INET, AF_INET6):
        return given
    start, size = (4, 4) if family == AF_INET else (8, 16)
    at = given[start : start + size]
    if at in (ANY_4, ANY_6):
        loopback = LOOPBACK_4 if family == AF_INET else LOOPBACK_6
        return given[:start] + loopback + given[start + size :] if binding or family == AF_INET6 else given
    if not _is_loopback(at):
        p.notice("the program uses the network, limited to this machine; --net allows other machines")
        fail(errno.EADDRNOTAVAIL if binding else errno.ENETUNREACH)
    return given


def _is_loopback(address: bytes) -> bool:
    return address[:1] == b"\x7f" if len(address) == 4 else address == LOOPBACK_6 or address[:13] == MAPPED_4 + b"\x7f"


def _unix(p: Process, given: bytes, binding: bool) -> bytes:
    """The host's path of a UNIX socket; abstract names are private to the run."""
    name = given[FAMILY.size :]
    if not name:
        return given
    if name.startswith(b"\0"):
        if p.paths.confined or not p.settings.net:
            return given[: FAMILY.size] + (b"\0pfmon-%d-" % os.getpid() + name[1:])[:MAX_SOCKET_PATH]
        return given
    path = p.paths.host_name(p.files, AT_FDCWD, name.split(b"\0")[0], follow=not binding)
    if len(path) >= MAX_SOCKET_PATH:
        fail(errno.ENAMETOOLONG)
    return given[: FAMILY.size] + path + b"\0"


def is_stream(host: int) -> bool:
    """Whether a socket is a byte stream, whose writes continue until all is written."""
    with socket.socket(fileno=os.dup(host)) as one:
        return one.type == socket.SOCK_STREAM
