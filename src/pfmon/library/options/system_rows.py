"""Options of a system image: what runs on the bare processor, and what is there beside it."""

from __future__ import annotations

from pfmon.engine.system_settings import CYCLES, INSTRUCTIONS
from pfmon.errors import BadValueError
from pfmon.library.options import python_values
from pfmon.library.options.kinds import WORD, converted
from pfmon.library.options.option import Kind, Option, Topic, put
from pfmon.library.options.option_values import size, whole_number

MEGABYTE = 1 << 20
LEAST_MEMORY, MOST_MEMORY = 4 * MEGABYTE, 3 << 30
DEFAULT_MEMORY = 512 * MEGABYTE
"""Bytes of physical memory."""
UART_ALIGNMENT = 8
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


SYSTEM = Topic(
    "system",
    "A whole system: an IA-64 image on the bare processor, from privilege level 0 on",
    [
        Option(
            "system",
            "run a whole system: this ELF file, which is loaded at its physical addresses",
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
            "a serial port (8250) at this physical address, behind the memory: standard input and output",
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
    ],
)
TOPICS = (SYSTEM,)
