"""Triggers that start and stop at the same function: its calls, each from its entry to its return, against a log of the
program's calls and returns."""

from pathlib import Path

import pytest
from call_log import PROGRAMS, log
from host_programs import needs
from qemu_guests import ASSEMBLER, assemble

import pfmon
from pfmon.library.preparing.symbol_lookup import symbols_of
from pfmon.program import image

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "ia64"
EVENT = "ia64_inst_retired"


def address_of(program: str, function: str) -> int:
    loaded = image.load(str(EXAMPLES / program))
    return symbols_of(lambda: loaded).code(function)[0]


def calls_of(program: str, function: str) -> list[int]:
    """Instructions of each call that is not within another one of the function."""
    begin, found = address_of(program, function), []
    inside = -1
    for address, calls in log(program):
        if inside >= 0 and len(calls) < inside:
            inside = -1
        if inside < 0 and address == begin:
            inside = len(calls)
            found.append(0)
        if inside >= 0:
            found[-1] += 1
    return found


def counted(program: str, function: str, **options: object) -> pfmon.Run:
    return pfmon.run(
        [str(EXAMPLES / program), *PROGRAMS[program]],
        stdout=pfmon.DEVNULL,
        **{
            "events": EVENT,
            "trigger_code_start_addresses": function,
            "trigger_code_stop_addresses": function,
            **options,
        },
    )


@pytest.mark.parametrize(
    ("program", "function"), [("fib", "fib"), ("queens", "place"), ("hashmap", "lookup"), ("hashmap", "main")]
)
def test_each_call_counts_to_its_return(program: str, function: str) -> None:
    calls = calls_of(program, function)
    assert counted(program, function).counts[0].value == sum(calls) > 0
    assert counted(program, function, trigger_code_repeat=True).counts[0].value == sum(calls)


def test_calls_count_alike_on_the_machine_and_in_samples() -> None:
    calls = calls_of("hashmap", "lookup")
    run = counted("hashmap", "lookup", events=f"{EVENT},cpu_cycles")
    assert run.counts[0].value == sum(calls) and 0 < run.counts[1].value < 6 * sum(calls)
    run = counted("hashmap", "lookup", long_smpl_periods=1)
    assert run.samples is not None and len(run.samples) == sum(calls)


FUNCTION = """
_start: call 5f
 nop
 call 5f
 jmp 6f
5: nop
 nop
 call 7f
 jmp 8f
7: nop
 ret
8: nop
 ret
6: mov $60, %eax
 xor %edi, %edi
 syscall
"""
CALL = 2 + 1 + 2 + 1 + 2
"""Instructions from the entry of 5 to its return, which code at another place makes."""


@needs("qemu-x86_64")
@ASSEMBLER
def test_calls_of_x86_programs_count_to_their_return(tmp_path: Path) -> None:
    program = assemble(tmp_path, FUNCTION.replace("5:", "function: .globl function\n5:"))
    run = pfmon.run(
        [program],
        events="INSTRUCTIONS_RETIRED",
        trigger_code_start_addresses="function",
        trigger_code_stop_addresses="function",
    )
    assert run.counts[0].value == 2 * CALL


def test_program_that_nobody_called_counts_to_its_end() -> None:
    start = pfmon.run([str(EXAMPLES / "fib"), "9"], events=EVENT, stdout=pfmon.DEVNULL)
    assert counted("fib", "_start").counts[0].value == start.retired


@pytest.mark.parametrize("others", ["lookup,0x1000", "0x1000,lookup"])
def test_each_call_counts_beside_other_triggers(others: str) -> None:
    calls = calls_of("hashmap", "lookup")
    found = counted("hashmap", "lookup", trigger_code_start_addresses=others)
    assert found.counts[0].value == sum(calls) > calls[0]


def test_the_other_triggers_start_and_stop_once() -> None:
    """The first bundle of insert counts once, each call of lookup to its return."""
    options = {"trigger_code_start_addresses": "lookup,insert", "trigger_code_stop_addresses": "lookup,insert+0x10"}
    begin, calls = address_of("hashmap", "insert"), calls_of("hashmap", "lookup")
    bundles = [address & ~15 for address, _ in log("hashmap")]
    first = bundles.index(begin)
    once = next(place for place in range(first, len(bundles)) if bundles[place] != begin) - first
    assert counted("hashmap", "lookup", **options).counts[0].value == sum(calls) + once


def test_whole_calls_beside_two_kinds_that_do_not_repeat() -> None:
    """The data trigger, which takes effect once, for data, is never reached; the code triggers take effect as without
    it."""
    options = {"trigger_code_start_addresses": "lookup,insert", "trigger_code_stop_addresses": "lookup,insert+0x10"}
    without = counted("hashmap", "lookup", **options)
    beside = counted("hashmap", "lookup", **options, trigger_data_stop_addresses="0x1000")
    assert beside.counts[0].value == without.counts[0].value > sum(calls_of("hashmap", "lookup"))
