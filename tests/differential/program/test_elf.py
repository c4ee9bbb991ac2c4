"""The ELF loader's front end, against readelf's view of the examples and against damaged files."""

import os
import struct
from pathlib import Path

import pytest
from example_counts import examples
from grids import each
from hypothesis import given
from hypothesis import strategies as st

from pfmon.errors import PfmonError
from pfmon.program import elf, image
from pfmon.program.symbols import SymbolTable

EXAMPLES = Path(__file__).parents[3] / "examples"
FIB = (EXAMPLES / "ia64" / "fib").read_bytes()
PROGRAM_HEADERS = 64  # file offset in every example


def header(kind: int = 2, machine: int = 50, ident: bytes = b"\x02\x01\x01") -> bytes:
    """An ELF header without program headers, packed here on its own."""
    order = ">" if ident[1] == 2 else "<"
    start = b"\x7fELF" + ident + bytes(9)
    return start + struct.pack(order + "HHIQQQIHHHHHH", kind, machine, 1, 0, 64, 0, 0, 64, 56, 0, 0, 0, 0)


def patched(offset: int, layout: str, *values: int) -> bytes:
    data = bytearray(FIB)
    struct.pack_into(layout, data, offset, *values)
    return bytes(data)


def test_example_has_the_segments_that_readelf_shows() -> None:
    # readelf -lW examples/ia64/fib
    parsed = elf.parse(FIB, "fib")
    assert parsed.entry == 0x40000000000002C0
    assert [(s.address, s.file_size, s.memory_size, s.offset, s.flags) for s in parsed.segments] == [
        (0x4000000000000000, 0x1688, 0x1688, 0, 5),
        (0x6000000000001688, 0, 0x3000008, 0x1688, 6),
    ]
    assert parsed.program_headers == 0x4000000000000040
    assert parsed.program_header_count == 3
    assert parsed.interpreter is None


def test_every_ia64_example_loads() -> None:
    for path in sorted((EXAMPLES / "ia64").iterdir()):
        program = image.load(str(path))
        assert program.interpreter is None
        assert program.entry == program.image.elf.entry


@each(
    ("data", "message"),
    [
        (b"", "not an ELF file"),
        (b"#!/bin/sh\n", "not an ELF file"),
        (FIB[:40], "truncated"),
        (FIB[:200], "truncated"),
        (FIB[:0x1000], "truncated"),
        (header(machine=183), "is an AArch64 program"),
        (header(machine=2, ident=b"\x01\x02\x01"), "is a SPARC program"),
        (header(machine=3, ident=b"\x02\x01\x01"), "64-bit i386"),
        (header(machine=3, ident=b"\x01\x02\x01"), "big-endian i386"),
        (header(machine=999), "machine-999"),
        (header(ident=b"\x01\x01\x01"), "32-bit IA-64"),
        (header(machine=62, ident=b"\x01\x01\x01"), "32-bit x86-64"),
        (header(ident=b"\x02\x02\x01"), "big-endian IA-64"),
        (header(ident=b"\x07\x01\x01"), "class 7"),
        (header(kind=1), "relocatable object"),
        (header(kind=4), "core file"),
        (header(), "no program headers"),
        (patched(54, "<H", 32), "program headers of 32 bytes"),
        (patched(24, "<Q", 0x10), "entry point 0x10"),
        (patched(PROGRAM_HEADERS, "<I", 7), "no executable segment|nothing|in no executable"),
        (patched(PROGRAM_HEADERS + 32, "<Q", 0x2000), "truncated"),
        (patched(PROGRAM_HEADERS + 40, "<Q", 0x10), "larger in the file than in memory"),
        (patched(PROGRAM_HEADERS + 16, "<Q", 0xE000000000000000), "outside the user's address space"),
        (patched(PROGRAM_HEADERS + 56 + 40, "<Q", 1 << 60), "outside the user's address space"),
        (patched(PROGRAM_HEADERS + 56 + 16, "<Q", 0x4000000000001000), "overlap"),
        (patched(PROGRAM_HEADERS + 112, "<IIQQQQQ", 3, 4, 10, 0, 0, 1 << 40, 0), "bad interpreter name"),
    ],
)
def test_bad_file_is_named_in_one_line(data: bytes, message: str) -> None:
    with pytest.raises(PfmonError, match=message) as error:
        elf.parse(data, "some/program")
    assert str(error.value).startswith("some/program: ")
    assert "\n" not in str(error.value)


def test_entry_is_where_its_descriptor_points() -> None:
    """The address of _start is that of three words in .opd, and the first is the code's (nm, and readelf -x .opd)."""
    path = EXAMPLES / "ppc64" / "fib"
    parsed = elf.parse(path.read_bytes(), "fib")
    data = path.read_bytes()
    (entry,) = struct.unpack_from(">Q", data, 24)
    data_segment = next(s for s in parsed.segments if s.address <= entry < s.address + s.file_size)
    assert not data_segment.flags & elf.PF_X
    assert parsed.entry == 0x10000250 and parsed.big_endian
    second = bytearray(data)
    second[48:52] = struct.pack(">I", 2)  # version 2 of the ABI: the entry is code
    with pytest.raises(PfmonError, match=f"entry point {entry:#x} is in no executable segment"):
        elf.parse(bytes(second), "fib")


def test_example_of_32_bits_has_the_segments_that_readelf_shows() -> None:
    # readelf -lW examples/i386/fib
    parsed = elf.parse((EXAMPLES / "i386" / "fib").read_bytes(), "fib")
    assert parsed.machine == 3 and not parsed.big_endian
    assert parsed.entry == 0x8049092
    assert [(s.address, s.file_size, s.memory_size, s.offset, s.flags) for s in parsed.segments] == [
        (0x8048000, 0x118, 0x118, 0, 4),
        (0x8049000, 0xC62, 0xC62, 0x1000, 5),
        (0x804A000, 0x12C, 0x12C, 0x2000, 4),
        (0x804B000, 0, 0x3000010, 0, 6),
    ]


@pytest.mark.slow
@examples(200)
@given(
    st.sampled_from([("i386", 52 + 3 * 32), ("ppc64", 64 + 3 * 56)]),
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=12),
)
def test_damaged_headers_of_other_machines_raise_nothing_else(
    example: tuple[str, int], changes: list[tuple[float, int]]
) -> None:
    folder, size = example
    data = bytearray((EXAMPLES / folder / "fib").read_bytes())
    for where, value in changes:
        data[int(where * size)] = value
    try:
        parsed = elf.parse(bytes(data), "x")
    except PfmonError:
        return
    assert all(s.offset + s.file_size <= len(data) and s.file_size <= s.memory_size for s in parsed.segments)


@pytest.mark.slow
@examples(400)
@given(
    st.lists(st.tuples(st.integers(0, 64 + 3 * 56 - 1), st.integers(0, 255)), max_size=12),
    st.integers(0, len(FIB)),
)
def test_damaged_headers_raise_nothing_but_pfmon_error(changes: list[tuple[int, int]], length: int) -> None:
    data = bytearray(FIB)
    for at, value in changes:
        data[at] = value
    for candidate in (bytes(data), bytes(data[:length])):
        try:
            parsed = elf.parse(candidate, "x")
        except PfmonError:
            continue
        for s in parsed.segments:
            assert s.offset + s.file_size <= len(candidate)
            assert s.file_size <= s.memory_size
            assert s.address >> 61 < 5


@pytest.mark.slow
@examples(200)
@given(st.lists(st.tuples(st.integers(0, len(FIB) - 1), st.integers(0, 255)), max_size=40))
def test_damaged_symbols_never_fail(changes: list[tuple[int, int]]) -> None:
    data = bytearray(FIB)
    for at, value in changes:
        data[at] = value
    table = SymbolTable(bytes(data))
    table.nearest(0x40000000000002C0)
    table.find("main")


def test_missing_directory_unexecutable_and_unreadable_files_are_refused(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_bytes(FIB)
    plain.chmod(0o644)
    with pytest.raises(PfmonError, match="is not executable"):
        image.load(str(plain))
    with pytest.raises(PfmonError, match="is a directory"):
        image.load(str(tmp_path))
    with pytest.raises(PfmonError, match="no such file"):
        image.load(str(tmp_path / "missing"))
    with pytest.raises(PfmonError, match="no such file"):
        image.load("a\0b")
    with pytest.raises(PfmonError, match="not a regular file"):
        image.load("/dev/null")


@pytest.mark.skipif(os.getuid() == 0, reason="root reads everything")
def test_unreadable_file_is_refused(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(FIB)
    secret.chmod(0o111)
    with pytest.raises(PfmonError, match="permission denied"):
        image.load(str(secret))


def dynamic(interpreter: bytes) -> bytes:
    """fib as a position-independent program that wants an interpreter; its third header becomes PT_INTERP."""
    data = bytearray(FIB) + interpreter
    struct.pack_into("<H", data, 16, 3)
    for i in range(2):
        at = PROGRAM_HEADERS + 56 * i + 16
        struct.pack_into("<Q", data, at, struct.unpack_from("<Q", data, at)[0] & 0xFFFF | i << 32)
    struct.pack_into("<Q", data, 24, 0x2C0)
    struct.pack_into("<IIQQQQQ", data, PROGRAM_HEADERS + 112, 3, 4, len(FIB), 0, 0, len(interpreter), 0)
    return bytes(data)


def executable(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(0o755)
    return path


def test_dynamic_program_needs_a_sysroot_with_its_interpreter(tmp_path: Path) -> None:
    program = executable(tmp_path / "program", dynamic(b"/lib/ld-linux-ia64.so.2\0"))
    root = tmp_path / "root"
    with pytest.raises(PfmonError, match="--sysroot"):
        image.load(str(program))
    with pytest.raises(PfmonError, match="sysroot is not a directory"):
        image.load(str(program), str(root))
    root.mkdir()
    with pytest.raises(PfmonError, match="not under"):
        image.load(str(program), str(root))
    executable(root / "lib" / "ld-linux-ia64.so.2", dynamic(b"x\0")[: len(FIB)])
    with pytest.raises(PfmonError, match=r"truncated|bad interpreter"):
        image.load(str(program), str(root))


def test_interpreter_and_program_lie_apart_and_execution_starts_in_the_interpreter(tmp_path: Path) -> None:
    program = executable(tmp_path / "program", dynamic(b"/lib/ld.so\0"))
    position_independent = bytearray(dynamic(b"\0\0"))
    struct.pack_into("<I", position_independent, PROGRAM_HEADERS + 112, 4)  # a note instead of PT_INTERP
    executable(tmp_path / "root" / "usr" / "real.so", bytes(position_independent))
    (tmp_path / "root" / "lib").mkdir()
    (tmp_path / "root" / "lib" / "ld.so").symlink_to("/usr/real.so")  # absolute, meant within the sysroot
    loaded = image.load(str(program), str(tmp_path / "root"))
    assert loaded.interpreter is not None
    assert loaded.entry == loaded.interpreter.bias + 0x2C0
    assert loaded.interpreter.bias == 0x2000000000000000
    assert loaded.image.bias == 0x2000000800000000
    assert loaded.image.program_headers == loaded.image.bias + 64
