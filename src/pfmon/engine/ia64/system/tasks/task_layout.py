"""Where a Linux kernel keeps what its tasks are: fields of task_struct, found in the tasks themselves.

The current task is in ar.k6 at every level (Linux, arch/ia64/include/asm/kregs.h: IA64_KR(CURRENT)). Its address is one
of region 7, where the kernel sees physical memory, or one of the image's, the first task's.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from pfmon.engine.system_settings import TaskOffsets
from pfmon.errors import PfmonError
from pfmon.program.image import Image

REGION_SHIFT, IDENTITY_REGION = 61, 7
REGION_BITS = (1 << REGION_SHIFT) - 1
TASK_BYTES = 6144
"""In which the fields are looked for."""
COMM_BYTES = 16
FIRST_NAME = b"swapper"
CHECKED = 4
"""Tasks beside the first one that are looked at: 1, 2, and two more."""


class Memory(Protocol):
    """Physical memory."""

    def read(self, address: int, length: int) -> bytes | None: ...


class TaskFields(NamedTuple):
    """``thread``: Linux' pid of a task, of which a process with several threads has several; ``process``: the number
    of the process (tgid); ``parent``: address of the task that has started it."""

    name: str
    thread: int
    process: int
    parent: int


class KernelMemory:
    """Memory as the kernel sees it: the physical one in region 7, and its image."""

    def __init__(self, memory: Memory, image: Image) -> None:
        self._memory, self._image = memory, image

    def physical(self, address: int) -> int | None:
        """The physical address of one of the kernel's; None: it is in neither place."""
        if address >> REGION_SHIFT == IDENTITY_REGION:
            return address & REGION_BITS
        parts = zip(self._image.elf.segments, self._image.elf.physical, strict=True)
        for segment, start in parts:
            if segment.address <= address < segment.address + segment.memory_size:
                return start + address - segment.address
        return None

    def read(self, address: int, length: int) -> bytes:
        """Bytes, zeros where there is no memory."""
        place = self.physical(address)
        found = None if place is None else self._memory.read(place, length)
        return bytes(length) if found is None else found

    def fields(self, task: int, at: TaskOffsets) -> TaskFields:
        """What a task is now."""
        (thread,) = struct.unpack("<i", self.read(task + at.pid, 4))
        (process,) = struct.unpack("<i", self.read(task + at.tgid, 4))
        (parent,) = struct.unpack("<Q", self.read(task + at.parent, 8))
        comm = self.read(task + at.comm, COMM_BYTES).partition(b"\0")[0]
        return TaskFields(comm.decode("utf-8", "backslashreplace"), thread, process, parent)


def find_offsets(memory: KernelMemory, first: int, others: Sequence[int]) -> TaskOffsets:
    """The offsets of comm, pid, tgid and real_parent. ``first``: address of init_task, whose name is swapper, and which
    is its own parent; ``others``: of those that ran next, among which are 1 and 2. PfmonError: not found."""
    own = memory.read(first, TASK_BYTES)
    comm = own.find(FIRST_NAME)
    if comm < 0 or len(others) < CHECKED:
        raise unknown_layout()
    contents = [memory.read(one, TASK_BYTES) for one in others[:CHECKED]]
    pairs = [at for at in range(0, TASK_BYTES - 16, 4) if _are_numbers(own, contents, at)]
    if len(pairs) != 1:
        raise unknown_layout()
    start = pairs[0] + 15 & -8
    parents = [at for at in range(start, start + 24, 8) if _is_parent(first, own, contents, pairs[0], at)]
    if not parents:
        raise unknown_layout()
    return TaskOffsets(comm, pairs[0], pairs[0] + 4, parents[0])


def check_offsets(memory: KernelMemory, first: int, others: Sequence[int], at: TaskOffsets) -> None:
    """PfmonError: the fields are not there."""
    found = [memory.fields(one, at) for one in (first, *others[:CHECKED])]
    numbers = [one.thread for one in found]
    fits = found[0].name.startswith(FIRST_NAME.decode()) and numbers[0] == 0 and {1, 2} <= set(numbers)
    named = all(one.name and one.name.isprintable() for one in found)
    if not (fits and named and all(one.thread == one.process >= 0 for one in found)):
        raise unknown_layout()


def unknown_layout() -> PfmonError:
    """The error for a kernel of another layout."""
    return PfmonError(
        "the kernel's tasks are not understood: give --task-offsets=COMM,PID,TGID,PARENT, their offsets in task_struct"
    ).about("--task-offsets")


def _are_numbers(own: bytes, others: Sequence[bytes], at: int) -> bool:
    """Whether pid and tgid may be at an offset: 0 in the first task, 1 and 2 and two other numbers in the others, and
    the two are the same in each."""
    if own[at : at + 8] != bytes(8):
        return False
    numbers = [struct.unpack_from("<ii", one, at) for one in others]
    threads = sorted(thread for thread, _ in numbers)
    same = all(thread == process for thread, process in numbers)
    return same and threads[:2] == [1, 2] and 2 < threads[2] < threads[3]


def _is_parent(first: int, own: bytes, others: Sequence[bytes], pid: int, at: int) -> bool:
    """Whether real_parent may be at an offset: the first task's is itself, and that of tasks 1 and 2 as well."""
    early = [one for one in others if struct.unpack_from("<i", one, pid)[0] in (1, 2)]
    return all(struct.unpack_from("<Q", one, at)[0] == first for one in (own, *early))
