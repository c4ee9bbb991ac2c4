"""The initial file system of a kernel: the archive, the first program's file, and what is refused."""

import gzip
import lzma
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from elf_images import MB, Piece, elf_image

from pfmon.engine.ia64.system.physical_memory import PhysicalMemory
from pfmon.engine.ia64.system.platform.init_program import first_program
from pfmon.engine.ia64.system.platform.initial_files import place_initial_files
from pfmon.engine.ia64.system.platform.newc_archive import NewcArchive
from pfmon.engine.ia64.system.platform.packed_files import packed
from pfmon.engine.system_settings import BootSettings, PackedProgram
from pfmon.errors import PfmonError
from pfmon.program import elf, system_image

EXAMPLES = Path(__file__).resolve().parents[4] / "examples" / "ia64"
PROGRAM = EXAMPLES / "noploop"
KERNEL = elf_image(MB, [Piece(b"\0" * 16, MB, MB, memory_size=MB)])


def entries(archive: bytes) -> dict[str, tuple[int, tuple[int, int], bytes]]:
    """By path: mode, device and content; the layout is that of the kernel's documentation of its buffer."""
    found = {}
    at = 0
    while True:
        assert archive[at : at + 6] == b"070701"
        fields = [int(archive[at + 6 + 8 * place : at + 14 + 8 * place], 16) for place in range(13)]
        name = archive[at + 110 : at + 110 + fields[11]]
        assert name.endswith(b"\0")
        at += 110 + fields[11] + 3 & -4
        content = archive[at : at + fields[6]]
        assert len(content) == fields[6]
        at += fields[6] + 3 & -4
        if name == b"TRAILER!!!\0":
            assert at == len(archive)
            return found
        assert name[:-1].decode() not in found
        found[name[:-1].decode()] = (fields[1], (fields[9], fields[10]), content)


def test_archive_has_all_kinds_of_entries() -> None:
    archive = NewcArchive()
    archive.add_file("/bin/tool", b"12345", 0o755)
    archive.add_link("/bin/other", "tool")
    archive.add_device("/dev/null", 1, 3, 0o666)
    archive.add_file("/bin/tool", b"again")
    archive.add_directory("/")
    assert entries(archive.content()) == {
        "bin": (0o40755, (0, 0), b""),
        "bin/tool": (0o100755, (0, 0), b"12345"),
        "bin/other": (0o120777, (0, 0), b"tool"),
        "dev": (0o40755, (0, 0), b""),
        "dev/null": (0o20666, (1, 3), b""),
    }


@pytest.mark.skipif(shutil.which("cpio") is None, reason="cpio is not here")
def test_cpio_lists_the_archive() -> None:
    archive = NewcArchive()
    archive.add_file("/a/b", b"x" * 1001)
    listed = subprocess.run(["cpio", "-t", "--quiet"], input=archive.content(), capture_output=True, check=True)
    assert listed.stdout.split() == [b"a", b"a/b"]


def wanted(tmp_path: Path, **fields: object) -> PackedProgram:
    base = PackedProgram(str(PROGRAM), [b"noploop", b"10"], [b"A=B", b"C=\xff"], str(tmp_path))
    return base._replace(**fields)  # type: ignore[arg-type]


def test_program_is_packed_at_its_place_with_an_init(tmp_path: Path) -> None:
    found = entries(packed(wanted(tmp_path)))
    assert found[str(PROGRAM)[1:]] == (0o100755, (0, 0), PROGRAM.read_bytes())
    assert found["init"][0] == 0o100755
    assert found["dev/console"][:2] == (0o20600, (5, 1))
    assert {"proc", "sys", "tmp", str(tmp_path)[1:]} <= set(found)


def test_further_files_are_where_the_user_wants_them(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "file").write_bytes(b"deep")
    (folder / "link").symlink_to("deep/file")
    single = tmp_path / "single"
    single.write_bytes(b"one")
    single.chmod(0o750)
    found = entries(packed(wanted(tmp_path, files=[(str(single), "here"), (str(folder), "/there")])))
    assert found[f"{tmp_path}/here"[1:]] == (0o100750, (0, 0), b"one")
    assert found["there/deep/file"][2] == b"deep"
    assert found["there/link"] == (0o120777, (0, 0), b"deep/file")


def test_init_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(PfmonError, match="/init is what runs the program"):
        packed(wanted(tmp_path, files=[(str(PROGRAM), "//init/")]))


def test_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(PfmonError, match="none: no such file or directory"):
        packed(wanted(tmp_path, files=[(str(tmp_path / "none"), "x")]))


@pytest.mark.parametrize(
    ("hosts", "message"),
    [(["none/file"], "--guest-output=.*none/file: no such file or directory"), (["a", "a"], "two files are to be .*a")],
)
def test_output_that_could_not_be_written_is_said_before(tmp_path: Path, hosts: list[str], message: str) -> None:
    outputs = [("/x", str(tmp_path / host)) for host in hosts]
    with pytest.raises(PfmonError, match=message):
        packed(wanted(tmp_path, outputs=outputs))
    assert not [*tmp_path.iterdir()]


def text_at(data: bytes, address: int) -> bytes:
    parsed = elf.parse(data, "init")
    segment = next(one for one in parsed.segments if one.address <= address < one.address + one.memory_size)
    start = segment.offset + address - segment.address
    return data[start : data.index(b"\0", start)]


def array_at(data: bytes, address: int) -> list[bytes]:
    parsed = elf.parse(data, "init")
    segment = next(one for one in parsed.segments if one.address <= address < one.address + one.memory_size)
    start = segment.offset + address - segment.address
    found = []
    for (place,) in struct.iter_unpack("<Q", data[start : start + (len(data) - start) // 8 * 8]):
        if not place:
            return found
        found.append(text_at(data, place))
    raise AssertionError("no end")


def test_first_program_knows_what_to_run(tmp_path: Path) -> None:
    data = first_program(wanted(tmp_path, outputs=[("/a", "x"), ("/b", "y")]), "/bin/it")
    parsed = elf.parse(data, "init")
    code, words = parsed.segments
    assert (parsed.entry, code.address, words.address) == (0x4 << 60, 0x4 << 60, 0x6 << 60)
    assert not parsed.position_independent
    assert all(one.offset % 0x10000 == one.address % 0x10000 for one in parsed.segments)
    path, arguments, environment, directory, mounts, outputs = struct.unpack_from("<6Q", data, words.offset)
    assert (text_at(data, path), text_at(data, directory)) == (b"/bin/it", bytes(tmp_path))
    assert array_at(data, arguments) == [b"noploop", b"10"]
    assert array_at(data, environment) == [b"A=B", b"C=\xff"]
    assert array_at(data, mounts) == [b"/proc", b"proc", b"/sys", b"sysfs", b"/dev", b"devtmpfs"]
    assert array_at(data, outputs) == [b"/a", b"/b"]
    assert not any(data[words.offset + 48 : words.offset + 0x4000])


def place(data: bytes, tmp_path: Path, memory: int = 8 * MB) -> tuple[PhysicalMemory, int, int]:
    path = tmp_path / "initrd"
    path.write_bytes(data)
    made = PhysicalMemory(memory)
    image = system_image.load("kernel", KERNEL).image
    found = place_initial_files(made, image, BootSettings(initrd=str(path)))
    return made, found.address, found.length


def archive() -> bytes:
    made = NewcArchive()
    made.add_file("/init", bytes(range(256)))
    return made.content()


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_archive_is_behind_the_kernel_unpacked(tmp_path: Path, pack: type[bytes]) -> None:
    memory, address, length = place(pack(archive()), tmp_path, 64 * MB)
    assert address == 2 * MB
    assert memory.read(address, length) == archive()


def test_archives_that_only_kernels_unpack_are_left_to_them(tmp_path: Path) -> None:
    data = b"\x28\xb5\x2f\xfd" + b"zstd"
    memory, address, _ = place(data, tmp_path, 64 * MB)
    assert memory.read(address, len(data)) == data


DAMAGED = [
    ("no archive", b"#!/bin/sh", "is no cpio archive"),
    ("nothing", b"", "is no cpio archive"),
    ("cut in a header", archive()[:50], "no entry at byte 0"),
    ("cut in a file", archive()[:200], "its last file is not whole"),
    ("without its end", archive()[:-124], "no entry at byte 372"),
    ("bad digits", b"070701" + b"x" * 200, "no entry at byte 0"),
    ("negative digits", archive().replace(b"00000100", b"-0000100"), "damaged cpio archive"),
    ("cut gzip", gzip.compress(archive())[:-9], "truncated compressed file"),
    ("damaged xz", lzma.compress(archive())[:20] + bytes(40), "damaged compressed file"),
]


@pytest.mark.parametrize(("data", "message"), [row[1:] for row in DAMAGED], ids=[row[0] for row in DAMAGED])
def test_damaged_archive_is_refused(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(PfmonError, match=message):
        place(data, tmp_path, 64 * MB)


def test_archive_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PfmonError, match="do not fit behind the kernel, where 0 are; give more --memory than 8M"):
        place(archive(), tmp_path)
