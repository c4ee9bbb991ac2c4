"""Breaks that `run` returns for: at level 0 those that are reserved, and at each level the one that a kernel's programs
may use. Others are interruptions."""

import pytest
import system_machine
from ia64_assembly import CODE, assemble

from pfmon.engine.ia64._ia64 import BREAK, SystemProcessor
from pfmon.stream._stream import Consumer

USER, OURS = 0x1F50A4, 0x80001
BREAK_VECTOR = 0x2C00
AT_VECTOR = "adds r9=7,r0"


def machine(immediate: int, level: int, user: int | None) -> SystemProcessor:
    made = system_machine.code([], vectors={BREAK_VECTOR: [AT_VECTOR, f"break.m {OURS:#x}"]})
    made.memory.write(CODE, assemble([f"break.m {immediate:#x}"]))
    made.set_user_break(user)
    made.set_psr(made.psr | level * (1 << 32) | system_machine.IC)
    return made


@pytest.mark.parametrize(
    ("immediate", "level", "user", "returns"),
    [
        (USER, 0, USER, True),
        (USER, 3, USER, True),
        (USER, 3, None, False),
        (OURS, 0, None, True),
        (OURS, 3, None, False),
        (USER + 1, 3, USER, False),
    ],
)
def test_break_is_returned_or_delivered(immediate: int, level: int, user: int | None, returns: bool) -> None:
    made = machine(immediate, level, user)
    assert made.run(Consumer()) == BREAK
    assert (made.fault_info, made.gr(9)) == ((immediate, 0) if returns else (OURS, 7))
