"""A program that counts what it starts by perf_event_open, as perf stat does: the counts are those of pfmon."""

import struct
from pathlib import Path

import pytest
from command import example
from ia64_program import write_program
from ia64_tasks import Data, call, fork
from perf_calls import DISABLED, EXCLUDE_KERNEL, INHERIT, RAW, attribute

import pfmon

ENABLE_ON_EXEC = 1 << 12
MINUS_ONE = (1 << 64) - 1


def tool(path: Path, command: list[str], attributes: list[bytes]) -> Path:
    """A program that counts a command, in a child that waits on a pipe until its events are there, and writes what they
    came to: 8 bytes each."""
    data = Data()
    words = [data.add(f"word_{number}", word.encode() + b"\0") for number, word in enumerate(command)]
    arguments = data.add("arguments", struct.pack(f"<{len(words) + 1}Q", *words, 0))
    ends, buffer = data.add("ends", bytes(8)), data.add("buffer", bytes(64))
    lines = [*call("pipe2", ends, 0), f"movl r16={ends}", "ld4 r5=[r16],4", "ld4 r6=[r16]"]
    child = [*call("close", "r6"), *call("read", "r5", buffer, 1), *call("close", "r5"), *call("close", 1)]
    child += [*call("execve", words[0], arguments, arguments + 8 * len(words)), *call("exit_group", 99)]
    parent = ["adds r7=0,r8", *call("close", "r5")]  # so that the first event is 3 again, the next 5
    for number, one in enumerate(attributes):
        parent += call("perf_event_open", data.add(f"attribute_{number}", one), "r7", MINUS_ONE, MINUS_ONE, 0)
    parent += [*call("close", "r6"), *call("wait4", "r7", buffer, 0, 0)]
    for fd in (3, 5)[: len(attributes)]:
        parent += [*call("read", fd, buffer, 8), *call("write", 1, buffer, 8)]
    parent += call("exit_group", 0)
    return write_program(path, [*lines, *fork(child, parent)], data.bytes)


@pytest.mark.parametrize("guest_pmu", [True, "exact"])
def test_a_command_that_a_tool_starts(tmp_path: Path, guest_pmu: str | bool) -> None:
    command = [example("fib"), "12"]
    flags = DISABLED | EXCLUDE_KERNEL | ENABLE_ON_EXEC | INHERIT
    names = ["IA64_INST_RETIRED", "CPU_CYCLES" if guest_pmu is True else "NOPS_RETIRED"]
    events = [pfmon.pmu("itanium2").events[name] for name in names]
    attributes = [attribute(RAW, one.code | one.umask << 8, flags=flags) for one in events]
    program = tool(tmp_path / "tool", command, attributes)
    done = pfmon.run(str(program), guest_pmu=guest_pmu, capture=True)
    assert (done.status, done.notes) == (0, ())
    assert done.output is not None
    outside = pfmon.run(command, events=names, capture=True)
    instructions, other = struct.unpack("<2Q", done.output)
    wanted, other_wanted = (count.value for count in outside.counts)
    assert instructions == wanted
    # The two stacks hold other texts, and so lie in other lines of the caches.
    assert other == (pytest.approx(other_wanted, rel=0.02) if guest_pmu is True else other_wanted)


def test_what_a_command_starts_is_counted_with_it(tmp_path: Path) -> None:
    """Two levels of children, by inheritance: as with --follow-all."""
    inner = tool(tmp_path / "inner", [example("fib"), "10"], [])
    flags = DISABLED | EXCLUDE_KERNEL | ENABLE_ON_EXEC | INHERIT
    event = pfmon.pmu("itanium2").events["IA64_INST_RETIRED"]
    outer = tool(tmp_path / "outer", [str(inner)], [attribute(RAW, event.code, flags=flags)])
    done = pfmon.run(str(outer), guest_pmu="exact", capture=True)
    assert done.output is not None
    alone = pfmon.run(str(inner), events="IA64_INST_RETIRED", follow_all=True, capture=True)
    assert struct.unpack("<Q", done.output) == (alone.counts[0].value,)
