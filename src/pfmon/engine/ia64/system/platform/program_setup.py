"""What the system's first program does before the program runs, which pfmon decides: it makes the system calls that
it is given, one after the other (init.S).

First the kernel's file systems are mounted, and its generator of random numbers gets enough bytes (else a program that
asks for some would wait for a billion instructions): the system is ready then, whatever the program will be. A snapshot
has it like that. After that the program's files are written, and what it is run with.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Generator, Sequence
from hashlib import shake_256
from typing import NamedTuple

from pfmon.engine.ia64.system.platform.guest_files import GuestFile, GuestFiles
from pfmon.engine.system_settings import PackedProgram
from pfmon.errors import PfmonError

WRITE, OPEN, CLOSE, UNLINK, MOUNT, MKDIR, IOCTL, UMASK, SYMLINK, MMAP = (
    *(1027, 1028, 1029, 1032, 1043, 1055, 1065, 1067, 1091, 1151),
)
"""System calls of Linux for IA-64."""
DATA = 0x6000_0000_0000_0000
"""Where the first program has its data: words about the program, then pages for what a call names."""
FIRST_TEXT, SECOND_TEXT, CONTENT = DATA + 0x2000, DATA + 0x3000, DATA + 0x4000
CONTENT_BYTES = 1 << 16
END = CONTENT + CONTENT_BYTES
STRINGS = DATA + 0x1000_0000
"""Where the texts about the program are: a file that is mapped there."""
STRINGS_FILE = b"/.pfmon"
LONGEST_PATH = 4095
MOUNTS = ((b"/proc", b"proc"), (b"/sys", b"sysfs"), (b"/dev", b"devtmpfs"))
RANDOM, RNDADDENTROPY, RANDOM_BYTES = b"/dev/random", 0x4008_5203, 32
"""The device, the request of ioctl(2) that adds bytes and says how many of their bits are random (random(4)), and how
many bytes Linux wants before it gives any."""
WRITE_ONLY, CREATE, EXCLUSIVE, READ_WRITE = 0o1, 0o100, 0o200, 0o2
READ, PRIVATE, FIXED = 1, 2, 0x10
"""Of mmap(2)."""
EXISTS = 17
NO_MASK, USUAL_MASK = 0, 0o22


class SetupCall(NamedTuple):
    """A system call of the first program: its number, arguments, and what is put into its memory before."""

    number: int
    arguments: Sequence[int]
    stores: Sequence[tuple[int, bytes]] = ()


class SetupAnswer(NamedTuple):
    """``value``: the result, or the number of the error."""

    value: int
    failed: bool


class SetupFailed(PfmonError):
    """The system has refused a call."""


Calls = Generator[SetupCall, SetupAnswer, None]


def preparing(seed: int) -> Calls:
    """Mount the kernel's file systems, and give it random bytes, the same for each seed. A kernel may lack one of
    these."""
    for directory, kind in MOUNTS:
        stores = (_text(FIRST_TEXT, kind), _text(SECOND_TEXT, directory))
        yield SetupCall(MOUNT, (FIRST_TEXT, SECOND_TEXT, FIRST_TEXT, 0, 0), stores)
    answer = yield SetupCall(OPEN, (FIRST_TEXT, READ_WRITE, 0), (_text(FIRST_TEXT, RANDOM),))
    if not answer.failed:
        content = shake_256(b"%d" % seed).digest(RANDOM_BYTES)
        entropy = struct.pack("<2i", 8 * RANDOM_BYTES, RANDOM_BYTES) + content
        yield SetupCall(IOCTL, (answer.value, RNDADDENTROPY, SECOND_TEXT), ((SECOND_TEXT, entropy),))
        yield SetupCall(CLOSE, (answer.value,))


def writing(files: GuestFiles, wanted: PackedProgram, program: str) -> Calls:
    """Write the files, and have the first program know what it is to run: ``program``, a path of the guest."""
    yield SetupCall(UMASK, (NO_MASK,))
    for one in files.entries:
        yield from _add(one)
    words, strings = _about(wanted, program)
    descriptor = yield from _write_file(STRINGS_FILE, strings, 0o600)
    mapping = (STRINGS, len(strings), READ, PRIVATE | FIXED, descriptor, 0)
    yield from _checked(SetupCall(MMAP, mapping), STRINGS_FILE)
    yield SetupCall(CLOSE, (descriptor,))
    yield SetupCall(UNLINK, (FIRST_TEXT,), (_text(FIRST_TEXT, STRINGS_FILE),))
    yield SetupCall(UMASK, (USUAL_MASK,), ((DATA, words),))


def _add(one: GuestFile) -> Calls:
    path = os.fsencode(one.path)
    stores = (_text(FIRST_TEXT, path),)
    if one.content is None:
        answer = yield SetupCall(MKDIR, (FIRST_TEXT, one.mode), stores)
        if answer.value != EXISTS:
            _check(answer, path)
        return
    yield SetupCall(UNLINK, (FIRST_TEXT,), stores)
    if one.is_link:
        names = (_text(FIRST_TEXT, one.content), _text(SECOND_TEXT, path))
        yield from _checked(SetupCall(SYMLINK, (FIRST_TEXT, SECOND_TEXT), names), path)
        return
    descriptor = yield from _write_file(path, one.content, one.mode)
    yield SetupCall(CLOSE, (descriptor,))


def _write_file(path: bytes, content: bytes, mode: int) -> Generator[SetupCall, SetupAnswer, int]:
    """Write a new file. Return its descriptor, which stays open."""
    flags = READ_WRITE | CREATE | EXCLUSIVE
    descriptor = yield from _checked(SetupCall(OPEN, (FIRST_TEXT, flags, mode), (_text(FIRST_TEXT, path),)), path)
    at = 0
    while at < len(content):
        part = content[at : at + CONTENT_BYTES]
        written = yield from _checked(SetupCall(WRITE, (descriptor, CONTENT, len(part)), ((CONTENT, part),)), path)
        if not 0 < written <= len(part):
            raise SetupFailed(f"the system does not write {os.fsdecode(path)}")
        at += written
    return descriptor


def _checked(call: SetupCall, path: bytes) -> Generator[SetupCall, SetupAnswer, int]:
    answer = yield call
    _check(answer, path)
    return answer.value


def _check(answer: SetupAnswer, path: bytes) -> None:
    if answer.failed:
        why = os.strerror(answer.value) if answer.value < 1 << 12 else f"error {answer.value}"
        raise SetupFailed(f"the system cannot write {os.fsdecode(path)}: {why}")


def _text(address: int, text: bytes) -> tuple[int, bytes]:
    return address, text[:LONGEST_PATH] + b"\0"


class _Strings:
    """Texts that a zero ends, and arrays of their addresses, from an address on."""

    def __init__(self, address: int) -> None:
        self._address = address
        self.content = bytearray()

    def text(self, content: bytes) -> int:
        """Add a text; its address."""
        return self._add(content + b"\0")

    def array(self, texts: Sequence[bytes]) -> int:
        """Add texts and an array that a zero ends; the address of the array."""
        places = [self.text(one) for one in texts]
        return self._add(struct.pack(f"<{len(places) + 1}Q", *places, 0))

    def _add(self, content: bytes) -> int:
        self.content += bytes(-len(self.content) % 8)
        at = self._address + len(self.content)
        self.content += content
        return at


def _about(wanted: PackedProgram, program: str) -> tuple[bytes, bytes]:
    """The words that the first program reads, and the texts that they are addresses of."""
    strings = _Strings(STRINGS)
    words = (
        strings.text(os.fsencode(program)),
        strings.array(wanted.arguments),
        strings.array(wanted.environment),
        strings.text(os.fsencode(wanted.directory)),
        strings.array([_absolute(wanted, guest) for guest, _ in wanted.outputs]),
    )
    return struct.pack(f"<{len(words)}Q", *words), bytes(strings.content)


def _absolute(wanted: PackedProgram, path: str) -> bytes:
    """A path from the directory in which the program begins."""
    return os.fsencode(path if path.startswith("/") else f"{wanted.directory}/{path}")
