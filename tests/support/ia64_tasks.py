"""Programs for IA-64 that begin threads and processes, in assembler.

Memory is laid out by name (`Data`); general registers 4 to 7 and the branch registers 1 to 5 are a thread's own across
system calls, whose results are in r8 and r10.
"""

import struct
from collections.abc import Sequence
from pathlib import Path

from ia64_program import DATA, write_program

from pfmon.engine.linux.abi.ia64.syscall_numbers import NUMBERS

THREAD = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000  # CLONE_VM, _FS, _FILES, _SIGHAND, _THREAD
TIDS = 0x100000 | 0x200000  # CLONE_PARENT_SETTID, CLONE_CHILD_CLEARTID
SIGCHLD = 17
STACK = 2048
FUTEX_WAIT, FUTEX_WAKE = 0x80, 0x81


class Data:
    """Named places in the program's data segment."""

    def __init__(self) -> None:
        self.bytes = b""
        self.at: dict[str, int] = {}

    def add(self, name: str, content: bytes, alignment: int = 8) -> int:
        """The address of these bytes."""
        self.bytes += bytes(-len(self.bytes) % alignment)
        self.at[name] = DATA + len(self.bytes)
        self.bytes += content
        return self.at[name]


def call(name: str, *arguments: int | str) -> list[str]:
    """A system call; an argument may be a register."""
    lines = ["alloc r31=ar.pfs,8,0,0"]
    for number, value in enumerate(arguments):
        lines.append(f"adds r{32 + number}=0,{value}" if isinstance(value, str) else f"movl r{32 + number}={value}")
    return [*lines, f"addl r15={NUMBERS[name]},r0", "break.m 0x100000"]


def exit_with(register: str) -> list[str]:
    """exit_group with what a register holds."""
    return call("exit_group", register)


def lock(name: str, address: int) -> list[str]:
    """Take a mutex of one word: 0 free, 1 taken, 2 taken and waited for (U. Drepper, Futexes are tricky, mutex 2)."""
    return [
        f"movl r16={address}",
        "addl r17=1,r0",
        "mov.m ar.ccv=r0",
        "cmpxchg4.acq r18=[r16],r17,ar.ccv",
        "cmp4.eq p6,p7=r18,r0",
        f"(p6) br.cond.sptk.few {name}_taken",
        f"{name}_contended:",
        f"movl r16={address}",
        "addl r17=2,r0",
        "xchg4 r18=[r16],r17",
        "cmp4.eq p6,p7=r18,r0",
        f"(p6) br.cond.sptk.few {name}_taken",
        *call("futex", address, FUTEX_WAIT, 2, 0),
        f"br.cond.sptk.few {name}_contended",
        f"{name}_taken:",
    ]


def unlock(name: str, address: int) -> list[str]:
    """Give it back, and wake one who waits for it."""
    return [
        f"movl r16={address}",
        "fetchadd4.rel r18=[r16],-1",
        "cmp4.eq p6,p7=1,r18",
        f"(p6) br.cond.sptk.few {name}_given",
        "st4.rel [r16]=r0",
        *call("futex", address, FUTEX_WAKE, 1),
        f"{name}_given:",
    ]


def add_one(address: int, steps: int = 40) -> list[str]:
    """Increment a word with a load and a store, which are in different blocks: others may run between them."""
    return [f"movl r16={address}", "ld8 r17=[r16]", *["nop.m 0"] * steps, "adds r17=1,r17", "st8 [r16]=r17"]


def join_all(tids: Sequence[int]) -> list[str]:
    """Wait until the kernel has cleared the words of all threads."""
    lines: list[str] = []
    for number, tid in enumerate(tids):
        lines += [
            f"join_{number}:",
            f"movl r16={tid}",
            "ld4 r4=[r16]",
            "cmp4.eq p6,p7=r4,r0",
            f"(p6) br.cond.sptk.few joined_{number}",
            *call("futex", tid, FUTEX_WAIT & 0x7F, "r4", 0),
            f"br.cond.sptk.few join_{number}",
            f"joined_{number}:",
        ]
    return lines


def threads(path: Path, count: int, worker: Sequence[str], result: int, data: Data) -> Path:
    """A program whose ``count`` threads execute ``worker``, with their number in r4; its output is the 8 bytes at
    ``result`` when they have ended."""
    tids = [data.add(f"tid_{number}", bytes(4), 4) for number in range(count)]
    stacks = data.add("stacks", bytes(count * STACK), 16)
    lines: list[str] = []
    for number, tid in enumerate(tids):
        lines += [
            f"addl r4={number},r0",
            *call("clone2", THREAD | TIDS, stacks + number * STACK, STACK, tid, tid, 0),
            "cmp.eq p6,p7=r8,r0",
            "(p6) br.cond.sptk.few worker",
        ]
    lines += [*join_all(tids), *call("write", 1, result, 8), *call("exit_group", 0)]
    return write_program(path, [*lines, "worker:", *worker, *call("exit", 0)], data.bytes)


def counting(path: Path, count: int, rounds: int) -> tuple[Path, int]:
    """Threads that increment a word under a mutex, and another one atomically; the first has to end with this value."""
    data = Data()
    mutex, word = data.add("mutex", bytes(4), 4), data.add("word", bytes(8))
    worker = [
        f"addl r5={rounds},r0",
        "again:",
        *lock("mutex", mutex),
        *add_one(word),
        *unlock("mutex", mutex),
        "adds r5=-1,r5",
        "cmp.eq p6,p7=r5,r0",
        "(p7) br.cond.sptk.few again",
    ]
    return threads(path, count, worker, word, data), count * rounds


def meeting(path: Path, count: int, rounds: int) -> tuple[Path, int]:
    """Threads that meet at a barrier again and again: each adds to the word of the round; the last to come wakes the
    others. One that comes too early would find the wrong word. The first round's check is the sum."""
    data = Data()
    mutex, arrived = data.add("mutex", bytes(4), 4), data.add("arrived", bytes(8))
    generation, total = data.add("generation", bytes(4), 4), data.add("total", bytes(8))
    worker = [
        f"addl r5={rounds},r0",
        "again:",
        *lock("enter", mutex),
        f"movl r16={generation}",
        "ld4 r6=[r16]",
        *add_one(total),
        *add_one(arrived),
        f"addl r18={count},r0",
        "cmp.eq p6,p7=r17,r18",
        "(p7) br.cond.sptk.few wait",
        f"movl r16={arrived}",
        "st8 [r16]=r0",
        f"movl r16={generation}",
        "adds r6=1,r6",
        "st4 [r16]=r6",
        *unlock("last", mutex),
        *call("futex", generation, FUTEX_WAKE, 1 << 30),
        "br.cond.sptk.few passed",
        "wait:",
        *unlock("not_last", mutex),
        "sleep:",
        f"movl r16={generation}",
        "ld4 r7=[r16]",
        "cmp4.eq p6,p7=r6,r7",
        "(p7) br.cond.sptk.few passed",
        *call("futex", generation, FUTEX_WAIT, "r6", 0),
        "br.cond.sptk.few sleep",
        "passed:",
        "adds r5=-1,r5",
        "cmp.eq p6,p7=r5,r0",
        "(p7) br.cond.sptk.few again",
    ]
    return threads(path, count, worker, total, data), count * rounds


def fork(child: Sequence[str], parent: Sequence[str]) -> list[str]:
    """clone(SIGCHLD): both sides."""
    return [
        *call("clone2", SIGCHLD, 0, 0, 0, 0, 0),
        "cmp.eq p6,p7=r8,r0",
        "(p6) br.cond.sptk.few child",
        *parent,
        "child:",
        *child,
    ]


def number(output: bytes | None) -> int:
    """What `threads` writes."""
    assert output is not None
    return int(struct.unpack("<Q", output)[0])
