"""Hosts with other processors, played by qemu-system-x86_64: commands run there under a kernel of Debian's.

A played host has the files of this one, read-only, and the processor that it is given (``-cpu`` of qemu).
"""

import gzip
import lzma
import os
import re
import shlex
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).with_name("played_host.c")
MODULES = ("virtio_pci", "9pnet_virtio", "9p")
"""Modules of the kernel by which it reaches this host's files; others that these need load before them."""
MODULE_FOLDERS = ("drivers/virtio", "net/9p", "fs/9p", "fs/netfs", "fs/fscache")
"""Where they are."""
KERNEL_PACKAGE = "linux-image-amd64"
SECONDS = 900
"""Longest time of a played host. It takes about 20 s to start, and runs 20 to 60 times slower than this one."""


class Kernel(NamedTuple):
    """A kernel, and the modules of it that a played host loads, in their order."""

    image: Path
    modules: tuple[bytes, ...]


class Ran(NamedTuple):
    """What a command has done on a played host."""

    status: int
    out: str
    err: str


def kernel_in(root: Path) -> Kernel | None:
    """A kernel that is installed, or unpacked, there."""
    for image in sorted((root / "boot").glob("vmlinuz-*"), reverse=True):
        folder = root / "lib" / "modules" / image.name.removeprefix("vmlinuz-") / "kernel"
        found = {path.name.partition(".")[0]: path for path in folder.rglob("*.ko*")}
        if os.access(image, os.R_OK) and set(MODULES) <= found.keys():
            return Kernel(image, tuple(with_needed(MODULES, found).values()))
    return None


def with_needed(names: Iterable[str], found: Mapping[str, Path]) -> dict[str, bytes]:
    """These modules, each behind those that it needs, as their section .modinfo says."""
    made: dict[str, bytes] = {}
    for name in names:
        data = module_bytes(found[name])
        needed = re.search(rb"\0depends=([\w,-]*)\0", data)
        made |= with_needed(needed[1].decode().split(",") if needed and needed[1] else (), found)
        made[name] = data
    return made


def module_bytes(path: Path) -> bytes:
    """A module as the kernel loads it."""
    return lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()


def download_kernel(folder: Path) -> Kernel | None:
    """Debian's kernel, from its package, in that folder: nothing of this host's own kernel changes."""
    depends = said(folder, "apt-cache", "depends", KERNEL_PACKAGE)
    package = next((line.split()[-1] for line in depends.splitlines() if "Depends: linux-image" in line), None)
    if package is None:
        return None
    said(folder, "apt-get", "-qq", "download", package)
    wanted = shlex.join(["*/boot/vmlinuz-*", *(f"*/kernel/{place}/*" for place in MODULE_FOLDERS)])
    for archive in folder.glob("*.deb"):
        said(folder, "sh", "-c", f"dpkg-deb --fsys-tarfile {archive.name} | tar -x --wildcards {wanted}")
        archive.unlink()
    return kernel_in(folder)


def said(folder: Path, *command: str) -> str:
    """Standard output of a command that runs in that folder."""
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False).stdout


def packed(files: Mapping[str, bytes]) -> bytes:
    """An archive of files and folders (b"") for the kernel to begin with: cpio's format newc (cpio(5)), compressed."""
    parts = []
    for name, data in {**files, "TRAILER!!!": b""}.items():
        mode = 0o100755 if data else 0o040755
        numbers = (len(parts), mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        head = b"070701" + b"".join(b"%08X" % number for number in numbers) + name.encode() + b"\0"
        parts += [head, bytes(-len(head) % 4), data, bytes(-len(data) % 4)]
    return gzip.compress(b"".join(parts), compresslevel=1)


def make_initramfs(kernel: Kernel, folder: Path) -> Path:
    """What the kernel begins with: its modules and the first process."""
    program, made = folder / "init", folder / "initramfs"
    subprocess.run(["cc", "-O1", "-static", "-o", program, SOURCE], check=True)
    modules = {f"modules/{at:02}": module for at, module in enumerate(kernel.modules)}
    made.write_bytes(packed({"init": program.read_bytes(), "modules": b"", **modules}))
    return made


def script(commands: Sequence[Sequence[str]], folder: Path) -> str:
    """The shell's commands that run these at the root, each with its results in files of that folder."""
    lines = ["cd /", "export TMPDIR=/dev/shm PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/ PYTHONDONTWRITEBYTECODE=1"]
    for at, command in enumerate(commands):
        result = shlex.quote(str(folder / str(at)))
        lines.append(f"{shlex.join(command)} > {result}.out 2> {result}.err < /dev/null; echo $? > {result}.status")
    return "\n".join([*lines, ""])


def run_here(commands: Sequence[Sequence[str]], folder: Path) -> list[Ran]:
    """What these commands do on this host. The folder is theirs."""
    (folder / "commands").write_text(script(commands, folder))
    subprocess.run(["/bin/sh", folder / "commands"], env={}, timeout=SECONDS, check=True)
    return [result_in(folder, at) for at in range(len(commands))]


def play(cpu: str, commands: Sequence[Sequence[str]], kernel: Kernel, folder: Path) -> list[Ran]:
    """What these commands do on a host with that processor. The folder is theirs."""
    (folder / "commands").write_text(script(commands, folder))
    initramfs = make_initramfs(kernel, folder)
    shared = "local,security_model=none,multidevs=remap"
    console = folder / "console"
    subprocess.run(
        [
            *("qemu-system-x86_64", "-accel", "tcg", "-cpu", cpu, "-m", "2048", "-nodefaults", "-display", "none"),
            *("-no-reboot", "-serial", f"file:{console}", "-kernel", str(kernel.image), "-initrd", str(initramfs)),
            *("-virtfs", f"{shared},path=/,mount_tag=root,readonly=on"),
            *("-virtfs", f"{shared},path={folder},mount_tag=folder"),
            *("-append", f"console=ttyS0 quiet panic=-1 -- {folder}"),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=SECONDS,
        check=True,
    )
    assert (folder / f"{len(commands) - 1}.status").exists(), console.read_text(errors="replace")
    return [result_in(folder, at) for at in range(len(commands))]


def result_in(folder: Path, at: int) -> Ran:
    """What a command has left there."""
    status, out, err = ((folder / f"{at}.{kind}").read_text() for kind in ("status", "out", "err"))
    return Ran(int(status), out, err)
