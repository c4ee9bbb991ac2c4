"""The first file system of a kernel that runs a program, and what it gets for the program: this, what it is linked
with, and further files."""

from __future__ import annotations

import os
import stat

from pfmon.atomic_write import check_whole
from pfmon.engine.ia64.system.platform.guest_files import GuestFiles
from pfmon.engine.ia64.system.platform.init_program import first_program
from pfmon.engine.ia64.system.platform.newc_archive import NewcArchive
from pfmon.engine.ia64.system.platform.shared_libraries import libraries
from pfmon.engine.system_settings import PackedProgram
from pfmon.errors import PfmonError, reason
from pfmon.program import elf, image
from pfmon.program.elf_machine import EM_IA_64, machine_name

INIT = "/init"
DIRECTORIES = ("/proc", "/sys", "/dev", "/tmp")
SEARCHED = b"LD_LIBRARY_PATH="
DEVICES = (
    ("/dev/console", 5, 1, 0o600),
    ("/dev/null", 1, 3, 0o666),
    ("/dev/random", 1, 8, 0o666),
    ("/dev/urandom", 1, 9, 0o666),
)


def first_archive() -> bytes:
    """The archive of the first file system, the same for every program."""
    archive = NewcArchive()
    for directory in DIRECTORIES:
        archive.add_directory(directory, 0o1777 if directory == "/tmp" else 0o755)
    for device in DEVICES:
        archive.add_device(*device)
    archive.add_file(INIT, first_program(), 0o755)
    return archive.content()


def program_path(wanted: PackedProgram) -> str:
    """The program's path in the system, which is that of the host."""
    return os.path.abspath(wanted.path)


def program_files(wanted: PackedProgram) -> GuestFiles:
    """What is written for a program. PfmonError: a file cannot be read, or the program is none for IA-64."""
    _check_outputs(wanted)
    files = GuestFiles()
    files.add_directory(wanted.directory)
    for host, guest in wanted.files:
        place = "/" + os.path.normpath(os.path.join(wanted.directory, guest)).lstrip("/")
        if place == INIT:
            raise PfmonError(f"--guest-file={host}={guest}: {INIT} is what runs the program").about("--guest-file")
        _add(files, host, place)
    _add_program(files, wanted, program_path(wanted))
    return files


def _check_outputs(wanted: PackedProgram) -> None:
    """PfmonError: a file that the system is to hand out could not be written, or would be two."""
    hosts = [host for _, host in wanted.outputs]
    for host in hosts:
        if hosts.count(host) > 1:
            raise PfmonError(f"--guest-output: two files are to be {host}").about("--guest-output")
        try:
            check_whole(host)
        except (OSError, ValueError) as error:
            why = reason(error) if isinstance(error, OSError) else "no such file"
            raise PfmonError(f"--guest-output={host}: {why}").about("--guest-output") from None


def _add_program(files: GuestFiles, wanted: PackedProgram, program: str) -> None:
    """Add the program, its interpreter and its libraries."""
    data = image.read_file(wanted.path)
    parsed = elf.parse(data, wanted.path)
    if parsed.machine != EM_IA_64:
        raise PfmonError(f"{wanted.path}: is {machine_name(parsed.machine)} program; the kernel runs IA-64 ones")
    files.add_file(program, data, 0o755, wanted.path)
    if parsed.interpreter is None:
        return
    loaded = image.load(wanted.path, wanted.sysroot, content=data)
    assert loaded.interpreter is not None and wanted.sysroot is not None
    name = os.fsdecode(parsed.interpreter)
    files.add_file(name, loaded.interpreter.data, 0o755, loaded.interpreter.path)
    variables = [one[len(SEARCHED) :] for one in wanted.environment if one.startswith(SEARCHED)]
    searched = [part for one in variables for part in os.fsdecode(one).split(":") if part]
    for guest, host in libraries(program, data, name, wanted.sysroot, searched).items():
        files.add_file(guest, image.read_file(host, executable=False), 0o755, host)


def _add(files: GuestFiles, host: str, guest: str) -> None:
    """Add a file, or a directory with all that is in it."""
    try:
        if os.path.isdir(host):
            files.add_directory(guest, stat.S_IMODE(os.stat(host).st_mode))
            for name in sorted(os.listdir(host)):
                inside = os.path.join(host, name)
                if os.path.islink(inside):
                    files.add_link(f"{guest}/{name}", os.readlink(inside))
                else:
                    _add(files, inside, f"{guest}/{name}")
            return
        content = image.read_file(host, executable=False)
        files.add_file(guest, content, stat.S_IMODE(os.stat(host).st_mode), host)
    except OSError as error:
        raise PfmonError(f"--guest-file={host}: {reason(error)}") from None
