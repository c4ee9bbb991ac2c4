"""Files that programs under qemu map executable: which are said to be where, and which blocks are from them."""

import os
import subprocess
from contextlib import nullcontext
from pathlib import Path

import pytest
from grids import first_quick
from host_programs import needs
from ppc_programs import PPC, PPC64, PPC64LE, PPC_ASSEMBLER, QEMU_PPC, Target, ppc_program
from qemu_guests import ASSEMBLER, QEMU, Options, Ran, assemble, compile_c, run
from shared_objects import address_in, work, write_loader, write_object

import pfmon
from pfmon.engine import api, registry
from pfmon.engine.api import ExitReport
from pfmon.engine.guest_settings import GuestSettings
from pfmon.program import image
from pfmon.program.mapped_files import MappedFile
from pfmon.stream._stream import Consumer

PAGE = 4096


def code_from(ran: Ran, number: int) -> set[int]:
    """The addresses of blocks that are from a mapped file."""
    table = ran.guest.table
    return {one.ip for one in map(table.block, table.numbers()) if one.file == number}


def numbers_of(ran: Ran, path: Path) -> list[int]:
    """The numbers of a file: one for each place that it was in."""
    return [number for number, one in enumerate(ran.guest.mapped, 1) if one.path == str(path)]


HOW: dict[str, Options] = {"stream": {}, "totals": {"totals": True}, "traced": {"addresses": True}}


@pytest.mark.slow
@QEMU
@ASSEMBLER
@pytest.mark.parametrize("how", HOW)
def test_blocks_are_from_the_objects_that_were_loaded(how: str, tmp_path: Path) -> None:
    first, second = (write_object(tmp_path, name, name) for name in ("one", "two"))
    ran = run([write_loader(tmp_path), first, "work", "5", second, "work", "6", first, "one", "7"], **HOW[how])
    assert ran.ending is not None and ran.ending.status == 0
    places = [*numbers_of(ran, first), *numbers_of(ran, second)]
    assert len(places) in (2, 3)  # where it is loaded again is qemu's business
    for number in places:
        mapped = ran.guest.mapped[number - 1]
        assert code_from(ran, number) and all(mapped.start <= ip < mapped.end for ip in code_from(ran, number))
        assert mapped.start - mapped.offset + address_in(first, "work") in code_from(ran, number)
    begun = {ip for number in numbers_of(ran, first) for ip in code_from(ran, number)}
    biases = {ran.guest.mapped[number - 1].start - ran.guest.mapped[number - 1].offset for number in places}
    assert {ip for ip in begun if ip - address_in(first, "one") in biases}
    assert ran.tally.instructions() == ran.retired > work(5) + work(6) + work(7)


MAP_FIXED = """
     lea {name}(%rip), %rdi
     mov $2, %eax
     xor %esi, %esi
     syscall
     mov %rax, %r8
     mov $9, %eax
     mov $0x50000000, %edi
     mov $4096, %esi
     mov $5, %edx
     mov $0x12, %r10d
     mov ${offset}, %r9d
     syscall
     mov ${turns}, %edi
     mov $0x50000000 + {into}, %eax
     call *%rax
"""
"""Map a page of a file at an address, and call what is there."""


@QEMU
@ASSEMBLER
@pytest.mark.parametrize("how", first_quick(HOW))
def test_objects_are_told_apart_that_were_in_one_place(how: str, tmp_path: Path) -> None:
    """Two files with the same bytes, one after the other, and the first again."""
    paths = {name: write_object(tmp_path, name, "more") for name in ("one", "two")}
    at = address_in(paths["one"], "work")
    calls = "".join(
        MAP_FIXED.format(name=name, offset=at & -PAGE, into=at % PAGE, turns=turns)
        for name, turns in (("one", 5), ("two", 6), ("one", 7))
    )
    names = "".join(f'{name}: .asciz "{path}"\n' for name, path in paths.items())
    ran = run([assemble(tmp_path, f"_start: {calls} mov $60, %eax\n xor %edi, %edi\n syscall\n {names}")], **HOW[how])
    assert ran.ending == ExitReport(0)
    assert [one.path for one in ran.guest.mapped] == [str(path) for path in paths.values()]
    table = ran.guest.table
    counts = dict.fromkeys((1, 2), 0)
    for block in map(table.block, table.numbers()):
        if block.file:
            counts[block.file] += len(block.instructions) * ran.tally.runs(block.number)
    assert counts == {1: work(5) + work(7), 2: work(6)}


@QEMU
@ASSEMBLER
def test_what_is_mapped_in_the_place_of_a_file_is_from_none(tmp_path: Path) -> None:
    """A page of the program's own file, executable; then anonymous memory there, with the same code."""
    text = f"""
    _start: lea 2f(%rip), %rdi
     mov $2, %eax
     xor %esi, %esi
     syscall
     mov %rax, %r8
     mov $9, %eax
     mov ${PAGE}, %esi
     xor %edi, %edi
     mov $5, %edx
     mov $2, %r10d
     mov ${PAGE}, %r9d
     syscall
     mov %rax, %rbx
     lea 3f-_start(%rbx), %rax
     call *%rax
     mov $9, %eax
     mov %rbx, %rdi
     mov $7, %edx
     mov $0x32, %r10d
     mov $-1, %r8
     xor %r9d, %r9d
     syscall
     movl $0xc3909090, 3f-_start(%rbx)
     lea 3f-_start(%rbx), %rax
     call *%rax
     mov $60, %eax
     xor %edi, %edi
     syscall
    3: nop
     nop
     nop
     ret
    2: .asciz "{tmp_path / "program"}"
    """
    program = assemble(tmp_path, text)
    ran = run([program])
    assert ran.ending is not None and ran.ending.status == 0
    (mapped,) = ran.guest.mapped
    assert mapped == MappedFile(mapped.start, mapped.start + PAGE, PAGE, str(program))
    table = ran.guest.table
    there = [one for one in map(table.block, table.numbers()) if mapped.start <= one.ip < mapped.end]
    assert [(one.file, len(one.instructions)) for one in there] == [(1, 4), (0, 4)]


@QEMU
@ASSEMBLER
def test_files_that_become_executable_are_noted_then(tmp_path: Path) -> None:
    shared = write_object(tmp_path, "one", "more")
    at = address_in(shared, "work")
    map_and_call = MAP_FIXED.format(name="one", offset=at & -PAGE, into=at % PAGE, turns=5)
    protect = "mov $10, %eax\n mov $0x50000000, %edi\n mov $4096, %esi\n mov $5, %edx\n syscall\n mov $5, %edi\n"
    text = map_and_call.replace("mov $5, %edx", "mov $1, %edx").replace("mov $5, %edi", protect)
    names = f'one: .asciz "{shared}"'
    ran = run([assemble(tmp_path, f"_start: {text} mov $60, %eax\n xor %edi, %edi\n syscall\n {names}")])
    assert ran.ending == ExitReport(0)
    assert ran.guest.mapped == [MappedFile(0x50000000, 0x50000000 + PAGE, at & -PAGE, str(shared))]
    assert 0x50000000 + at % PAGE in code_from(ran, 1)


@QEMU
@ASSEMBLER
def test_data_and_failures_are_nothing_that_code_is_from(tmp_path: Path) -> None:
    """The program's file, for reading; and where nothing may be mapped, executable."""
    text = """
    _start: lea 2f(%rip), %rdi
     mov $2, %eax
     xor %esi, %esi
     syscall
     mov %rax, %r8
     mov $9, %eax
     mov $4096, %esi
     xor %edi, %edi
     mov $1, %edx
     mov $2, %r10d
     xor %r9d, %r9d
     syscall
     mov $9, %eax
     mov $5, %edx
     mov $1, %r9d
     syscall
     mov $60, %eax
     xor %edi, %edi
     syscall
    2: .asciz "NAME"
    """
    ran = run([assemble(tmp_path, text.replace("NAME", str(tmp_path / "program")))])
    assert ran.ending is not None and ran.ending.status == 0
    assert ran.guest.mapped == []


I386 = {
    "mmap": "lea list, %ebx\n mov %eax, list + 16\n mov $90, %eax\n int $0x80",
    "mmap2": "mov %eax, %edi\n mov $192, %eax\n xor %ebx, %ebx\n mov $4096, %ecx\n mov $5, %edx\n mov $2, %esi\n"
    " mov $1, %ebp\n int $0x80",
}


@needs("qemu-i386")
@ASSEMBLER
@pytest.mark.parametrize("call", I386)
def test_i386_programs_map_by_two_calls(call: str, tmp_path: Path) -> None:
    text = f"""
    _start: mov $5, %eax
     lea name, %ebx
     xor %ecx, %ecx
     int $0x80
     {I386[call]}
     add $3f-_start, %eax
     call *%eax
     mov $1, %eax
     xor %ebx, %ebx
     int $0x80
    3: ret
    name: .asciz "{tmp_path / "program"}"
    .data
    list: .long 0, 4096, 5, 2, 0, 4096
    """
    program = assemble(tmp_path, text, "-m32")
    ran = run([program])
    assert ran.ending is not None and ran.ending.status == 0
    (mapped,) = ran.guest.mapped
    assert mapped == MappedFile(mapped.start, mapped.start + PAGE, PAGE, str(program))
    inside = next(int(line.split()[0], 16) for line in nm(program) if line.endswith(" _start"))
    assert {ip - mapped.start for ip in code_from(ran, 1)} <= set(range(PAGE)) and code_from(ran, 1)
    assert inside % PAGE == 0  # so the code is as far behind the mapping as behind _start


def nm(program: Path) -> list[str]:
    """Its symbols."""
    return subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout.splitlines()


@QEMU_PPC
@PPC_ASSEMBLER
@pytest.mark.parametrize(
    ("target", "call", "offset"), first_quick([(PPC64, 90, 0), (PPC64LE, 90, 0), (PPC, 90, 0), (PPC, 192, 0)]), ids=str
)
def test_powerpc_programs_map_themselves(target: Target, call: int, offset: int, tmp_path: Path) -> None:
    text = f"""
     bcl 20, 31, 1f
    1: mflr 31
     addi 3, 31, 2f-1b
     li 0, 5
     li 4, 0
     sc
     mr 7, 3
     li 0, {call}
     li 3, 0
     li 4, 4096
     li 5, 5
     li 6, 2
     li 8, {offset}
     sc
     addi 3, 3, 0x200
     addi 3, 3, 3f-1b+4
     mtctr 3
     bctrl
     li 0, 1
     li 3, 0
     sc
    3: blr
    2: .asciz "{tmp_path / "program"}"
    """
    program = ppc_program(tmp_path, text, target)
    ran = run([program])
    assert ran.ending == ExitReport(0)
    (mapped,) = ran.guest.mapped
    assert mapped == MappedFile(mapped.start, mapped.start + PAGE, 0, str(program))
    assert len(code_from(ran, 1)) == 1


FORKING = """
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void use(const char *path) {
    ((void (*)(long))dlsym(dlopen(path, RTLD_NOW), "work"))(3);
}
int main(int argc, char **argv) {
    use(argv[1]);
    if (fork() == 0) {
        use(argv[1]);
        use(argv[2]);
        if (argc > 3) execl(argv[3], argv[3], (char *)0);
        _exit(0);
    }
    wait(0);
    return 0;
}
"""


class Watching:
    """Reads a task, and keeps what it had mapped and where it executed which file."""

    consumer = Consumer()
    running = nullcontext()

    def __init__(self, task: api.Task, engine: api.Engine, found: dict[str, dict[str, set[int]]]) -> None:
        self._task, self._engine, self._found = task, engine, found

    def ended(self, ending: api.ExitReport | None, retired: int) -> None:
        """Everything was read."""
        self._found[self._task.name] = executed(self._engine)


def executed(engine: api.Engine) -> dict[str, set[int]]:
    """By the name of a file that was mapped, the addresses of its blocks."""
    mapped, table = engine.mapped, engine.table
    found: dict[str, set[int]] = {Path(one.path).name: set() for one in mapped}
    for block in map(table.block, table.numbers()):
        if block.file:
            found[Path(mapped[block.file - 1].path).name].add(block.ip)
    return found


@QEMU
@ASSEMBLER
@pytest.mark.parametrize("executes", first_quick([False, True]), ids=["forked", "executed"])
def test_tasks_that_are_followed_have_their_own_files(executes: bool, tmp_path: Path) -> None:
    one, two = (write_object(tmp_path, name, "more") for name in ("one", "two"))
    program = compile_c(tmp_path, FORKING)
    found: dict[str, dict[str, set[int]]] = {}
    wanted = api.StartRequest(
        image.load(str(program)),
        [os.fsencode(word) for word in (program, one, two, *(["/bin/true"] if executes else []))],
        [],
        GuestSettings(),
        memory_limit=1 << 30,
        processor="intel_v2",
        follow=api.FollowRules(
            True, executes, 10, lambda task, engine: Watching(task, engine, found), lambda task, ending: None
        ),
        engine="qemu",
    )
    engine = registry.start(wanted)
    assert engine.run(Consumer()) == ExitReport(0)
    parent, child = executed(engine), found["1.1"]
    engine.close()
    assert "two.so" not in parent and child["two.so"] and child["one.so"] == parent["one.so"]
    assert ("1.1:1" in found) == executes
    if executes:
        assert "libc.so.6" in found["1.1:1"] and not found["1.1:1"].keys() & {"one.so", "two.so"}


@pytest.mark.slow
@QEMU
@ASSEMBLER
def test_device_that_is_mapped_executable_is_not_read(tmp_path: Path) -> None:
    """It has no end: neither names nor a recording's digest wait for that."""
    text = """
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
int main(void) {
    char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE, open("/dev/zero", O_RDWR), 0);
    memcpy(code, "\\xc3", 1);
    ((void (*)(void))code)();
    return 4;
}
"""
    program = compile_c(tmp_path, text)
    run = pfmon.run([program], events=["INSTRUCTIONS_RETIRED"], per_function=True, capture=True)
    assert run.status == 4
    recorded = pfmon.record(tmp_path / "recording", [program], capture=True)
    assert recorded.status == 4
