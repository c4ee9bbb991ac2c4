"""ACPI machine language, as far as the platform's description needs it (ACPI specification, chapter 20, and 6.4 for
resources)."""

from __future__ import annotations

import struct

ROOT = b"\\"
SCOPE, NAME, PACKAGE, BUFFER = b"\x10", b"\x08", b"\x12", b"\x11"
DEVICE = b"\x5b\x82"
ZERO, ONE = b"\x00", b"\x01"
BYTE, WORD, DOUBLE_WORD = b"\x0a", b"\x0b", b"\x0c"
"""Prefixes of constants."""
ONE_BYTE_LENGTH = 0x3F
READ_WRITE = 1
FIXED_MEMORY, EXTENDED_INTERRUPT, END_TAG = 0x86, 0x89, 0x79
CONSUMER, EDGE = 1, 2
"""Of an extended interrupt: it is the device's own, active high, and by its edge."""


def sized(opcode: bytes, content: bytes) -> bytes:
    """An object that begins with its length (20.2.4), which counts the length's own bytes."""
    length = len(content) + 1
    if length <= ONE_BYTE_LENGTH:
        return opcode + bytes((length,)) + content
    length += 1
    return opcode + bytes((1 << 6 | length & 0xF, length >> 4)) + content


def integer(value: int) -> bytes:
    """A constant."""
    if value in (0, 1):
        return ONE if value else ZERO
    if value < 1 << 8:
        return BYTE + bytes((value,))
    return WORD + struct.pack("<H", value) if value < 1 << 16 else DOUBLE_WORD + struct.pack("<I", value)


def named(name: bytes, content: bytes) -> bytes:
    """Name (NAME, content)."""
    return NAME + name + content


def package(*elements: bytes) -> bytes:
    """Package () {elements}."""
    return sized(PACKAGE, bytes((len(elements),)) + b"".join(elements))


def buffer(content: bytes) -> bytes:
    """Buffer () {content}."""
    return sized(BUFFER, integer(len(content)) + content)


def device(name: bytes, *content: bytes) -> bytes:
    """Device (NAME) {content}."""
    return sized(DEVICE, name + b"".join(content))


def scope(name: bytes, *content: bytes) -> bytes:
    """Scope (NAME) {content}."""
    return sized(SCOPE, name + b"".join(content))


def eisa_id(text: str) -> bytes:
    """EisaId ("PNP0501"): three letters of five bits each, and four hexadecimal digits."""
    first, second, third = (ord(letter) - ord("@") for letter in text[:3])
    letters = first << 10 | second << 5 | third
    return DOUBLE_WORD + struct.pack(">H", letters) + bytes.fromhex(text[3:])


def resources(address: int, length: int, interrupt: int) -> bytes:
    """ResourceTemplate () {Memory32Fixed (ReadWrite, address, length) Interrupt (ResourceConsumer, Edge, ActiveHigh,
    Exclusive) {interrupt}}."""
    memory = struct.pack("<BHBII", FIXED_MEMORY, 9, READ_WRITE, address, length)
    line = struct.pack("<BHBBI", EXTENDED_INTERRUPT, 6, CONSUMER | EDGE, 1, interrupt)
    return buffer(memory + line + bytes((END_TAG, 0)))
