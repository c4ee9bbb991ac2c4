"""Tables of the firmware in the system's memory."""

from __future__ import annotations

ALIGNMENT = 16


def checksum(content: bytes) -> int:
    """The byte that makes the sum of all of them 0, where the checksum itself is 0."""
    return -sum(content) & 0xFF


def with_checksum(content: bytes, place: int) -> bytes:
    """The content with its checksum at a place."""
    return content[:place] + bytes((checksum(content[:place] + b"\0" + content[place + 1 :]),)) + content[place + 1 :]


class TableArea:
    """Tables one behind the other, from a physical address on."""

    def __init__(self, address: int) -> None:
        self.address = address
        self._content = bytearray()

    @property
    def content(self) -> bytes:
        """All of them."""
        return bytes(self._content)

    def place(self, content: bytes, alignment: int = ALIGNMENT) -> int:
        """Add a table. Return its physical address."""
        self._content += bytes(-(self.address + len(self._content)) % alignment)
        at = self.address + len(self._content)
        self._content += content
        return at
