"""What gcc and clang are told differently when pfmon is built. ``zig cc`` is a clang whose linker is lld."""

from __future__ import annotations

import os
import shlex
import subprocess
import sysconfig
from typing import NamedTuple


class CompilerOptions(NamedTuple):
    """Options of a compiler."""

    unoptimised: str
    """Attributes of a function that is not optimised."""
    runtime: tuple[str, ...]
    """For the runtime of the x86_64 engine: it leaves vector registers alone, and its loops are no calls of memset."""
    linker: tuple[str, ...]
    """For linking the runtime: static, and position-independent."""


GCC = CompilerOptions("optimize(0)", ("-mgeneral-regs-only", "-fno-tree-loop-distribute-patterns"), ("-static-pie",))
CLANG = CompilerOptions(
    "optnone,noinline", ("-mno-mmx", "-mno-sse", "-mno-sse2"), ("-static-pie", "-static", "-pie", "-fuse-ld=lld")
)
"""zig cc has neither -mgeneral-regs-only nor -static-pie, and does not say so."""


def compiler_options() -> CompilerOptions:
    """Options of the compiler that CC names, else of Python's own. One that is missing is reported when it is used."""
    command = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    try:
        told = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return GCC
    return CLANG if "clang" in told else GCC
