"""Options of a system image: what runs on the bare processor, and what is there beside it."""

from __future__ import annotations

from collections.abc import Mapping

from pfmon.engine.system_settings import CYCLES, INSTRUCTIONS
from pfmon.errors import BadValueError
from pfmon.library.options import python_values
from pfmon.library.options.kinds import FLAG, TEXT, WORD, converted, number
from pfmon.library.options.option import Kind, Option, Topic, extend, put
from pfmon.library.options.option_values import pattern, size, whole_number
from pfmon.library.options.task_rows import TASKS

MEGABYTE = 1 << 20
LEAST_MEMORY, MOST_MEMORY = 4 * MEGABYTE, 3 << 30
DEFAULT_MEMORY = 512 * MEGABYTE
"""Bytes of physical memory."""
UART_ALIGNMENT = 8
MOST_PROCESSORS = 32
PHYSICAL_ADDRESSES = 1 << 50


def memory(option: str, text: str) -> int:
    """Return a size of physical memory, checked."""
    found = size(option, text)
    if not LEAST_MEMORY <= found <= MOST_MEMORY or found % MEGABYTE:
        raise BadValueError(
            f"--{option}={text}: whole megabytes from {LEAST_MEMORY >> 20}M to {MOST_MEMORY >> 30}G are wanted"
        ).about(f"--{option}")
    return found


def device_address(option: str, text: str) -> int:
    """Return the physical address of a device, checked."""
    found = whole_number(option, text, 0, PHYSICAL_ADDRESSES - UART_ALIGNMENT)
    if found % UART_ALIGNMENT:
        raise BadValueError(f"--{option}={text}: a multiple of {UART_ALIGNMENT} is wanted").about(f"--{option}")
    return found


def time_base(option: str, text: str | None) -> str:
    """Return what the interval timer counts, checked."""
    if text not in (INSTRUCTIONS, CYCLES):
        raise BadValueError(f"--{option}={text}: {INSTRUCTIONS} or {CYCLES} is wanted").about(f"--{option}")
    return text


def _pair(option: str, text: str) -> tuple[str, str]:
    """Return two paths, of which neither is empty."""
    first, equals, second = text.partition("=")
    if not (first and equals and second):
        raise BadValueError(f"--{option}={text}: two paths with = between them are wanted").about(f"--{option}")
    return first, second


def _pairs(option: str, value: object) -> list[tuple[str, str]]:
    """Return pairs of paths: FIRST=SECOND, several of them, or a mapping."""
    if isinstance(value, Mapping):
        given = [f"{python_values.text(option, one)}={python_values.text(option, two)}" for one, two in value.items()]
    else:
        several = [value] if isinstance(value, str) else python_values.several(value)
        given = [python_values.text(option, one) for one in several]
    return [_pair(option, one) for one in given]


PAIRS = Kind(lambda name, text: [_pair(name, text)], _pairs, extend, default=[])
PATTERN = Kind(
    lambda name, text: pattern(name, text or ""),
    lambda name, value: pattern(name, python_values.text(name, value)),
    put,
)
SYSTEM = Topic(
    "system",
    "A whole system, from privilege level 0 on: an IA-64 image, or a Linux kernel with a program",
    [
        Option(
            "system",
            "run a whole system: this ELF file, which is loaded at its physical addresses; a Linux kernel runs PROGRAM",
            WORD,
            "IMAGE",
            keyword=True,
            default="",
        ),
        Option(
            "memory",
            "physical memory of the system (512M; 4M to 3G)",
            converted(memory),
            "SIZE",
            keyword=True,
            default=DEFAULT_MEMORY,
            needs=("a system",),
        ),
        Option(
            "uart",
            "a serial port (8250) at this physical address, behind the memory (a Linux kernel has one anyway)",
            converted(device_address),
            "ADDRESS",
            keyword=True,
            needs=("a system",),
        ),
        Option(
            "itc",
            "what the system's interval timer counts: instructions, or the machine's cycles (instructions)",
            Kind(
                time_base,
                lambda name, value: time_base(name, python_values.text(name, value)),
                put,
                default=INSTRUCTIONS,
            ),
            "instructions|cycles",
            keyword=True,
            needs=("a system",),
        ),
        Option(
            "processors",
            "logical processors of the system, which take turns (1; at most 32)",
            number(1, MOST_PROCESSORS, default=1),
            "N",
            keyword=True,
            needs=("a system",),
        ),
        Option("cmdline", "the command line of a Linux kernel", TEXT, "TEXT", keyword=True, needs=("a system",)),
        Option(
            "initrd",
            "the initial file system of a Linux kernel that runs no PROGRAM: a cpio archive",
            WORD,
            "FILE",
            keyword=True,
            default="",
            needs=("a system",),
        ),
        Option(
            "guest-file",
            "let the PROGRAM of a Linux kernel see this file or directory, at this place",
            PAIRS,
            "HOST=GUEST",
            field="guest_files",
            keyword="guest_files",
            needs=("a system",),
        ),
        Option(
            "guest-output",
            "when the PROGRAM of a Linux kernel has ended, write this file of its system to the host",
            PAIRS,
            "GUEST=HOST",
            field="guest_outputs",
            keyword="guest_outputs",
            needs=("a system",),
        ),
        Option(
            "console",
            "show on standard error what a Linux kernel says that runs a PROGRAM",
            FLAG,
            keyword=True,
            needs=("a system",),
        ),
        Option(
            "exit-on",
            "end the run when a line of a Linux kernel's console matches",
            PATTERN,
            "REGEX",
            keyword=True,
            needs=("a system",),
        ),
        *TASKS,
        Option(
            "snapshot",
            "boot a Linux kernel until it is ready to run a program, write a snapshot of the system, and end",
            WORD,
            "FILE",
            keyword=True,
            default="",
            alone=True,
            needs=("a system",),
        ),
        Option(
            "snapshot-on",
            "take the snapshot when a line of the console matches, of a system that runs no PROGRAM",
            PATTERN,
            "REGEX",
            keyword=True,
            needs=("a system",),
        ),
        Option(
            "from-snapshot",
            "have the system go on from a snapshot, instead of booting, with any PROGRAM",
            WORD,
            "FILE",
            keyword=True,
            default="",
            needs=("a system",),
        ),
    ],
)
TOPICS = (SYSTEM,)
