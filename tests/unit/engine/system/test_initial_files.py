"""The initial file system of a kernel: the archive, the first program's file, and what is refused."""

import gzip
import lzma
import shutil
import subprocess
from pathlib import Path

import pytest
from elf_images import MB, Piece, elf_image

from pfmon.engine.ia64.system.physical_memory import PhysicalMemory
from pfmon.engine.ia64.system.platform.init_program import first_program
from pfmon.engine.ia64.system.platform.initial_files import place_initial_files
from pfmon.engine.ia64.system.platform.newc_archive import NewcArchive
from pfmon.engine.ia64.system.platform.packed_files import first_archive, program_files
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


def files(program: PackedProgram) -> dict[str, tuple[int, bytes | None]]:
    """By path: the mode, and the content of a file, or where a link leads."""
    found = program_files(program).entries
    assert len({one.path for one in found}) == len(found)
    for place, one in enumerate(found):
        folder = one.path.rpartition("/")[0]
        assert not folder or folder in [before.path for before in found[:place] if before.content is None]
    return {one.path: (one.mode, one.content) for one in found}


def test_first_file_system_has_the_first_program_alone() -> None:
    found = entries(first_archive())
    assert found["init"][0] == 0o100755
    assert found["init"][2] == first_program()
    assert found["dev/console"][:2] == (0o20600, (5, 1))
    assert found["tmp"][0] == 0o41777
    assert set(found) == {"init", "proc", "sys", "tmp", "dev", "dev/console", "dev/null", "dev/random", "dev/urandom"}


def test_program_is_written_at_its_place(tmp_path: Path) -> None:
    found = files(wanted(tmp_path))
    assert found[str(PROGRAM)] == (0o755, PROGRAM.read_bytes())
    assert found[str(tmp_path)] == (0o755, None)


def test_further_files_are_where_the_user_wants_them(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "file").write_bytes(b"deep")
    (folder / "link").symlink_to("deep/file")
    single = tmp_path / "single"
    single.write_bytes(b"one")
    single.chmod(0o750)
    given = wanted(tmp_path, files=[(str(single), "here"), (str(folder), "/there")])
    found = files(given)
    assert found[f"{tmp_path}/here"] == (0o750, b"one")
    assert found["/there/deep/file"][1] == b"deep"
    assert found["/there/link"] == (0o777, b"deep/file")
    assert [one.path for one in program_files(given).entries if one.is_link] == ["/there/link"]


def test_init_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(PfmonError, match="/init is what runs the program"):
        program_files(wanted(tmp_path, files=[(str(PROGRAM), "//init/")]))


def test_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(PfmonError, match="none: no such file or directory"):
        program_files(wanted(tmp_path, files=[(str(tmp_path / "none"), "x")]))


@pytest.mark.parametrize(
    ("hosts", "message"),
    [(["none/file"], "--guest-output=.*none/file: no such file or directory"), (["a", "a"], "two files are to be .*a")],
)
def test_output_that_could_not_be_written_is_said_before(tmp_path: Path, hosts: list[str], message: str) -> None:
    outputs = [("/x", str(tmp_path / host)) for host in hosts]
    with pytest.raises(PfmonError, match=message):
        program_files(wanted(tmp_path, outputs=outputs))
    assert not [*tmp_path.iterdir()]


def test_first_program_has_code_and_room_for_data() -> None:
    """What pfmon puts there is in test_program_setup.py; INPUT, OUTPUT and DATA_END are those of init.S."""
    data = first_program()
    parsed = elf.parse(data, "init")
    code, words = parsed.segments
    assert (parsed.entry, code.address, words.address) == (0x40000F << 40, 0x40000F << 40, 0x6 << 60)
    assert not parsed.position_independent
    assert code.offset % 0x10000 == 0
    assert words.memory_size == 0x14000
    assert words.file_size == 0


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


def test_files_of_a_program_that_will_not_fit_are_refused() -> None:
    image = system_image.load("kernel", KERNEL).image
    boot = BootSettings(program=PackedProgram("x", [b"x"], [], "/"))
    with pytest.raises(PfmonError, match=r"the program with its files: 1[0-9]* bytes do not fit .* than 64M"):
        place_initial_files(PhysicalMemory(64 * MB), image, boot, files=1_000_000_000)


def test_archive_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PfmonError, match="do not fit behind the kernel, where 0 are; give more --memory than 8M"):
        place(archive(), tmp_path)
