"""Finds the emulator, the plugin and the library that decodes instructions."""

from __future__ import annotations

import mmap
import os
from functools import cache

from pfmon.engine.qemu.qemu_targets import TARGETS
from pfmon.errors import PfmonError
from pfmon.stream._stream import InstructionSet

INSTALL = "install the package qemu-user (Debian: apt-get install qemu-user)"
VERSIONS = "qemu 7.2 to 10.0"
"""Versions that the plugin was run with: its interface has the versions 1 to 4 there."""
WITH_PLUGINS = "Debian 12's package qemu-user has them, Debian 13's has not (build qemu with --enable-plugins)"
V3 = "+avx,+avx2,+bmi1,+bmi2,+f16c,+fma,+abm,+movbe,+xsave,+rdtscp"
LEVELS = {
    "x86-64-v3": f"Nehalem,model=60,{V3}",
    "zen3": f"Nehalem,vendor=AuthenticAMD,family=25,model=33,stepping=0,{V3}",
}
"""Levels of the instruction set (System V ABI for AMD64, table 3.1) and processors, of which qemu has no model, as a
model and features: the CPUID of the x86_64 engine's."""
BELOW = {"x86-64-v4": "x86-64-v3", "zen4": "zen3"}
"""A level that no qemu executes -> the nearest one below it."""
OF_LISTS = ("x86", "PowerPC")
"""The prefix of each model in qemu 7.2's list."""
QUERIES = ("help", "?")
"""Values of -cpu that make qemu list its models."""


def find(instruction_set: InstructionSet) -> str | None:
    """The path of the emulator for an instruction set."""
    name = f"qemu-{TARGETS[instruction_set].name}"
    for directory in os.get_exec_path():
        path = os.path.join(directory, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def emulator(instruction_set: InstructionSet) -> str:
    """The path of the emulator. PfmonError: it is not installed, or the plugin was not built."""
    path = find(instruction_set)
    if path is None:
        name = TARGETS[instruction_set].name
        raise PfmonError(f"qemu-{name}, which runs such programs, is not installed: {INSTALL}")
    for made in (_beside("plugin.so"), reaper_path()):
        if not os.path.isfile(made):
            raise PfmonError(f"pfmon was built without its plugin for qemu: there is no {made}")
    return path


def version(instruction_set: InstructionSet) -> str:
    """The emulator's name and version, such as "qemu-x86_64 version 7.2.22"; empty where there is none."""
    from subprocess import DEVNULL, run

    path = find(instruction_set)
    if path is None:
        return ""
    asked = run([path, "--version"], stdin=DEVNULL, capture_output=True, check=False)
    lines = os.fsdecode(asked.stdout).splitlines()
    return lines[0].partition(" (")[0] if lines else ""


def cpu_option(cpu: str) -> str:
    """The value of qemu's -cpu for a model of processor, a level of the instruction set among them."""
    model, comma, features = cpu.partition(",")
    return f"{LEVELS.get(model, model)}{comma}{features}"


def check_cpu(path: str, cpu: str) -> None:
    """PfmonError: the emulator has no such processor model. Features may follow it, after commas."""
    from subprocess import DEVNULL, run

    asked = run([path, "-cpu", "help"], stdin=DEVNULL, capture_output=True, check=False)
    lines = os.fsdecode(asked.stdout).partition("\n\n")[0].splitlines()
    known = {words[words[0] in OF_LISTS] for words in map(str.split, lines) if len(words) > (words[0] in OF_LISTS)}
    model = cpu_option(cpu).partition(",")[0]
    if model and (model in QUERIES or (known and model not in known)):
        name = os.path.basename(path)
        there = f"--set qemu.cpu={BELOW[model]} is the nearest" if model in BELOW else f"{name} -cpu help lists them"
        raise PfmonError(f"qemu.cpu = {cpu}: {name} has no such model of a processor; {there}")


@cache
def has_scoreboards(path: str) -> bool:
    """Whether the emulator's plugin interface is version 2 or newer (qemu 9.0): the program is elsewhere then."""
    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as code:
            return code.find(b"qemu_plugin_scoreboard_new") >= 0
    except (OSError, ValueError):
        return False


def one_by_one(path: str) -> str:
    """The emulator's option for blocks of one instruction each, which qemu 8.1 has named anew."""
    return "-one-insn-per-tb" if _knows(path, b"-one-insn-per-tb") else "-singlestep"


def _knows(path: str, option: bytes) -> bool:
    """Whether an emulator's help lists an option."""
    from subprocess import DEVNULL, run

    return option in run([path, "-h"], stdin=DEVNULL, capture_output=True, check=False).stdout


def check_plugins(path: str, name: str) -> None:
    """PfmonError: the emulator was built without plugins."""
    if not _knows(path, b"-plugin"):
        raise PfmonError(f"{name} was built without plugins, which pfmon needs: {WITH_PLUGINS}")


def plugin_path() -> str:
    """The plugin's path as an option of qemu, with commas doubled."""
    return _beside("plugin.so").replace(",", ",,")


def reaper_path() -> str:
    """The program that kills the guest's descendants (reaper.c)."""
    return _beside("reaper")


def _beside(name: str) -> str:
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), name)


def capstone_library() -> str:
    """The path of the library in capstone's package. PfmonError: it is not installed."""
    from importlib.util import find_spec

    found = find_spec("capstone")
    for directory in (found.submodule_search_locations or ()) if found else ():
        path = os.path.join(directory, "lib", "libcapstone.so")
        if os.path.isfile(path):
            return path
    raise PfmonError("capstone, which decodes instructions, is not installed: pip install capstone")
