"""System images: ELF files that are loaded at their physical addresses."""

from pathlib import Path

import pytest
from elf_images import EM_X86_64, MB, PT_DYNAMIC, PT_INTERP, Piece, elf_image, flat_image

from pfmon.errors import PfmonError
from pfmon.program import system_image

BIG_ENDIAN = b"\x7fELF\2\2\1" + bytes(11) + b"\0\x32" + bytes(60)
REGION_5, REGION_7 = 5 << 61, 7 << 61
CODE = bytes(range(64))


def test_segments_have_virtual_and_physical_addresses() -> None:
    data = elf_image(REGION_5 + 0x100, [Piece(CODE, REGION_5 + 0x100, 4 * MB), Piece(b"data", REGION_7, 8 * MB, 4096)])
    found = system_image.parse(data, "image")
    assert [(one.address, one.memory_size, one.file_size) for one in found.segments] == [
        (REGION_5 + 0x100, 64, 64),
        (REGION_7, 4096, 4),
    ]
    assert found.physical == (4 * MB, 8 * MB)


def test_virtual_entry_becomes_its_physical_address() -> None:
    data = elf_image(REGION_5 + 0x120, [Piece(CODE, REGION_5 + 0x100, 4 * MB)])
    assert system_image.parse(data, "image").physical_entry == 4 * MB + 0x20


def test_entry_may_be_a_physical_address() -> None:
    data = elf_image(4 * MB + 0x10, [Piece(CODE, REGION_5, 4 * MB)])
    assert system_image.parse(data, "image").physical_entry == 4 * MB + 0x10


def test_region_bits_of_physical_addresses_are_left_out() -> None:
    data = elf_image(REGION_7 + MB, [Piece(CODE, REGION_7 + MB, REGION_7 + MB)])
    found = system_image.parse(data, "image")
    assert (found.physical, found.physical_entry) == ((MB,), MB)


BAD = [
    ("not an ELF file", b"MZ" + bytes(100)),
    ("truncated ELF file: 40 bytes", flat_image(CODE)[:40]),
    ("is an x86-64 image; --system runs IA-64 ones", elf_image(MB, [Piece(CODE, MB, MB)], machine=EM_X86_64)),
    (
        "is a big-endian IA-64 program; only little-endian ones run",
        b"\x7fELF\2\2\1" + bytes(11) + b"\0\x32" + bytes(60),
    ),
    ("is a 32-bit IA-64 program; only 64-bit ones run", b"\x7fELF\1" + flat_image(CODE)[5:]),
    ("is a relocatable object, not an executable", elf_image(MB, [Piece(CODE, MB, MB)], kind=1)),
    ("is position-independent", elf_image(MB, [Piece(CODE, MB, MB)], kind=3)),
    ("is a dynamically linked", elf_image(MB, [Piece(CODE, MB, MB), Piece(b"/ld\0", 0, 0, kind=PT_INTERP)], kind=3)),
    ("is a dynamically linked", elf_image(MB, [Piece(CODE, MB, MB), Piece(b"dyn", 0, 0, kind=PT_DYNAMIC)])),
    ("it has no program headers", elf_image(MB, [])),
    ("it has nothing to load", elf_image(MB, [Piece(CODE, MB, MB, kind=4)])),
    ("program headers end after the file does", flat_image(CODE)[:100]),
    ("segment at physical address 0x100000 ends after the file does", flat_image(CODE)[:-1]),
    ("is larger in the file than in memory", flat_image(CODE, memory_size=63)),
    ("ends beyond the address space", elf_image(MB, [Piece(CODE, MB, (1 << 50) - 63)])),
    ("ends beyond the address space", elf_image(MB, [Piece(CODE, MB, MB, memory_size=1 << 63)])),
    ("ends beyond the address space", elf_image(MB, [Piece(CODE, (1 << 64) - 16, MB)])),
    (
        "segments at physical addresses 0x100000 and 0x10003f overlap",
        elf_image(MB, [Piece(CODE, MB, MB), Piece(CODE, 2 * MB, MB + 63)]),
    ),
    ("entry point 0x100008 is not that of a bundle", elf_image(MB + 8, [Piece(CODE, MB, MB)])),
    ("entry point 0x100040 is in no segment", elf_image(MB + 64, [Piece(CODE, MB, MB)])),
]


@pytest.mark.parametrize(
    ("message", "data"), BAD, ids=[f"{number}-{text[:30]}" for number, (text, _) in enumerate(BAD)]
)
def test_bad_images_are_refused_in_one_line(message: str, data: bytes) -> None:
    with pytest.raises(PfmonError) as refused:
        system_image.parse(data, "image")
    assert str(refused.value).startswith("image: ")
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_image_needs_no_x_bit(tmp_path: Path) -> None:
    path = tmp_path / "image"
    path.write_bytes(flat_image(CODE))
    path.chmod(0o400)
    assert system_image.load(str(path)).image.elf.physical == (MB,)
