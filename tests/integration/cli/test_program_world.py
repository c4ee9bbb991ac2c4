"""What a program finds: its environment, and under qemu the processor of its machine."""

import json
import signal
from pathlib import Path

import pytest
from command import EXAMPLES, pfmon, refused
from grids import first_quick
from ia64_program import EXIT, write_program
from qemu_guests import ASSEMBLER, QEMU, assemble, compile_c

VARIABLE = """
#include <stdio.h>
#include <stdlib.h>
int main(void) { char *value = getenv("PFMON_SAID"); puts(value ? value : "nothing"); return 0; }
"""
THIRD_VARIABLE = [  # write(1, envp[2], 12): behind argc and one argument, its end, PATH and LANG
    "alloc r40=ar.pfs,9,0,0",
    "adds r33=56,r12",
    "ld8 r33=[r33]",
    "adds r32=1,r0",
    "adds r34=12,r0",
    "adds r15=1027,r0",
    "break.m 0x100000",
    *EXIT,
]
PROCESSOR = """
#include <cpuid.h>
#include <stdio.h>
int main(void) {
    unsigned int a, b, c, d, version, features, extended;
    char vendor[13] = "";
    __cpuid(0, a, b, c, d);
    __builtin_memcpy(vendor, &b, 4), __builtin_memcpy(vendor + 4, &d, 4), __builtin_memcpy(vendor + 8, &c, 4);
    __cpuid(1, version, b, features, d);
    __cpuid_count(7, 0, a, extended, c, d);
    printf("%s %x", vendor, version & 0xFFFF0);
    printf("%s", features & 1 << 9 ? " ssse3" : "");
    printf("%s", features & 1 << 20 ? " sse4.2" : "");
    printf("%s", features & 1 << 28 ? " avx" : "");
    printf("%s", extended & 1 << 5 ? " avx2" : "");
    __cpuid(10, a, b, c, d);
    printf(" %x", a);
    return 0;
}
"""
VECTOR = "_start: vxorps %ymm0, %ymm0, %ymm0\n mov $60, %eax\n xor %edi, %edi\n syscall"
X86_FIB, IA64_FIB = str(EXAMPLES / "x86_64" / "fib"), str(EXAMPLES / "ia64" / "fib")


@pytest.mark.parametrize("how", first_quick(["--env=PFMON_SAID", "--env=PFMON_SAID=a b", "--host-env"]))
@QEMU
@ASSEMBLER
def test_variable_is_passed_to_a_program_under_qemu(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PFMON_SAID", "a b")
    program = str(compile_c(tmp_path, VARIABLE))
    assert pfmon("-e", "none", program).stdout == "nothing\n"
    assert pfmon("-e", "none", how, program).stdout == "a b\n"


@pytest.mark.parametrize("how", ["--env=PFMON_S", "--env=PFMON_S=abcd"])
def test_variable_is_passed_to_an_ia64_program(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PFMON_S", "abcd")
    program = write_program(tmp_path / "program", THIRD_VARIABLE)
    assert pfmon("-e", "none", how, str(program)).stdout == "PFMON_S=abcd"


@pytest.mark.parametrize("program", first_quick([IA64_FIB, pytest.param(X86_FIB, marks=QEMU)]))
def test_notice_names_variables_that_programs_obey(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = ("PYTHONHASHSEED", "OMP_NUM_THREADS", "LD_BIND_NOW", "MALLOC_ARENA_MAX", "LC_ALL", "TZ")
    for name in given:
        monkeypatch.setenv(name, "1")
    said = pfmon("-e", "none", program, "3").stderr
    assert all(name in said for name in given) and "HOME" not in said and "LANG" not in said
    assert "TZ" not in pfmon("-e", "none", "--env=TZ", program, "3").stderr
    assert pfmon("-e", "none", "--host-env", program, "3").stderr == ""


@pytest.mark.parametrize(
    ("machine", "found"),
    first_quick(
        [
            # Intel SDM, volume 4, table 2-1: Core 2 is 06_0FH, the Core i7 of Nehalem 06_1AH. Volume 1, chapter 5:
            # SSSE3 came with Core 2, SSE4.2 with Nehalem, AVX later; Haswell, the first with AVX2, is 06_3CH. None
            # tells of a PMU in leaf 0AH.
            ([], "GenuineIntel 306c0 ssse3 sse4.2 avx avx2 0"),
            (["--machine=core2"], "GenuineIntel 006f0 ssse3 0"),
            (["--machine=nehalem"], "GenuineIntel 106a0 ssse3 sse4.2 0"),
            (["--engine=qemu"], "GenuineIntel 306c0 ssse3 sse4.2 avx avx2 0"),
            (["--engine=qemu", "--machine=nehalem"], "GenuineIntel 106a0 ssse3 sse4.2 0"),
        ]
    ),
)
@QEMU
@ASSEMBLER
def test_program_finds_the_machine_s_processor(machine: list[str], found: str, tmp_path: Path) -> None:
    printed = pfmon("-e", "none", *machine, str(compile_c(tmp_path, PROCESSOR))).stdout.split()
    wanted = found.split()
    assert (printed[0], int(printed[1], 16)) == (wanted[0], int(wanted[1], 16)) and printed[2:] == wanted[2:]


@pytest.mark.slow
@QEMU
@ASSEMBLER
@pytest.mark.parametrize(("engine", "later"), [("qemu", "--set qemu.cpu=max"), ("x86_64", "--set=qemu.cpu=x86-64-v4")])
def test_instruction_of_a_later_processor_is_illegal(engine: str, later: str, tmp_path: Path) -> None:
    program = str(assemble(tmp_path, VECTOR))
    words = (f"--engine={engine}", "-e", "none")
    done = pfmon(*words, "--machine=core2", program)
    assert done.returncode == 128 + signal.SIGILL
    assert later in done.stderr
    usable = "x86-64-v3" if engine == "x86_64" else "max"
    assert pfmon(*words, "--set", f"qemu.cpu={usable}", program).returncode == 0


@QEMU
def test_unknown_model_of_qemu_is_named() -> None:
    assert "qemu.cpu = Nehalm: qemu-x86_64 has no such model" in refused("-e", "none", "--set=qemu.cpu=Nehalm", X86_FIB)


@QEMU
def test_level_that_qemu_lacks_is_refused_with_the_nearest_one() -> None:
    assert "--set qemu.cpu=x86-64-v3 is the nearest" in refused(
        "--engine=qemu", "-e", "none", "--machine=icelake", X86_FIB
    )


@QEMU
def test_model_that_qemu_alone_has_selects_qemu() -> None:
    done = pfmon("-e", "instructions_retired", "--json", "--set=qemu.cpu=Haswell", X86_FIB, "3")
    assert json.loads(done.stdout.splitlines()[-1])["engine"] == {"name": "qemu", "cpu": "Haswell", "masked": []}


@pytest.mark.parametrize("option", first_quick(["--host-clock", "--host-ids", "--host-random", "--net", "--quantum=7"]))
@QEMU
def test_option_of_ia64_programs_says_that_it_changes_nothing(option: str) -> None:
    assert option.partition("=")[0] in pfmon("--engine=qemu", "-e", "none", option, X86_FIB, "3").stderr
    assert pfmon("-e", "none", option, IA64_FIB, "3").stderr == ""


@QEMU
def test_confine_is_refused_under_qemu(tmp_path: Path) -> None:
    assert "--confine" in refused("-e", "none", "--engine=qemu", "--confine", f"--sysroot={tmp_path}", X86_FIB)
