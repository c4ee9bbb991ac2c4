"""Programs under qemu as processes: what goes in and comes out, and how they end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread, Timer

import pytest
from grids import each, first_quick, sampled
from qemu_guests import ASSEMBLER, EXAMPLES, QEMU, assemble, compile_c, expected, guest, run, run_example

from pfmon.counting._counting import Tally
from pfmon.engine.api import ExitReport
from pfmon.engine.qemu import qemu_binary
from pfmon.errors import PfmonError
from pfmon.program.symbols import SymbolTable
from pfmon.stream._stream import InstructionSet, Mark

pytestmark = [QEMU, ASSEMBLER]

FOREVER = "_start: xor %eax, %eax\n 1: inc %rax\n jmp 1b"
WAITING = "_start: mov $34, %eax\n syscall\n jmp _start"  # pause


@sampled(6)
@each("name", sorted(expected("x86_64")))
def test_example_gives_its_output_and_status(name: str, tmp_path: Path) -> None:
    status, output = expected("x86_64")[name]
    ran, printed = run_example("x86_64", name, tmp_path)
    assert printed == output
    assert ran.ending == ExitReport(status)
    assert ran.words[-1] == 1 << 63 | Mark.EXIT << 56 | 255 << 32 | status
    assert ran.tally.instructions() == ran.retired


PASSED_ON = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv) {
    char directory[4096], line[100];
    for (int i = 0; i < argc; i++) printf("%s|", argv[i]);
    for (char **one = environ; *one; one++) printf("%s|", *one);
    printf("%s|%s", getcwd(directory, 4096), fgets(line, 100, stdin));
    fprintf(stderr, "trouble");
    return 7;
}
"""


@pytest.mark.slow
def test_arguments_environment_and_standard_streams_are_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = compile_c(tmp_path, PASSED_ON)
    (tmp_path / "in").write_text("typed\n")
    monkeypatch.chdir(tmp_path)
    with (tmp_path / "in").open() as given, (tmp_path / "out").open("w") as out, (tmp_path / "err").open("w") as err:
        files = (given.fileno(), out.fileno(), err.fileno())
        ran = run([program, "-x", "--", "a b,c"], environment=[b"A=1,2", b"EMPTY="], files=files)
    assert ran.ending is not None and ran.ending.status == 7
    assert (tmp_path / "out").read_text() == f"{program}|-x|--|a b,c|A=1,2|EMPTY=|{tmp_path}|typed\n"
    assert (tmp_path / "err").read_text() == "trouble"


def test_qemu_says_nothing_on_the_program_s_standard_error(tmp_path: Path) -> None:
    with (tmp_path / "err").open("w+") as err:
        run([assemble(tmp_path, "_start: ud2")], files=(0, err.fileno(), err.fileno()))
        assert (tmp_path / "err").read_text() == ""


@pytest.mark.parametrize(
    "options", first_quick([("-no-pie",), ("-pie", "-fPIE")], single=True), ids=["fixed", "position-independent"]
)
def test_dynamic_program_is_where_its_image_says(options: tuple[str, ...], tmp_path: Path) -> None:
    ran = run([compile_c(tmp_path, "int main(void) { return 3; }", *options)])
    assert ran.ending is not None and ran.ending.status == 3
    program = ran.guest._wanted.program
    assert program.interpreter is not None
    ips = [ran.guest.table.block(number).ip for number in ran.guest.table.numbers()]
    assert ips[0] == program.interpreter.entry
    main = SymbolTable(program.image.data, program.image.bias).find("main")
    assert main is not None and main.address in ips


def test_system_calls_are_marked() -> None:
    ran = run([EXAMPLES / "x86_64" / "fib", "5"])
    calls = [word & 0xFFFFFFFF for word in ran.words if word >> 56 == 0x80 | Mark.SYSTEM_CALL]
    assert calls[-2:] == [1, 60] or calls[-2:] == [1, 231]  # write, then exit or exit_group


@pytest.mark.slow
def test_same_run_twice_through_a_dynamic_loader(tmp_path: Path) -> None:
    program = compile_c(tmp_path, '#include <stdio.h>\nint main(void) { printf("%d\\n", 3); return 0; }')
    assert run([program]).words == run([program]).words


@pytest.mark.slow
@pytest.mark.parametrize("code", [FOREVER, WAITING], ids=["busy", "waiting"])
def test_stop_ends_the_run(code: str, tmp_path: Path) -> None:
    one = guest([assemble(tmp_path, code)])
    Timer(0.3, one.stop).start()
    tally = Tally(one.table)
    assert one.run(tally) is None
    assert tally.instructions() == one.retired > 0
    one.close()


def test_stop_from_a_signal_handler(tmp_path: Path) -> None:
    one = guest([assemble(tmp_path, WAITING)])
    before = signal.signal(signal.SIGALRM, lambda *_: one.stop())
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        assert one.run(Tally(one.table)) is None
    finally:
        signal.signal(signal.SIGALRM, before)
        one.close()


def test_stop_before_the_run() -> None:
    one = guest([EXAMPLES / "x86_64" / "fib"])
    one.stop()
    assert one.run(Tally(one.table)) is None
    one.close()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_guest_that_is_killed_ends_the_run(number: int, tmp_path: Path) -> None:
    one = guest([assemble(tmp_path, FOREVER)])

    def kill() -> None:
        while one._process is None:
            time.sleep(0.01)
        time.sleep(0.3)
        (program,) = children(one._process.parent)
        os.kill(program, number)

    Thread(target=kill).start()
    ending = one.run(Tally(one.table))
    assert ending is not None and (ending.status, ending.signal) == (128 + number, number)
    one.close()


READER = """
import sys
sys.path[:0] = [{support!r}]
from qemu_guests import guest
from pfmon.counting._counting import Tally
one = guest([sys.argv[1]])
one.run(Tally(one.table))
"""


@pytest.mark.slow
@pytest.mark.parametrize("code", [FOREVER, WAITING], ids=["busy", "waiting"])
def test_reader_that_is_killed_leaves_nothing_behind(code: str, tmp_path: Path) -> None:
    program = assemble(tmp_path, code)
    shared = set(Path("/dev/shm").iterdir())
    script = READER.format(support=str(Path(__file__).resolve().parents[2] / "support"))
    reader = subprocess.Popen([sys.executable, "-c", script, program])
    guests: list[int] = []
    while not guests:
        time.sleep(0.05)
        found = [pid for reaper in children(reader.pid) for pid in children(reaper)]
        guests = [pid for pid in found if command(pid).startswith(b"/usr/bin/qemu-x86_64")]
    time.sleep(0.3)
    reader.kill()
    reader.wait()
    deadline = time.monotonic() + 10
    while any(command(pid) for pid in guests) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(command(pid) for pid in guests)
    assert set(Path("/dev/shm").iterdir()) == shared


def children(parent: int) -> list[int]:
    """Processes that a process has started."""
    try:
        return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
    except FileNotFoundError:
        return []


def command(pid: int) -> bytes:
    """The command of a process; empty for one that is dead."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


FORKING = """
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
    volatile long sum = 0;
    for (int i = 0; i < 20; i++)
        if (fork() == 0) {
            if (argc > 1) for (long k = 0; k < 1000000; k++) sum += k;
            _exit(3);
        }
    for (int status, i = 0; i < 20; i++) if (wait(&status) < 0 || WEXITSTATUS(status) != 3) return 1;
    return 0;
}
"""


@pytest.mark.slow
def test_children_of_the_program_do_not_count(tmp_path: Path) -> None:
    program = compile_c(tmp_path, FORKING, "-static")
    ran = run([program])
    assert ran.ending is not None and ran.ending.status == 0
    assert ran.tally.instructions() == ran.retired
    busy = run([program, "x"])
    assert busy.ending is not None and busy.ending.status == 0
    assert busy.retired < ran.retired + 1000


def test_program_that_becomes_another_says_so(tmp_path: Path) -> None:
    notices: list[str] = []
    program = compile_c(
        tmp_path, '#include <unistd.h>\nint main(void) { execl("/bin/false", "false", NULL); return 0; }'
    )
    ran = run([program], notices=notices)
    assert ran.ending is not None and ran.ending.status == 1
    assert notices == ["the program executed another one, which was not counted"]


def test_absent_emulator_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(PfmonError, match="install the package qemu-user"):
        guest([EXAMPLES / "x86_64" / "fib"])
    assert qemu_binary.version(InstructionSet.X86_64) == ""


def test_emulator_without_plugins_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    emulator = tmp_path / "qemu-x86_64"
    emulator.write_text("#!/bin/sh\nexit 1\n")
    emulator.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    with pytest.raises(PfmonError, match="was built without plugins, which pfmon needs: Debian 12's package"):
        run([EXAMPLES / "x86_64" / "fib", "3"])


def test_version_of_the_emulator() -> None:
    assert qemu_binary.version(InstructionSet.X86_64).startswith("qemu-x86_64 version ")


@pytest.mark.slow
def test_listing_is_that_of_the_code_that_ran(tmp_path: Path) -> None:
    ran = run([assemble(tmp_path, "_start: mov $60, %eax\n xor %edi, %edi\n syscall\n nop")])
    start = ran.guest._wanted.program.entry
    assert ran.guest.listing(start, start + 100) == [
        (start, "mov eax, 0x3c"),
        (start + 5, "xor edi, edi"),
        (start + 7, "syscall"),
    ]
