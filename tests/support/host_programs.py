"""Programs of the host that some tests need: which are here, and how the others come here."""

import os
import platform
import shutil
import subprocess
from collections.abc import Mapping

import pytest

PACKAGES = {
    **dict.fromkeys(("qemu-x86_64", "qemu-i386", "qemu-ppc64", "qemu-ppc64le", "qemu-ppc"), "qemu-user"),
    "cc": "gcc",
    "gdb": "gdb",
    "perf": "linux-perf",
    "valgrind": "valgrind",
    "xz": "xz-utils",
    "cmake": "cmake",
    "curl": "curl",
    "llvm-mc": "llvm",
    "llvm-mca": "llvm",
    "chromium-headless-shell": "chromium-headless-shell",
    "fish": "fish",
    "zsh": "zsh",
}
"""Program -> Debian's package."""

EXHAUSTIVE_PACKAGES = {"qemu-system-x86_64": "qemu-system-x86"}
"""The same for programs that only the tests marked exhaustive need."""

ALL_PACKAGES = {**PACKAGES, **EXHAUSTIVE_PACKAGES}

PERMISSION = "PFMON_TEST_PACKAGES"
"""The variable of the environment that lets the tests install packages, if it is ``install``."""


def missing(packages: Mapping[str, str] = PACKAGES) -> dict[str, str]:
    """The programs that are not here, and their packages."""
    return {program: package for program, package in packages.items() if shutil.which(program) is None}


RUNS_X86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="the host's programs are not x86-64's")
"""Tests so marked run programs of the host as x86-64 programs."""


def needs(*programs: str) -> pytest.MarkDecorator:
    """Tests so marked are skipped where one of these programs is not here."""
    left = missing({program: ALL_PACKAGES[program] for program in programs})
    reason = ", ".join(f"{program} is not here (package {package})" for program, package in left.items())
    return pytest.mark.skipif(bool(left), reason=reason)


def may_install() -> bool:
    """Whether the tests are allowed and able to have packages of Debian's."""
    return os.environ.get(PERMISSION) == "install" and not os.geteuid() and shutil.which("apt-get") is not None


def install(exhaustive: bool = False) -> None:
    """Install what is missing, where that is allowed and possible; tests that need the rest are skipped."""
    packages = sorted(set(missing(ALL_PACKAGES if exhaustive else PACKAGES).values()))
    if not packages or not may_install():
        return
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "-qq", "update"], ["apt-get", "-qq", "install", "--no-install-recommends", *packages]):
        done = subprocess.run([*command, "-y"], env=environment, capture_output=True, timeout=600, check=False)
        if done.returncode:
            return


def header() -> list[str]:
    """What the tests say of it when they begin."""
    left = missing()
    if not left:
        return []
    programs, packages = ", ".join(left), " ".join(sorted(set(left.values())))
    return [f"not here: {programs}; tests that need them are skipped (packages: {packages}; {PERMISSION}=install)"]
