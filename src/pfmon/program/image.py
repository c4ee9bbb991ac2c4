"""The memory image of a program: segments with their bytes, of the program and of its interpreter."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from typing import NamedTuple

from pfmon.errors import PfmonError, reason
from pfmon.program import elf
from pfmon.program.elf import Elf, Segment
from pfmon.program.elf_machine import EM_IA_64
from pfmon.program.sysroot import Sysroot

# Addresses of position-independent programs and their interpreters on Linux for IA-64 (asm/elf.h).
MAP_BASE = 0x2000_0000_0000_0000
DYNAMIC_BASE = MAP_BASE + 0x8_0000_0000
PAGE_SIZE = 1 << 14
# Addresses of position-independent programs and their interpreters under qemu (docs/dev/engines.md).
QEMU_BASE = 0x40_0000_0000
QEMU_BASE_32 = 0x4000_0000
QEMU_HEAP = 0x200_0000  # bytes left free after a 64-bit position-independent program
QEMU_STACK = 0x80_1000  # the initial stack, of 8 MB, and a page
MAX_FILE_BYTES = 1 << 31


class Image(NamedTuple):
    """One ELF file and the load bias of its addresses. ``symbol_file``: a file with the symbols and lines of a stripped
    one; ``symbol_path``: its name in messages."""

    path: str
    data: bytes
    elf: Elf
    bias: int
    symbol_file: bytes = b""
    symbol_path: str = ""

    @property
    def named_by(self) -> bytes:
        """The contents of the file with its symbols and lines."""
        return self.symbol_file or self.data

    @property
    def lines_path(self) -> str:
        """The name in messages of the file with its lines."""
        return self.symbol_path or self.path

    @property
    def entry(self) -> int:
        """Address of the first instruction."""
        return self.elf.entry + self.bias

    @property
    def program_headers(self) -> int:
        """Address of the program headers in memory, 0 if not loaded."""
        return self.elf.program_headers and self.elf.program_headers + self.bias

    @property
    def end(self) -> int:
        """First address after the last segment."""
        return self.bias + max(s.address + s.memory_size for s in self.elf.segments)

    def segment(self, address: int) -> Segment | None:
        """Return the segment, as linked, that contains an address."""
        linked = address - self.bias
        return next((s for s in self.elf.segments if s.address <= linked < s.address + s.memory_size), None)


class DebugDirectories(NamedTuple):
    """Directories of separate debug files (debug_files.py): ``directories`` are searched before the usual ones."""

    directories: Sequence[str] = ()
    sysroot: str | None = None


NO_DIRECTORIES = DebugDirectories()


class Program(NamedTuple):
    """The files from which a process starts."""

    image: Image
    interpreter: Image | None

    @property
    def images(self) -> list[Image]:
        """Its file, and its interpreter's if it has one."""
        return [self.image] if self.interpreter is None else [self.image, self.interpreter]

    @property
    def entry(self) -> int:
        """The address of the first instruction executed: in the interpreter, if there is one."""
        return (self.interpreter or self.image).entry


def read_file(path: str, executable: bool = True) -> bytes:
    """Return the bytes of a regular file, which must be executable unless ``executable`` is false. Raises
    PfmonError."""
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise PfmonError(f"{path}: is a directory")
        if not stat.S_ISREG(status.st_mode):
            raise PfmonError(f"{path}: is not a regular file")
        if status.st_size > MAX_FILE_BYTES:
            raise PfmonError(f"{path}: is larger than {MAX_FILE_BYTES >> 30} GiB")
        if not os.access(path, os.R_OK):
            raise PfmonError(f"{path}: permission denied")
        # access() grants root everything, but a file without any x bit is not executable
        if executable and not (status.st_mode & 0o111 and os.access(path, os.X_OK)):
            raise PfmonError(f"{path}: is not executable")
        with open(path, "rb") as file:
            return file.read()
    except ValueError:
        raise PfmonError(f"{path!r}: no such file") from None
    except OSError as error:
        raise PfmonError(f"{path}: {reason(error)}") from None


def load(path: str, sysroot: str | None = None, confined: bool = False, content: bytes | None = None) -> Program:
    """Read an executable and, for a dynamic one, its interpreter under the sysroot. ``confined``: the kernel looks for
    that, so that it is there whatever is renamed meanwhile; ``content``: that of the executable, if it is known. Raises
    PfmonError."""
    data = read_file(path) if content is None else content
    parsed = elf.parse(data, path)
    if parsed.machine != EM_IA_64:
        return _on_host(path, data, parsed, sysroot, confined)
    image = _image(path, data, parsed, DYNAMIC_BASE)
    if image.elf.interpreter is None:
        return Program(image, None)
    wanted = image.elf.interpreter
    name = os.fsdecode(wanted)
    if sysroot is None:
        raise PfmonError(f"{path}: is dynamically linked; give --sysroot DIR, the directory that holds its {name!r}")
    if not os.path.isdir(sysroot):
        raise PfmonError(f"{sysroot}: the sysroot is not a directory")
    if confined:
        interpreter_path, data = _read_below(sysroot, wanted, path)
        return Program(image, _image(interpreter_path, data, elf.parse(data, interpreter_path), MAP_BASE))
    root = Sysroot(sysroot)
    host = root.host_path(wanted)
    if not host.startswith(root.directory + b"/") or not os.path.isfile(host):
        raise PfmonError(f"{path}: its interpreter {name!r} is not under {sysroot}")
    interpreter_path = os.fsdecode(host)
    data = read_file(interpreter_path)
    return Program(image, _image(interpreter_path, data, elf.parse(data, interpreter_path), MAP_BASE))


def _read_below(sysroot: str, wanted: bytes, path: str) -> tuple[str, bytes]:
    """The interpreter of the program at ``path``: where it was found, and its bytes. Raises PfmonError."""
    from pfmon.program.root import LOOK, Root, name_of

    try:
        found = Root(os.fsencode(sysroot)).open(wanted, LOOK)
    except OSError:
        raise PfmonError(f"{path}: its interpreter {os.fsdecode(wanted)!r} is not under {sysroot}") from None
    try:
        return os.fsdecode(name_of(found)), read_file(f"/proc/self/fd/{found}")
    finally:
        os.close(found)


def _on_host(path: str, data: bytes, parsed: Elf, sysroot: str | None, confined: bool) -> Program:
    """Return the program with qemu's load addresses; the interpreter is the host's unless the sysroot has it, or the
    program is confined."""
    is_32 = elf.FORMS[parsed.machine].bits == 32
    image = _image(path, data, parsed, QEMU_BASE_32 if is_32 else QEMU_BASE)
    if parsed.interpreter is None:
        return Program(image, None)
    if confined and sysroot is not None:
        host, data = _read_below(sysroot, parsed.interpreter, path)
    else:
        host = _host_interpreter(path, parsed.interpreter, sysroot)
        data = read_file(host)
    interpreter = elf.parse(data, host)
    if is_32:
        base = _interpreter_below(image, interpreter)
    else:
        base = (image.end + 4095 & -4096) + QEMU_HEAP if parsed.position_independent else QEMU_BASE
        base += QEMU_STACK
    return Program(image, _image(host, data, interpreter, base))


def _host_interpreter(path: str, wanted: bytes, sysroot: str | None) -> str:
    """Return the host's path of an interpreter, which may be below the sysroot. PfmonError: there is none."""
    if sysroot is not None:
        inside = os.fsdecode(Sysroot(sysroot).host_path(wanted))
        if os.path.isfile(inside):
            return inside
    if not os.path.isfile(os.fsdecode(wanted)):
        elsewhere = "; give --sysroot DIR" if sysroot is None else f", nor under {sysroot}"
        raise PfmonError(f"{path}: its interpreter {os.fsdecode(wanted)!r} is not here{elsewhere}")
    return os.fsdecode(wanted)


def _interpreter_below(image: Image, interpreter: Elf) -> int:
    """Return qemu's address of a 32-bit program's interpreter: qemu searches for room downwards, from the base, or from
    the mapping there."""
    pages = max(s.address + s.memory_size for s in interpreter.segments) + 4095 & -4096
    return QEMU_BASE_32 - (QEMU_STACK if image.elf.position_independent else 0) - pages


def _image(path: str, data: bytes, parsed: Elf, base: int) -> Image:
    """Return the image of a parsed file; the lowest segment's page of a position-independent one is at base."""
    bias = 0
    if parsed.position_independent:
        lowest = min(s.address for s in parsed.segments) & -PAGE_SIZE
        highest = max(s.address + s.memory_size for s in parsed.segments)
        if highest - lowest > elf.REGION_LIMIT - (base & (elf.REGION_LIMIT - 1)) - PAGE_SIZE:
            raise PfmonError(f"{path}: inconsistent ELF file: segments span {highest - lowest:#x} bytes")
        bias = base - lowest
    return Image(path, data, parsed, bias)
