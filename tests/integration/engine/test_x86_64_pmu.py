"""The modelled PMU as x86-64 programs see it (--guest-pmu): counts and overflows. Counts are compared with the known
number of instructions and with pfmon's own counts of the same code."""

import random
import re
from pathlib import Path

import command
import pytest
from grids import few
from qemu_guests import assemble
from x86_64_host import ENGINE, MARKS, without_input
from x86_64_monitoring import EXACT, SKYLAKE, lines, numbers

from pfmon.session.run.pmu_identity import select_value

pytestmark = MARKS


# --- counting


@pytest.mark.parametrize("way", [EXACT, pytest.param("--guest-pmu", marks=pytest.mark.slow)])
def test_counts_of_a_region_are_those_of_its_instructions(way: str, events: Path) -> None:
    """Instructions, branches and taken ones of `count_down`."""
    for rounds, instructions, branches, taken in numbers(way, events, "regions"):
        assert (instructions, branches, taken) == (5 + 2 * rounds, rounds, rounds - 1)


def test_groups_formats_reset_and_prctl(events: Path) -> None:
    group, room, reset, prctl = lines(EXACT, events, "formats")
    assert group == "56 2 205 205 205 205 1"  # bytes, members, enabled, running, both counts, the same id
    assert room == "room -1 No space left on device"
    assert reset == "205 0 0" and prctl == "1"


def test_rdpmc_counts_up_to_itself_as_read_does(events: Path) -> None:
    """From one to the next: itself, 2 moves, 11 nops; from there to the read: itself, 4 moves and the system call."""
    page, counts, disabled = numbers(EXACT, events, "counter")
    assert page == [1, 1, SKYLAKE.bank.width]
    assert counts == [14, 6]
    assert disabled == [0, 1]


@pytest.mark.slow
def test_groups_that_do_not_fit_take_turns(events: Path) -> None:
    """Six events of four counters: each ran two thirds of the time, a millisecond or more, and the scaled counts are
    those of the loop."""
    rounds = 7_000_000
    found = numbers(EXACT, events, "multiplexed")
    assert len({enabled for _, enabled, _ in found}) == 1
    enabled = found[0][1]
    assert abs(sum(running for _, _, running in found) - 4 * enabled) < enabled / 100
    for index in (0, 1, 5):  # all, conditional and taken branches
        count, _, running = found[index]
        assert 0.5 * enabled < running < enabled
        assert abs(count * enabled / running - rounds) < rounds / 100


COUNTED = """
_start:
    mov $298, %eax
    lea attribute(%rip), %rdi
    xor %esi, %esi
    mov $-1, %rdx
    mov $-1, %r10
    xor %r8d, %r8d
    syscall
    mov %eax, %r15d
    mov $16, %eax
    mov %r15d, %edi
    mov $0x2400, %esi
    xor %edx, %edx
    syscall
begin:
    lea room(%rip), %rbx
    mov $300, %ecx
    mov $12345, %r8d
1:  imul $1103515245, %r8d, %r8d
    add $12345, %r8d
    mov %r8d, %r9d
    shr $16, %r9d
    and $0x3FF8, %r9d
    mov %rcx, (%rbx, %r9)
    add 8(%rbx, %r9), %r10
    test $0x100, %r8d
    jz 2f
    call leaf
2:  movapd %xmm0, %xmm1
    addsd %xmm1, %xmm1
    dec %ecx
    jnz 1b
    mov $1000, %eax
    xor %edx, %edx
    mov $7, %ecx
    div %ecx
    mov $16, %eax
    mov %r15d, %edi
    mov $0x2401, %esi
    xor %edx, %edx
    syscall
end:
    xor %eax, %eax
    mov %r15d, %edi
    lea count(%rip), %rsi
    mov $8, %edx
    syscall
    mov $1, %eax
    mov $1, %edi
    lea count(%rip), %rsi
    mov $8, %edx
    syscall
    mov $60, %eax
    xor %edi, %edi
    syscall
leaf: ret
    .data
    .balign 8
attribute: .long 4, 64
    .quad CONFIG, 0, 0, 0, 0x21, 0, 0
count: .quad 0
    .bss
    .balign 4096
room: .skip 0x5000
"""
"""A program without branches that depend on results of system calls: a run in which the event is refused executes the
same."""


def select_values() -> dict[str, int]:
    """The encodings of all modelled events that need no further register, by name, but for those with INV, of which
    live counting, as in sampled runs, has other cycles at the ends of a region than totals have."""
    alone = [one for one in SKYLAKE.events if one.is_modelled and one.extra == "-" and one.alias_of == "-"]
    return {one.name: select_value(SKYLAKE, one) for one in alone if not (one.any_thread or one.invert) and one.code}


@pytest.mark.parametrize("name", few(sorted(select_values()), 4))
def test_events_count_the_same_from_inside_and_outside(name: str, tmp_path: Path) -> None:
    """Between enabling and disabling the program reads what pfmon counts between two addresses."""
    made = assemble(tmp_path, COUNTED, f"-Wa,--defsym,CONFIG={select_values()[name]}")
    inside = command.piped(ENGINE, "--guest-pmu", str(made))
    assert inside.returncode == 0, inside
    outside = without_input(
        *("-e", name, "--trigger-code-start-addresses=begin", "--trigger-code-stop-addresses=end"),
        *("--no-cmd-output", "--json", "--outfile=/dev/stderr", str(made)),
    )
    (count,) = re.findall(r'"count": (\d+)', outside.stderr)
    assert int.from_bytes(inside.stdout, "little") == int(count)


@pytest.mark.slow
def test_counts_repeat(events: Path) -> None:
    first, second = (lines("--guest-pmu", events, "ring", "1") for _ in range(2))
    assert first == second


# --- overflows


@pytest.mark.parametrize("period", [700, 1000])
def test_overflows_send_as_many_signals(period: int, events: Path) -> None:
    """50,000 conditional branches; the handler has none."""
    (found,) = numbers(EXACT, events, "overflows", "0x1C4", str(period), "50000")
    assert found == [50_000 // period, 0, 1, 50_000]


@pytest.mark.slow
def test_overflows_of_random_periods(events: Path) -> None:
    draw = random.Random(7)
    for _ in range(3):
        period, rounds = draw.randrange(1, 3000), draw.randrange(1, 30_000)
        (found,) = numbers(EXACT, events, "overflows", "0x1C4", str(period), str(rounds))
        assert found == [rounds // period, 0, 1, rounds]


@pytest.mark.slow
def test_overflows_of_cycles_send_as_many_signals(events: Path) -> None:
    (found,) = numbers("--guest-pmu", events, "overflows", "0x3C", "10000", "300000")
    signals, _, of_the_file, cycles = found
    assert of_the_file == 1 and 30 <= signals == cycles // 10_000


def test_refresh_ends_with_a_hangup(events: Path) -> None:
    assert numbers(EXACT, events, "refresh") == [[0], [2, 1, 2000]]


@pytest.mark.parametrize(("pages", "room"), [(8, 819), (1, 102)])
def test_samples_are_in_the_ring_and_lost_ones_counted(pages: int, room: int, events: Path) -> None:
    """A sample of 40 bytes for each 500 of 100,000 branches, all at the same instruction. Poll wakes when half of the
    ring is full. What has no room is counted by a record in front of the next sample."""
    before, first, second = numbers(EXACT, events, "ring", str(pages))
    kept = min(200, room)
    assert before == [0, 0, 0, 0, 0, 1]
    assert first[1:] == [int(kept * 40 >= pages * 2048), kept, 0, kept, 1]
    assert second[2:] == [2, 200 - kept, 2, 1]
