"""Software prefetches of x86-64 programs: their addresses in the stream, and what they bring into the caches;
non-temporal stores and clflush, which leave lines in none."""

from collections import Counter
from pathlib import Path

import pytest
from qemu_guests import QEMU, assemble, guest
from x86_64_host import MARKS, recorded

from pfmon.machine._machine import IntervalMachine, MissMachine, Occurrence
from pfmon.machine.config.machine_config import load
from pfmon.stream._stream import AccessKind, Kind, Recorder

pytestmark = MARKS

EXIT = "mov $60, %eax\n xor %edi, %edi\n syscall\n"
DATA = ".bss\n .balign 4096\n data: .skip 0x100000\n .text\n"
FETCHES = f"""{DATA} _start: mov $data, %ebx
 mov $3, %ecx
 prefetcht0 (%rbx)
 prefetcht1 0x140(%rbx)
 prefetcht2 0x1000(%rbx,%rcx,8)
 prefetchnta data+0x2000(%rip)
 prefetchw 0x3000(%rbx,%rcx)
 prefetcht0 0
 nopl 0x40(%rbx)
 mov (%rbx), %eax
 {EXIT}"""
OFFSETS = [0, 0x140, 0x1018, 0x2000, 0x3003]


def test_addresses_of_prefetches_are_in_the_stream(tmp_path: Path) -> None:
    made = recorded(assemble(tmp_path, FETCHES), "x86-64-v3")
    fetched = [one.address for one in made if one.kind == AccessKind.FETCH_LINE]
    [data] = [one.address for one in made if one.kind == AccessKind.READ]
    assert fetched == [*(data + offset for offset in OFFSETS), 0]


@QEMU
def test_qemu_does_not_tell_the_addresses_of_prefetches(tmp_path: Path) -> None:
    made = recorded(assemble(tmp_path, FETCHES), "Nehalem", engine="qemu")
    assert [one.address for one in made if one.kind == AccessKind.FETCH_LINE] == [0] * 6
    assert len([one for one in made if one.kind == AccessKind.READ]) == 1


def test_prefetches_are_no_loads(tmp_path: Path) -> None:
    with Path("/dev/null").open("w") as nowhere:
        files = (0, nowhere.fileno(), nowhere.fileno())
        one = guest([assemble(tmp_path, FETCHES)], files=files, addresses=True, engine="x86_64")
        one.run(Recorder())
        one.close()
    kinds = Counter(
        bool(each.kind & Kind.LOAD)
        for number in one.table.numbers()
        for each in one.table.block(number).instructions
        if each.access == AccessKind.FETCH_LINE
    )
    assert kinds == {False: 6}


def missed(program: Path, kind: type[IntervalMachine] | type[MissMachine], machine_name: str = "core2") -> Counter[str]:
    """What the loads of a program miss, without hardware prefetchers."""
    with Path("/dev/null").open("w") as nowhere:
        files = (0, nowhere.fileno(), nowhere.fileno())
        one = guest([program], files=files, addresses=True, engine="x86_64")
        machine = kind(load(machine_name, ("prefetch.degree=0", "prefetch.adjacent=false")), one.table)
        one.run(machine)
        one.close()
    machine.finish()
    found: Counter[str] = Counter()
    for (_, _, occurrence, _), times in machine.occurrences().items():
        found[Occurrence(occurrence).name] += times
    return found


def looped(before: str, body: str) -> str:
    """A loop over 1000 lines of data, after another one over them."""
    first = f"mov $data, %ebx\n mov $1000, %ebp\n 2: {before}\n add $64, %rbx\n dec %ebp\n jnz 2b\n" if before else ""
    return (f"{DATA} _start: {first} mov $data, %ebx\n mov $1000, %ebp\n 1: {body}\n add $64, %rbx\n dec %ebp\n"
            f" jnz 1b\n {EXIT}")  # fmt: skip


@pytest.mark.parametrize("kind", [MissMachine, IntervalMachine])
def test_a_prefetched_line_does_not_miss(kind: type[IntervalMachine] | type[MissMachine], tmp_path: Path) -> None:
    """L1D has 512 lines; a prefetch counts as no miss of L1D, and as a reference of the last level."""
    alone = missed(assemble(tmp_path, looped("", "mov (%rbx), %rax")), kind)
    ahead = missed(assemble(tmp_path, looped("", "prefetcht0 256(%rbx)\n mov (%rbx), %rax")), kind)
    assert 1000 <= alone["CORE_L1D_READ_MISS"] < 1010
    assert ahead["CORE_L1D_READ_MISS"] < 20
    assert ahead["CORE_L1D_WRITE_MISS"] < 10
    assert 1000 <= ahead["CORE_LLC_MISS"] < 1030


STORE = "movntdq %xmm0, (%rbx)\n movntdq %xmm0, 16(%rbx)\n movnti %eax, 32(%rbx)"


@pytest.mark.parametrize("machine", ["core2", "nehalem"])
@pytest.mark.parametrize("kind", [MissMachine, IntervalMachine])
def test_non_temporal_stores_leave_no_line(
    kind: type[IntervalMachine] | type[MissMachine], machine: str, tmp_path: Path
) -> None:
    """They miss nothing; 200 lines that were in L1D are in no cache afterwards (Intel SDM volume 1, 10.4.6.2)."""
    loads = "mov $data, %ebx\n mov $200, %ebp\n 3: mov (%rbx), %rax\n add $64, %rbx\n dec %ebp\n jnz 3b\n"
    stores = f"mov $data, %ebx\n mov $200, %ebp\n 4: {STORE}\n add $64, %rbx\n dec %ebp\n jnz 4b\n"
    texts = {"loads": loads, "stores": stores, "between": loads + stores + loads.replace("3", "5")}
    found = {
        name: missed(assemble(tmp_path, f"{DATA} _start: {text} {EXIT}"), kind, machine) for name, text in texts.items()
    }
    assert 200 <= found["loads"]["CORE_L1D_READ_MISS"] < 205
    assert found["stores"]["CORE_L1D_WRITE_MISS"] + found["stores"]["CORE_LLC_MISS"] < 10
    assert 400 <= found["between"]["CORE_L1D_READ_MISS"] < 405
    assert 400 <= found["between"]["CORE_LLC_MISS"] < 410


@pytest.mark.parametrize("kind", [MissMachine, IntervalMachine])
def test_a_flushed_line_is_in_no_cache(kind: type[IntervalMachine] | type[MissMachine], tmp_path: Path) -> None:
    again = f"{DATA} _start: mov $data, %ebx\n mov $100, %ebp\n 1: mov (%rbx), %rax\n %s\n dec %ebp\n jnz 1b\n {EXIT}"
    kept = missed(assemble(tmp_path, again.replace("%s", "nop")), kind)
    flushed = missed(assemble(tmp_path, again.replace("%s", "clflush 32(%rbx)")), kind)
    assert kept["CORE_L1D_READ_MISS"] < 5
    assert 100 <= flushed["CORE_L1D_READ_MISS"] < 105
    assert 100 <= flushed["CORE_LLC_MISS"] < 110
