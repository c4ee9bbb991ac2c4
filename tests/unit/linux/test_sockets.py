"""Sockets: between programs of a run, and with the machine that it runs on."""

import errno
import socket
import struct
import threading
from pathlib import Path
from typing import Any

import pytest

from pfmon.engine.guest_settings import GuestSettings

NONBLOCK = 0o4000
UNIX, INET, INET6, STREAM, DATAGRAM = 1, 2, 10, 1, 2


def pair(guest: Any, kind: int = STREAM) -> tuple[int, int]:
    assert guest.call("socketpair", UNIX, kind, 0, guest.scratch + 0x900) == 0
    return struct.unpack("<2i", guest.get(8, 0x900))


def inet(port: int, address: str = "127.0.0.1") -> bytes:
    return struct.pack("<H", INET) + struct.pack(">H", port) + socket.inet_aton(address) + bytes(8)


def unix(path: str) -> bytes:
    return struct.pack("<H", UNIX) + path.encode() + b"\0"


def connect(guest: Any, fd: int, address: bytes, name: str = "connect") -> int:
    result: int = guest.call(name, fd, guest.put(address, 0x400), len(address))
    return result


def test_a_pair_carries_bytes_both_ways_and_ends(guest: Any) -> None:
    one, other = pair(guest)
    assert guest.call("send", one, guest.put(b"forth"), 5, 0) == 5
    assert guest.call("write", other, guest.put(b"back"), 4) == 4
    assert guest.call("recv", other, guest.scratch, 100, 0) == 5 and guest.get(5) == b"forth"
    assert guest.call("read", one, guest.scratch, 100) == 4 and guest.get(4) == b"back"
    assert guest.call("recv", one, guest.scratch, 1, 0x40) == -errno.EAGAIN  # MSG_DONTWAIT
    assert guest.call("shutdown", other, 1) == 0
    assert guest.call("recv", one, guest.scratch, 1, 0) == 0
    guest.call("close", other)
    assert guest.call("send", one, guest.scratch, 1, 0x4000) == -errno.EPIPE  # MSG_NOSIGNAL
    assert guest.end is None
    guest.call("send", one, guest.scratch, 1, 0)
    assert guest.end.status == 128 + 13


def test_messages_keep_their_borders(guest: Any) -> None:
    one, other = pair(guest, DATAGRAM)
    for text in (b"first", b"second"):
        assert guest.call("send", one, guest.put(text), len(text), 0) == len(text)
    assert guest.call("recv", other, guest.scratch, 100, 0x20) == 5  # MSG_TRUNC says the length
    assert guest.call("recv", other, guest.scratch, 3, 0) == 3 and guest.get(3) == b"sec"


def test_a_server_and_its_client_by_a_path(guest: Any, tmp_path: Path) -> None:
    address = unix(str(tmp_path / "here"))
    server, client = guest.call("socket", UNIX, STREAM, 0), guest.call("socket", UNIX, STREAM, 0)
    assert connect(guest, client, address) == -errno.ENOENT
    assert connect(guest, server, address, "bind") == 0
    assert connect(guest, client, address) == -errno.ECONNREFUSED
    assert guest.call("listen", server, 5) == 0
    assert connect(guest, client, address) == 0
    guest.put(struct.pack("<I", 100), 0x500)
    accepted = guest.call("accept4", server, guest.scratch + 0x600, guest.scratch + 0x500, NONBLOCK)
    assert accepted > client and struct.unpack("<I", guest.get(4, 0x500)) == (2,)
    guest.call("write", client, guest.put(b"hello"), 5)
    assert guest.call("read", accepted, guest.scratch, 9) == 5
    assert guest.call("read", accepted, guest.scratch, 9) == -errno.EAGAIN
    guest.put(struct.pack("<I", 200), 0x500)
    assert guest.call("getsockname", server, guest.scratch + 0x600, guest.scratch + 0x500) == 0
    assert guest.get(len(address), 0x600) == address


def test_the_loopback_interface_reaches_a_server_of_the_host(guest: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        answering = threading.Thread(target=_answer, args=(server,))
        answering.start()
        client = guest.call("socket", INET, STREAM, 0)
        assert connect(guest, client, inet(server.getsockname()[1])) == 0
        guest.put(struct.pack("<I", 16), 0x500)
        assert guest.call("getpeername", client, guest.scratch + 0x600, guest.scratch + 0x500) == 0
        assert guest.get(16, 0x600) == inet(server.getsockname()[1])
        assert guest.call("sendto", client, guest.put(b"question"), 8, 0, 0, 0) == 8
        assert guest.call("recvfrom", client, guest.scratch, 100, 0, 0, 0) == 6 and guest.get(6) == b"answer"
        answering.join()


def _answer(server: socket.socket) -> None:
    connection = server.accept()[0]
    with connection:
        assert connection.recv(100) == b"question"
        connection.sendall(b"answer")


@pytest.mark.parametrize("address", ["192.0.2.1", "8.8.8.8", "255.255.255.255"])
def test_other_machines_are_not_reached(guest: Any, address: str) -> None:
    for kind in (STREAM, DATAGRAM):
        fd = guest.call("socket", INET, kind, 0)
        assert connect(guest, fd, inet(53, address)) == -errno.ENETUNREACH
        assert connect(guest, fd, inet(0, address), "bind") == -errno.EADDRNOTAVAIL
        to = guest.put(inet(53, address), 0x400)
        assert guest.call("sendto", fd, guest.put(b"x"), 1, 0, to, 16) == -errno.ENETUNREACH
    (said,) = guest.said
    assert "--net" in said


def test_all_addresses_means_this_machine(guest: Any) -> None:
    fd = guest.call("socket", INET, STREAM, 0)
    assert connect(guest, fd, inet(0, "0.0.0.0"), "bind") == 0
    guest.put(struct.pack("<I", 16), 0x500)
    guest.call("getsockname", fd, guest.scratch + 0x600, guest.scratch + 0x500)
    assert guest.get(8, 0x600)[4:] == bytes([127, 0, 0, 1])


@pytest.mark.parametrize("settings", [GuestSettings(net=True)])
def test_with_net_all_addresses_are_all(guest: Any) -> None:
    fd = guest.call("socket", INET, STREAM, 0)
    assert connect(guest, fd, inet(0, "0.0.0.0"), "bind") == 0
    guest.put(struct.pack("<I", 16), 0x500)
    guest.call("getsockname", fd, guest.scratch + 0x600, guest.scratch + 0x500)
    assert guest.get(8, 0x600)[4:] == bytes(4)


def test_options_are_the_hosts(guest: Any) -> None:
    fd = guest.call("socket", INET, STREAM, 0)
    assert guest.call("setsockopt", fd, 1, 2, guest.put(struct.pack("<I", 1)), 4) == 0  # SO_REUSEADDR
    guest.put(struct.pack("<I", 4), 0x500)
    assert guest.call("getsockopt", fd, 1, 2, guest.scratch + 0x600, guest.scratch + 0x500) == 0
    assert struct.unpack("<I", guest.get(4, 0x600)) == (1,)
    assert guest.call("setsockopt", fd, 1, 2, guest.scratch, -1) == -errno.EINVAL
    assert guest.call("setsockopt", 0, 1, 2, guest.scratch, 4) == -errno.ENOTSOCK


def test_families_that_show_the_host_are_refused(guest: Any) -> None:
    for family in (16, 17, 38, 0):  # netlink, packet, algorithms, none
        assert guest.call("socket", family, 3, 0) == -errno.EAFNOSUPPORT
    assert guest.call("socket", INET, 3, 1) == -errno.EINVAL  # raw


def message(guest: Any, data: bytes, control: bytes, room: int = 0) -> int:
    """A struct msghdr with one piece of a buffer at 0x2000."""
    guest.put(data, 0x2000)
    guest.put(struct.pack("<2Q", guest.scratch + 0x2000, len(data)), 0x1100)
    guest.put(control or bytes(room), 0x1200)
    length = len(control) or room
    at: int = guest.put(
        struct.pack("<QI4xQQQQi4x", 0, 0, guest.scratch + 0x1100, 1, guest.scratch + 0x1200, length, 0), 0x1000
    )
    return at


def test_descriptors_are_passed_on(guest: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    one, other = pair(guest)
    file = guest.open(tmp_path / "file")
    rights = struct.pack("<Qiii4x", 20, 1, 1, file)
    assert guest.call("sendmsg", one, message(guest, b"take", rights), 0) == 4
    guest.call("close", file)
    assert guest.call("recvmsg", other, message(guest, bytes(4), b"", 24), 0) == 4
    length, level, kind, passed = struct.unpack("<Qiii", guest.get(20, 0x1200))
    assert (length, level, kind) == (20, 1, 1) and guest.get(4, 0x2000) == b"take"
    assert guest.call("read", passed, guest.scratch, 100) == 7 and guest.get(7) == b"content"
    guest.call("sendmsg", one, message(guest, b"more", struct.pack("<Qiii4x", 20, 1, 1, passed)), 0)
    assert guest.call("recvmsg", other, message(guest, bytes(4), b"", 16), 0) == 4  # no room for it
    assert struct.unpack_from("<i", guest.get(56, 0x1000), 48) == (8,)  # MSG_CTRUNC
    bad = struct.pack("<Qiii4x", 20, 1, 1, 77)
    assert guest.call("sendmsg", one, message(guest, b"take", bad), 0) == -errno.EBADF
    assert guest.call("sendmsg", one, message(guest, b"x", struct.pack("<Qii", 99, 1, 1)), 0) == -errno.EINVAL


def test_several_messages_are_sent_at_once(guest: Any) -> None:
    one, other = pair(guest, DATAGRAM)
    header = guest.get(56, message(guest, b"abc", b"", 0) - guest.scratch)
    header = header[:32] + bytes(16) + header[48:]
    guest.put(header + bytes(8) + header + bytes(8), 0x3000)
    assert guest.call("sendmmsg", one, guest.scratch + 0x3000, 2, 0) == 2
    assert struct.unpack("<I", guest.get(4, 0x3000 + 56)) == (3,)
    assert [guest.call("recv", other, guest.scratch, 9, 0x40) for _ in range(3)] == [3, 3, -errno.EAGAIN]


def messages(guest: Any, count: int) -> int:
    """So many struct mmsghdr, each with a buffer of 8 bytes from 0x5000 on and room for a name."""
    made = b""
    for number in range(count):
        vector = guest.put(struct.pack("<2Q", guest.scratch + 0x5000 + 8 * number, 8), 0x4800 + 16 * number)
        made += struct.pack("<QI4xQQQQi4xI4x", 0, 0, vector, 1, 0, 0, 0, 99)
    at: int = guest.put(made, 0x4000)
    return at


def lengths(guest: Any, count: int) -> list[int]:
    return [struct.unpack("<I", guest.get(4, 0x4000 + 64 * number + 56))[0] for number in range(count)]


def test_several_messages_are_received_at_once(guest: Any) -> None:
    one, other = pair(guest, DATAGRAM)
    for text in (b"first", b"", b"third", b"fourth"):
        guest.call("send", one, guest.put(text), len(text), 0)
    assert guest.call("recvmmsg", other, messages(guest, 3), 3, 0, 0) == 3
    assert lengths(guest, 3) == [5, 0, 5] and guest.get(24, 0x5000) == b"first\0\0\0" + bytes(8) + b"third\0\0\0"
    at = messages(guest, 3)
    assert guest.call("recvmmsg", other, at, 3, 0x10000, 0) == 1  # MSG_WAITFORONE
    assert lengths(guest, 3) == [6, 99, 99]
    assert guest.call("recvmmsg", other, at, 3, 0x40, 0) == -errno.EAGAIN  # MSG_DONTWAIT
    assert guest.call("recvmmsg", other, at, 0, 0, 0) == 0
    time = guest.put(struct.pack("<2q", 0, 10**9), 0x6000)
    assert guest.call("recvmmsg", other, at, 1, 0, time) == -errno.EINVAL
    assert guest.call("recvmmsg", 77, at, 1, 0, 0) == -errno.EBADF


def test_receiving_ends_with_the_time_behind_a_message(guest: Any) -> None:
    """It is looked at after each: with none left one message comes, with a second both; what is left is told."""
    one, other = pair(guest, DATAGRAM)
    for seconds, received in ((0, 1), (1, 2)):
        for _ in range(2):
            guest.call("send", one, guest.put(b"x"), 1, 0)
        time = guest.put(struct.pack("<2q", seconds, 0), 0x6000)
        assert guest.call("recvmmsg", other, messages(guest, 2), 2, 0, time) == received
        assert guest.words(2, 0x6000) == (seconds, 0)  # no instruction has retired meanwhile
        guest.call("recv", other, guest.scratch, 1, 0x40)


def test_receiving_keeps_what_came_before_it_had_to_wait(guest: Any) -> None:
    """It waits for the second message until a signal comes; the first one is there."""
    one, other = pair(guest, DATAGRAM)
    guest.call("send", one, guest.put(b"x"), 1, 0)
    guest.call("setitimer", 0, guest.put(struct.pack("<4q", 0, 0, 1, 0), 0x7000), 0)
    guest.call("rt_sigaction", 14, guest.put(struct.pack("<3Q", guest.scratch, 0, 0), 0x7100), 0, 8)
    guest.put(struct.pack("<2Q", 0x4000000000000000, 0))
    assert guest.call("recvmmsg", other, messages(guest, 2), 2, 0, 0) == 1
    assert lengths(guest, 2) == [1, 99]
    guest.call("close", one)
