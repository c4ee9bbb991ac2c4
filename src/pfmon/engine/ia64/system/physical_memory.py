"""Physical memory: from address 0 on, the image in it, and the firmware at its end."""

from __future__ import annotations

from pfmon.engine.guest_memory import GuestMemoryFault
from pfmon.engine.ia64._ia64 import AddressSpace
from pfmon.errors import PfmonError
from pfmon.program.image import Image

ALL_ACCESS = 7
FIRMWARE_BYTES = 1 << 20
"""The end of memory, which an image may read but not be loaded to."""


class PhysicalMemory:
    """``size`` bytes. PfmonError: the host has not so much."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.firmware = size - FIRMWARE_BYTES
        self.space = AddressSpace(size)
        try:
            self.space.map(0, size, ALL_ACCESS)
        except MemoryError as error:
            raise PfmonError(f"--memory={size}: {error}").about("--memory") from None

    def load(self, image: Image) -> None:
        """Write the segments of an image. PfmonError: one is outside of the memory."""
        for segment, start in zip(image.elf.segments, image.elf.physical, strict=True):
            end = start + segment.memory_size
            if end > self.firmware:
                raise PfmonError(
                    f"{image.path}: its segment at physical address {start:#x} ends at {end:#x}, and the firmware "
                    f"begins at {self.firmware:#x}; give more --memory than {self.size >> 20}M"
                ).about("--memory")
        for segment, start in zip(image.elf.segments, image.elf.physical, strict=True):
            content = image.data[segment.offset : segment.offset + segment.file_size]
            if content:
                self.space.write_initial(start, content)

    def clear(self) -> None:
        """Nothing is in it any more."""
        self.space.map(0, self.size, ALL_ACCESS)

    def has(self, address: int, length: int) -> bool:
        """Whether there is memory at all of these addresses."""
        return address >= 0 and length >= 0 and address + length <= self.size

    def read(self, address: int, length: int) -> bytes | None:
        """Bytes; None: there is no memory at one of them."""
        if not self.has(address, length):
            return None
        try:
            return self.space.read(address, length)
        except GuestMemoryFault:
            return None

    def write(self, address: int, content: bytes) -> bool:
        """Write bytes; False: there is no memory at one of them."""
        if not self.has(address, len(content)):
            return False
        try:
            self.space.write(address, content)
        except GuestMemoryFault:
            return False
        return True
