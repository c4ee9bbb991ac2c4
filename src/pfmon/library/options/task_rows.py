"""Options of a Linux kernel's tasks and symbols: whom of a system a run counts."""

from __future__ import annotations

import re
from collections.abc import Callable

from pfmon.engine.system_settings import TaskOffsets
from pfmon.errors import BadValueError
from pfmon.library.options import python_values
from pfmon.library.options.kinds import FLAG, TEXT, WORD
from pfmon.library.options.option import Kind, Option, put
from pfmon.library.options.option_values import whole_number

LIST = re.compile(r"\d+(-\d+)?(,\d+(-\d+)?)*")
MOST_PROCESSORS = 32
OFFSETS_BYTES = 1 << 14


def processor_list(option: str, text: str) -> tuple[int, ...]:
    """Return the numbers of a list such as 0,2-3, checked."""
    if not LIST.fullmatch(text):
        raise BadValueError(f"--{option}={text}: numbers of processors are wanted, as in 0,2-3").about(f"--{option}")
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        low = whole_number(option, first, 0, MOST_PROCESSORS - 1, text)
        found |= set(range(low, whole_number(option, last or first, low, MOST_PROCESSORS - 1, text) + 1))
    return tuple(sorted(found))


def task_offsets(option: str, text: str) -> TaskOffsets:
    """Return four offsets, checked."""
    parts = text.split(",")
    if len(parts) != len(TaskOffsets._fields):
        raise BadValueError(f"--{option}={text}: four offsets are wanted: COMM,PID,TGID,PARENT").about(f"--{option}")
    return TaskOffsets(*(whole_number(option, part, 0, OFFSETS_BYTES, text) for part in parts))


def _parsed(parse: Callable[[str, str], object]) -> Kind:
    """A text that is parsed; without a default."""
    return Kind(
        lambda name, text: parse(name, text or ""),
        lambda name, value: parse(name, python_values.text(name, value)),
        put,
        default=None,
    )


TASKS = [
    Option(
        "sysmap-file",
        "take the symbols of a Linux kernel from its System.map, when its image has none",
        WORD,
        "FILE",
        keyword=True,
        default="",
        needs=("a system",),
    ),
    Option(
        "from-boot",
        "count a Linux kernel from its first instruction to its last, and not only while its PROGRAM runs",
        FLAG,
        keyword=True,
        needs=("a system",),
        qualifies=True,
    ),
    Option(
        "task",
        "count the tasks of a Linux kernel with this name or pid alone; program: those of PROGRAM",
        TEXT,
        "NAME|PID|program",
        keyword=True,
        needs=("a system",),
        qualifies=True,
    ),
    Option(
        "per-task", "split the counts by task of a Linux kernel", FLAG, keyword=True, needs=("a system",), alone=True
    ),
    Option(
        "per-processor",
        "split the counts by processor of the system",
        FLAG,
        keyword=True,
        needs=("a system",),
        alone=True,
    ),
    Option(
        "cpu-list",
        "count on these processors of the system alone (0,2-3)",
        _parsed(processor_list),
        "LIST",
        keyword=True,
        needs=("a system",),
        qualifies=True,
    ),
    Option(
        "task-offsets",
        "where a Linux kernel has comm, pid, tgid and real_parent in task_struct, if pfmon does not find them",
        _parsed(task_offsets),
        "COMM,PID,TGID,PARENT",
        keyword=True,
        needs=("a system",),
    ),
]
