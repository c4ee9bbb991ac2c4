"""Options of Linux kernels: who has them, what their values are. The kernel here is one by its looks alone."""

import gzip
import lzma
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from command import example, pfmon, refused
from elf_images import EM_X86_64, MB, Piece, elf_image
from grids import first_quick
from ia64_assembly import assemble

import pfmon as library
from pfmon.errors import PfmonError
from pfmon.program.system_image import is_linux_kernel

DATA = Path(__file__).resolve().parents[2] / "data" / "engine"
GREETING = str(DATA / "greeting")
PROGRAM = example("noploop")
REGION_5, ENTRY = 0xA000_0001_0000_0000, 4 * MB
TEXT = b"Linux version 6.1.0 (a@b)"


def exit_code(status: int) -> bytes:
    """Simulator call 66: the kernel ends the run with a status."""
    return assemble(["alloc r8=ar.pfs,8,0,0", f"adds r32={status},r0", "adds r15=66,r0", "break.m 0x80001"], ENTRY)


def kernel_image(text: bytes = TEXT, virtual: int = REGION_5, code: bytes = bytes(32)) -> bytes:
    return elf_image(ENTRY, [Piece(code + text, virtual, ENTRY)])


@pytest.fixture
def kernel(tmp_path: Path) -> str:
    path = tmp_path / "vmlinux"
    path.write_bytes(kernel_image())
    return str(path)


LOOKS = [
    ("a kernel", kernel_image(), True),
    ("linked elsewhere", kernel_image(virtual=ENTRY), False),
    ("without a version", kernel_image(b""), False),
    ("of a boot loader's, linked at its place", elf_image(ENTRY, [Piece(TEXT.ljust(32), ENTRY, ENTRY)]), False),
    ("packed by xz", lzma.compress(kernel_image()), True),
    ("packed by gzip", gzip.compress(kernel_image()), True),
]


@pytest.mark.parametrize(("data", "is_one"), [row[1:] for row in LOOKS], ids=[row[0] for row in LOOKS])
def test_kernels_are_known_by_region_and_version(tmp_path: Path, data: bytes, is_one: bool) -> None:
    path = tmp_path / "image"
    path.write_bytes(data)
    assert is_linux_kernel(str(path)) is is_one


def test_changed_image_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "image"
    for data, is_one in ((kernel_image(), True), (kernel_image(b""), False)):
        path.write_bytes(data)
        assert is_linux_kernel(str(path)) is is_one


WITHOUT_KERNEL = ["--cmdline=quiet", "--initrd=x", "--exit-on=x", "--console", "--guest-file=a=b", "--guest-output=a=b"]


@pytest.mark.parametrize("option", first_quick(WITHOUT_KERNEL))
def test_options_of_kernels_need_one(option: str) -> None:
    name = option.split("=")[0]
    assert refused(option, GREETING) == f"pfmon: {name} is about a whole system: give --system=IMAGE too\n"
    message = f"pfmon: {name} is about a Linux kernel, and {GREETING} is none: leave it out\n"
    assert refused("--system", GREETING, option) == message


WITHOUT_PROGRAM = ["--console", "--guest-file=a=b", "--guest-output=a=b", "--sysroot=/", "--env=A=B", "--host-env"]


@pytest.mark.parametrize("option", first_quick(WITHOUT_PROGRAM))
def test_options_of_the_kernel_s_program_need_one(kernel: str, option: str) -> None:
    name = option.split("=")[0]
    message = f"pfmon: {name} is about a program that the kernel runs: give one too\n"
    assert refused("--system", kernel, option) == message


VALUES = [
    ("--guest-file=a", "--guest-file=a: two paths with = between them are wanted"),
    ("--guest-file==a", "--guest-file==a: two paths with = between them are wanted"),
    ("--guest-output=a=", "--guest-output=a=: two paths with = between them are wanted"),
    ("--exit-on=(", "--exit-on=(: missing ), unterminated subpattern at position 0; a regular expression is wanted"),
    ("--uart=0x200000000", "--uart=0x200000000: a kernel's is below 4G"),
    ("--initrd=/none", "/none: no such file or directory"),
    ("--memory=4M", "ends at 0x400039, and the firmware begins at 0x300000; give more --memory than 4M"),
]


@pytest.mark.parametrize(("option", "message"), first_quick(VALUES))
def test_bad_value_is_said(kernel: str, option: str, message: str) -> None:
    assert message in refused("--system", kernel, option)


def test_initial_file_system_is_the_user_s_or_the_program_s(kernel: str) -> None:
    message = "pfmon: --initrd=x: the initial file system is made for the program 'y'; leave one out\n"
    assert refused("--system", kernel, "--initrd=x", "y") == message


def test_command_line_that_is_too_long_is_said(kernel: str) -> None:
    assert "--cmdline: the command line is longer than 2047 bytes" in refused(
        "--system", kernel, "--cmdline", "x" * 2000
    )


def test_append_with_a_value_is_the_command_line(kernel: str) -> None:
    """Without one it adds to --outfile."""
    assert "--append: the command line is longer than" in refused("--system", kernel, f"--append={'x' * 2000}")
    assert refused("--append=x", PROGRAM) == "pfmon: --append is about a whole system: give --system=IMAGE too\n"
    assert "--outfile" in refused("--system", kernel, "--append", PROGRAM)


def test_damaged_image_is_said_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "image.xz"
    path.write_bytes(lzma.compress(kernel_image())[:-20])
    assert refused("--system", str(path), PROGRAM) == f"pfmon: {path}: truncated compressed file\n"


def other_program(folder: Path, kind: str) -> str:
    path = folder / "program"
    if kind == "x86-64":
        path.write_bytes(elf_image(MB, [Piece(bytes(16), MB, MB)], machine=EM_X86_64))
    elif kind == "text":
        path.write_text("#!/bin/sh\n")
    else:
        shutil.copy(PROGRAM, path)
    path.chmod(0o644 if kind == "not executable" else 0o755)
    return "/nonexistent" if kind == "missing" else str(path)


PROGRAMS = [
    ("x86-64", "is an x86-64 program; the kernel runs IA-64 ones"),
    ("text", "not an ELF file"),
    ("not executable", "is not executable"),
    ("missing", "no such file or directory"),
]


@pytest.mark.parametrize(("kind", "message"), PROGRAMS)
def test_program_that_is_none_is_said_in_one_line(kernel: str, tmp_path: Path, kind: str, message: str) -> None:
    program = other_program(tmp_path, kind)
    assert refused("--system", kernel, "--memory=64M", "--", program) == f"pfmon: {program}: {message}\n"


def test_kernel_runs_with_its_program_as_the_command(tmp_path: Path) -> None:
    """It ends at once here; the counts name both."""
    path = tmp_path / "vmlinux"
    path.write_bytes(kernel_image(code=exit_code(5)))
    ran = pfmon("--system", str(path), "--memory=64M", "-e", "ia64_inst_retired", "-k", "--", PROGRAM, "3")
    assert ran.returncode == 5, ran.stderr
    assert "IA64_INST_RETIRED" in ran.stdout
    assert "pfmon: the program has not begun, so that nothing is counted: --from-boot counts the boot\n" in ran.stderr


NOWHERE = [("ld8 r9=[r9]", 0x8000_0000), ("st8 [r9]=r9", 0x8000_0000), ("ld1 r9=[r9]", 1 << 45)]


@pytest.mark.parametrize(("access", "address"), NOWHERE)
def test_access_to_no_memory_and_no_device_is_a_machine_check(tmp_path: Path, access: str, address: int) -> None:
    path = tmp_path / "vmlinux"
    code = assemble([f"movl r9={address:#x}", access, *["nop.m 0"] * 4], ENTRY)
    path.write_bytes(kernel_image(code=code))
    ran = pfmon("--system", str(path), "--memory=64M", "-e", "ia64_inst_retired", "-k", "--", PROGRAM)
    assert ran.returncode == 125
    assert re.fullmatch(r"pfmon: machine check: .*, at 0x40001[01]( \(.*\))?\n", ran.stderr), ran.stderr


@pytest.mark.parametrize("files", [["a=/x"], "a=/x", {"a": "/x"}])
def test_library_runs_kernels_with_programs(tmp_path: Path, files: Sequence[str]) -> None:
    path = tmp_path / "vmlinux"
    path.write_bytes(kernel_image(code=exit_code(6)))
    given = {"system": str(path), "memory": "64M", "cmdline": "quiet", "events": ["ia64_inst_retired"]}
    with pytest.raises(PfmonError, match="a: no such file or directory"):
        library.run([PROGRAM], guest_files=files, **given)
    assert library.run([PROGRAM], console=True, **given).status == 6
    assert library.run((), exit_on="x", **given).status == 6


def test_help_has_the_options() -> None:
    done = pfmon("--help", "system")
    for option in ("--cmdline", "--initrd", "--guest-file", "--guest-output", "--console", "--exit-on"):
        assert option in done.stdout
