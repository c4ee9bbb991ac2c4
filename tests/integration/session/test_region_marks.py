"""Marks of regions as programs write them: pfmon.h in C and C++, Rust, Go, and a write that fails in others."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from command import pfmon
from grids import each
from host_programs import RUNS_X86_64, needs
from ia64_program import DATA, EXIT, write_program

from pfmon import run
from pfmon.cli.include import FOLDER

EVENT = "INSTRUCTIONS_RETIRED"
SPIN = 'static void spin(long n) { __asm__ volatile("1: dec %0; jnz 1b" : "+r"(n)); }\n'
C_PROGRAM = f"""
#define _XOPEN_SOURCE 600
#include <pfmon.h>
#include <pthread.h>
#include <unistd.h>
{SPIN}
static void *other(void *unused) {{
    spin(1000);
    PFMON_START("thread");
    spin(2000);
    PFMON_STOP("thread");
    return unused;
}}
int main(void) {{
    pthread_t thread;
    PFMON_START("loop");
    spin(500);
    PFMON_STOP("loop");
    PFMON_START("waits");
    pthread_create(&thread, 0, other, 0);
    pthread_join(thread, 0);
    PFMON_STOP("waits");
    pwrite(-1, "pfmon:start call", 16, 0);
    spin(700);
    pwrite(-1, "pfmon:stop call", 15, 0);
    return 0;
}}
"""
CPP_PROGRAM = f"""
#include <pfmon.h>
#include <stdexcept>
{SPIN}
static void thrown() {{
    PFMON_REGION("scope");
    spin(300);
    throw std::runtime_error("left");
}}
int main() {{
    PFMON_REGION("main"); PFMON_REGION("all");
    try {{ thrown(); }} catch (std::exception &) {{ spin(100000); }}
}}
"""
RUST_PROGRAM = """
mod pfmon;
#[inline(never)]
fn work(count: u64) -> u64 { let mut sum = 0; for i in 0..count { sum = std::hint::black_box(sum + i); } sum }
fn main() {
    let name = std::ffi::CString::new("work").unwrap();
    {
        let _region = pfmon::region(&name);
        work(1000);
    }
    std::process::exit((work(100_000) == 0) as i32);
}
"""
GO_PROGRAM = """
package main

import (
	"example/pfmon"
	"runtime"
	"syscall"
)

//go:noinline
func work(count int) (sum int) {
	for i := 0; i < count; i++ {
		sum += i
	}
	return
}

func main() {
	runtime.LockOSThread()
	region := pfmon.Name("work")
	pfmon.Start(region)
	work(1000)
	pfmon.Stop(region)
	syscall.Pwrite(-1, []byte("pfmon:start call"), 0)
	work(2000)
	syscall.Pwrite(-1, []byte("pfmon:stop call"), 0)
}
"""
PYTHON_PROGRAM = """
import os
def mark(text):
    try:
        os.pwrite(-1, text, 0)
    except OSError:
        pass
mark(b"pfmon:start few")
for _ in range(100): pass
mark(b"pfmon:stop few")
mark(b"pfmon:start many")
for _ in range(10100): pass
mark(b"pfmon:stop many")
"""
PERL_PROGRAM = """
syscall(18, -1, my $start = "pfmon:start work", 16, 0);
for (1..1000) { }
syscall(18, -1, my $stop = "pfmon:stop work", 15, 0);
"""


def built(folder: Path, compiler: Sequence[str], source: str, name: str) -> str:
    """A program, compiled with what `pfmon --cflags` prints."""
    (folder / name).write_text(source)
    flags = subprocess.run([sys.executable, "-m", "pfmon", "--cflags"], capture_output=True, text=True, check=True)
    words = [*compiler, *flags.stdout.split(), "-Wall", "-Wextra", "-Werror", "-o", folder / "program", folder / name]
    subprocess.run([*words, "-lpthread"], check=True)
    return str(folder / "program")


def counts(*command: str) -> dict[str, int]:
    """The instructions of each region."""
    done = run(command, events=EVENT, per_region=True, capture=True)
    assert done.status == 0, done.error_output
    return {one.name: one.retired for one in done.regions or () if one.name}


@RUNS_X86_64
@needs("cc")
@each("options", [("-O0", "-std=c89"), ("-O2",), ("-O3", "-masm=intel", "-fPIC")])
def test_pfmon_h_in_c(tmp_path: Path, options: tuple[str, ...]) -> None:
    found = counts(built(tmp_path, ["gcc", *options], C_PROGRAM, "program.c"))
    assert 2 * 500 <= found["loop"] < 2 * 500 + 20
    assert 2 * 2000 <= found["thread"] < 2 * 2000 + 20
    assert found["waits"] > 2000
    assert 2 * 700 <= found["call"] < 2 * 700 + 2000
    alone = run(tmp_path / "program", events=EVENT, region="waits", per_thread=True)
    assert [one.place for one in alone.threads or ()] == [0]  # the other thread is in no region of this one's


@RUNS_X86_64
@needs("cc")
@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not here")
def test_a_scope_of_cpp_is_left_by_an_exception(tmp_path: Path) -> None:
    found = counts(built(tmp_path, ["g++", "-O2", "-std=c++11"], CPP_PROGRAM, "program.cpp"))
    assert 2 * 300 <= found["scope"] < found["main"] - 2 * 100_000
    assert found["all"] < found["main"]


@needs("cc")
def test_pfmon_h_marks_nothing_on_other_processors(tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text('#include <pfmon.h>\nint main(void) { PFMON_START("a"); PFMON_STOP("a"); }\n')
    words = ["gcc", "-E", "-P", "-U__x86_64__", f"-I{FOLDER}", tmp_path / "program.c"]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert "asm" not in text and '((void)("a"))' in text


@needs("cc")
def test_pfmon_h_has_the_nops_of_ia64_that_its_engine_knows(tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text('#include <pfmon.h>\nPFMON_START("a"); PFMON_STOP("a");\n')
    words = ["gcc", "-E", "-P", "-U__x86_64__", "-D__ia64__", f"-I{FOLDER}", tmp_path / "program.c"]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    first, second = (part.split('"')[0] for part in text.split('nop.m " "')[1:])
    load = f"movl r14=0x{DATA:x}"
    lines = [load, f"nop.m {first}", ("MII", "adds r9=1,r9", "", ""), load, f"nop.m {second}", *EXIT]
    done = run(write_program(tmp_path / "program", lines, b"a\0"), events="ia64_inst_retired", region="a")
    assert [one.value for one in done.counts] == [2 + 3 + 2]


@RUNS_X86_64
@pytest.mark.skipif(shutil.which("rustc") is None, reason="rustc is not here")
def test_rust(tmp_path: Path) -> None:
    shutil.copy(FOLDER / "pfmon.rs", tmp_path)
    (tmp_path / "program.rs").write_text(RUST_PROGRAM)
    words = ["rustc", "--edition", "2021", "-O", "-D", "warnings", "-o", "program", "program.rs"]
    subprocess.run(words, cwd=tmp_path, check=True)
    assert 3 * 1000 < counts(str(tmp_path / "program"))["work"] < 10 * 1000


@RUNS_X86_64
@pytest.mark.skipif(shutil.which("go") is None, reason="go is not here")
def test_go(tmp_path: Path) -> None:
    shutil.copytree(FOLDER / "go", tmp_path / "pfmon")
    (tmp_path / "go.mod").write_text("module example\ngo 1.18\n")
    (tmp_path / "main.go").write_text(GO_PROGRAM)
    subprocess.run(["go", "build", "-o", "program", "."], cwd=tmp_path, check=True)
    subprocess.run(["go", "vet", "./pfmon"], cwd=tmp_path, check=True)
    found = counts(str(tmp_path / "program"))
    assert 3 * 1000 < found["work"] < 6 * 1000
    assert 6 * 1000 < found["call"] < 12 * 1000


@RUNS_X86_64
def test_a_write_that_fails_marks_in_python(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PYTHON_PROGRAM)
    found = counts(sys.executable, "-S", "-I", str(tmp_path / "program.py"))
    loop = (found["many"] - found["few"]) / 10_000
    assert 20 < loop < 1000  # instructions of the interpreter in a turn of the loop


@RUNS_X86_64
@pytest.mark.skipif(shutil.which("perl") is None, reason="perl is not here")
def test_a_write_that_fails_marks_in_perl(tmp_path: Path) -> None:
    (tmp_path / "program.pl").write_text(PERL_PROGRAM)
    assert counts("perl", str(tmp_path / "program.pl"))["work"] > 10 * 1000


def call(number: int, place: int, length: int) -> list[str]:
    """A system call of IA-64 on file -1."""
    places = ["adds r32=-1,r0", f"movl r33=0x{DATA + place:x}", f"adds r34={length},r0", "adds r35=0,r0"]
    return ["alloc r36=ar.pfs,8,0,0", *places, f"adds r15={number},r0", "break.m 0x100000"]


@each("number", [1027, 1149])
def test_a_write_that_fails_marks_in_ia64_programs(tmp_path: Path, number: int) -> None:
    texts = b"pfmon:start work".ljust(32, b"\0") + b"pfmon:stop work\n".ljust(32, b"\0")
    begin, end = call(number, 0, 16), call(number, 32, 16)
    path = write_program(tmp_path / "program", [*begin, "adds r9=1,r9", *end, *EXIT], texts)
    # Behind the break two nops of its bundle; the instruction with two; of the call five bundles of three and one of
    # two. The break does not retire.
    done = run(path, events="ia64_inst_retired", region="work")
    assert [one.value for one in done.counts] == [2 + 3 + 5 * 3 + 2]
    assert done.notes == ()


@RUNS_X86_64
@needs("cc")
def test_children_are_outside_of_their_parents_regions(tmp_path: Path) -> None:
    source = f"""
#include <pfmon.h>
#include <sys/wait.h>
#include <unistd.h>
{SPIN}
int main(void) {{
    PFMON_START("parent");
    if (!fork()) {{
        spin(10000);
        PFMON_START("child");
        spin(200);
        PFMON_STOP("child");
        _exit(0);
    }}
    wait(0);
    PFMON_STOP("parent");
    return 0;
}}
"""
    path = built(tmp_path, ["gcc", "-O2"], source, "program.c")
    done = run(path, events=EVENT, region="parent,child", follow_all=True)
    parent, child = (task.counts[0].value for task in done.tasks or ())
    assert isinstance(child, int) and isinstance(parent, int)
    assert 2 * 200 <= child < 2 * 200 + 20
    assert parent < 2 * 10000
    assert done.notes == ()


@needs("cc")
def test_folder_of_marks_is_printed() -> None:
    assert pfmon("--include-dir").stdout == f"{FOLDER}\n"
    assert pfmon("--cflags").stdout == f"-I{FOLDER}\n"
    assert {path.name for path in FOLDER.iterdir()} >= {"pfmon.h", "pfmon.rs", "go"}


@RUNS_X86_64
@needs("cc")
def test_the_program_of_the_page(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "regions.md").read_text()
    found = counts(built(tmp_path, ["gcc", "-O2"], page.split("```c\n")[1].split("```")[0], "prog.c"))
    assert list(found) == ["sort"] and found["sort"] > 20_000 * 10
