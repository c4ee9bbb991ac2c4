"""Loads a program: its segments, its stack, and the kernel's additions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pfmon.engine.guest_memory import GuestMemoryLimit, Memory
from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.linux.abi.linux_abi import LinuxAbi
from pfmon.errors import LostError, PfmonError, reason
from pfmon.program import initial_stack
from pfmon.program.elf import PF_R, PF_W, PF_X, PROGRAM_HEADER
from pfmon.program.image import Image, Program
from pfmon.program.initial_stack import InitialStack

PROT_READ, PROT_WRITE, PROT_EXEC = 1, 2, 4


def protection(flags: int) -> int:
    """Page protection for segment flags. Writable pages are readable."""
    return (
        (PROT_READ if flags & (PF_R | PF_W) else 0)
        | (PROT_WRITE if flags & PF_W else 0)
        | (PROT_EXEC if flags & PF_X else 0)
    )


def map_image(memory: Memory, image: Image, abi: LinuxAbi[Any]) -> None:
    """Map the segments of a file. A page shared by two segments has the rights of both."""
    page = memory.page_size
    content = memoryview(image.data)
    mapped_to, last = 0, 0
    for s in sorted(image.elf.segments):
        start = s.address + image.bias
        low, high = start & -page, (start + s.memory_size + page - 1) & -page
        rights = protection(s.flags)
        if not abi.in_user_space(low, high - low):
            raise PfmonError(f"{image.path}: segment at {start:#x} is outside the user's address space")
        if low < mapped_to:
            memory.protect(low, mapped_to - low, rights | last)
            low = mapped_to
        if low < high:
            if memory.is_mapped(low, 1) or memory.find_free(high - low, low, high) is None:
                raise PfmonError(f"{image.path}: segment at {start:#x} does not fit into the address space")
            memory.map(low, high - low, rights)
        memory.write_initial(start, content[s.offset : s.offset + s.file_size])
        mapped_to, last = max(high, mapped_to), rights


def auxiliary_vector(
    program: Program, page_size: int, ids: tuple[int, int], abi: LinuxAbi[Any]
) -> list[tuple[int, int]]:
    """The pairs that Linux passes, without those that point into the stack."""
    image, (user, group) = program.image, ids
    return [
        *abi.auxiliary,
        (initial_stack.AT_PAGESZ, page_size),
        (initial_stack.AT_CLKTCK, abi.clock_ticks),
        (initial_stack.AT_PHDR, image.program_headers),
        (initial_stack.AT_PHENT, PROGRAM_HEADER.size),
        (initial_stack.AT_PHNUM, image.elf.program_header_count),
        (initial_stack.AT_BASE, program.interpreter.bias if program.interpreter else 0),
        (initial_stack.AT_FLAGS, 0),
        (initial_stack.AT_ENTRY, image.entry),
        (initial_stack.AT_UID, user),
        (initial_stack.AT_EUID, user),
        (initial_stack.AT_GID, group),
        (initial_stack.AT_EGID, group),
        (initial_stack.AT_SECURE, 0),
    ]


def load(
    memory: Memory,
    program: Program,
    arguments: Sequence[bytes],
    environment: Sequence[bytes],
    settings: GuestSettings,
    ids: tuple[int, int],
    random: bytes,
    abi: LinuxAbi[Any],
) -> InitialStack:
    """Fill the address space. Raises PfmonError when the program does not fit."""
    page = memory.page_size
    name = program.image.path
    try:
        for image in program.images:
            map_image(memory, image, abi)
        size = settings.stack_size
        memory.map(abi.layout.stack_top - size, size, PROT_READ | PROT_WRITE)
        abi.map_additions(memory, settings)
    except MemoryError as error:
        raise LostError(f"{name}: the host has no memory for it: {reason(error)}") from None
    except GuestMemoryLimit as error:
        raise PfmonError(f"{name}: needs more memory than programs get: {error}") from None
    vector = auxiliary_vector(program, page, ids, abi)
    first = initial_stack.build(
        abi.layout.stack_top, arguments, environment, vector, name.encode("utf-8", "surrogateescape"), random
    )
    memory.write_initial(first.address, first.data)
    return first
