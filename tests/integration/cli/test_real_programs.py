"""Programs of the host under qemu, from beginning to end: their output is right, and counts repeat."""

import gzip
import platform
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from grids import few, first_quick
from qemu_guests import ASSEMBLER, QEMU, compile_c

import pfmon

pytestmark = [
    QEMU,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the host's programs are not x86-64"),
]

EVENTS = ["INSTRUCTIONS_RETIRED", "BRANCH_INSTRUCTIONS_RETIRED"]


def needs(name: str) -> str:
    """The path of a program; the test is skipped where it is not installed."""
    path = shutil.which(name, path="/usr/bin:/bin")
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


def run(command: Sequence[str | Path], **options: Any) -> pfmon.Run:
    done = pfmon.run(list(command), **{"events": EVENTS, "capture": True, **options})
    assert done.counts[0].value == done.retired > int(done.counts[1].value or 0) > 0
    return done


def natively(command: Sequence[str | Path]) -> bytes:
    fixed = {"PATH": "/usr/bin:/bin", "LANG": "C"}
    return subprocess.run(command, capture_output=True, check=True, env=fixed).stdout


@pytest.mark.slow
def test_ls() -> None:
    command = [needs("ls"), "-l", "/usr"]
    done = run(command, host_ids=True, host_clock=True)
    assert done.output == natively(command)
    assert run(command, host_ids=True, host_clock=True).retired == done.retired


@pytest.mark.slow
def test_gzip(tmp_path: Path) -> None:
    text = "".join(f"{number * number}\n" for number in range(20_000)).encode()
    (tmp_path / "text").write_bytes(text)
    command = [needs("gzip"), "-nc", tmp_path / "text"]
    if natively(["head", "-c2", needs("gzip")]) == b"#!":
        pytest.skip("gzip is a script here")
    done = run(command)
    assert done.output is not None and gzip.decompress(done.output) == text
    assert done.output == natively(command)
    assert run(command).retired == done.retired


@pytest.mark.slow
def test_sqlite3() -> None:
    query = (
        "create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000) "
        "insert into t select i, i * i % 97 from n; create index u on t(b); "
        "select b, count(*), sum(a) from t group by b;"
    )
    command = [needs("sqlite3"), ":memory:", query]
    assert run(command).output == natively(command)


@pytest.mark.slow
def test_python() -> None:
    command = [needs("python3"), "-c", "import json; print(json.dumps({'sum': sum(i * i for i in range(10000))}))"]
    assert run(command, environment=["PYTHONHASHSEED=0"]).output == b'{"sum": 333283335000}\n'


@pytest.mark.slow
@ASSEMBLER
def test_gcc_compiles_a_file(tmp_path: Path) -> None:
    (tmp_path / "seven.c").write_text("int seven(void) { return 7; }\n")
    command = [needs("gcc"), "-c", tmp_path / "seven.c", "-o", tmp_path / "seven.o"]
    done = run(command, follow_all=True)
    assert done.status == 0
    made = (tmp_path / "seven.o").read_bytes()
    natively(command)
    assert made == (tmp_path / "seven.o").read_bytes()
    programs = [Path(task.command[0]).name for task in done.tasks or () if task.status is not None]
    assert programs == ["gcc", "cc1", "as"]


JAVA = """
public class Loop {
    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    public static void main(String[] words) {
        long sum = 0;
        for (int i = 0; i < 20; i++) sum += fib(20);
        System.out.println(sum);
    }
}
"""
JIT_SCRIPT = "let s = 0; for (let i = 0; i < 3e6; i++) s += i % 7; console.log(s)"


@pytest.mark.slow
@pytest.mark.parametrize("program", few(["node", "java"], 1))
def test_compilers_at_run_time_repeat(program: str, tmp_path: Path) -> None:
    """Threads that compile while others execute what was compiled: they take turns, and so the counts repeat."""
    (tmp_path / "Loop.java").write_text(JAVA)
    words = {"node": ["-e", JIT_SCRIPT], "java": ["-XX:-UsePerfData", "-Xmx64m", str(tmp_path / "Loop.java")]}[program]
    command = [needs(program), *words]
    first, second = (run(command) for _ in range(2))
    assert (first.output, first.status) == ({"node": b"8999994\n", "java": b"135300\n"}[program], 0)
    assert second.retired == first.retired


def test_luajit() -> None:
    done = run([needs("luajit"), "-e", "local s = 0; for i = 1, 3000000 do s = s + i % 7 end; print(s)"])
    assert (done.output, done.status) == (b"8999997\n", 0)


JIT = """
#include <string.h>
#include <sys/mman.h>
typedef int function(int);
int main(int argc, char **argv) {
    int turns = 20 * (argv[1][0] - 'a'), sum = 0, keep = argc > 2;
    unsigned char *page = NULL;
    for (int i = 0; i < turns; i++) {
        unsigned char code[] = {0x8D, 0x87, i & 0xFF, (i >> 8) & 0xFF, 0, 0, 0xC3};   /* lea i(%rdi), %eax; ret */
        if (!page) page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED) return 1;
        memcpy(page, code, sizeof(code));
        sum += ((function *)page)(i);
        if (!keep) { munmap(page, 4096); page = NULL; }
    }
    return sum / turns;
}
"""


@ASSEMBLER
@pytest.mark.parametrize("options", first_quick([(), ("keep",)], single=True), ids=["unmapped", "overwritten"])
def test_code_that_is_made_again_and_again(options: tuple[str, ...], tmp_path: Path) -> None:
    program = compile_c(tmp_path, JIT, "-static")
    few, more, most = (run([program, letter, *options]) for letter in "fkp")
    assert [one.status for one in (few, more, most)] == [99, 199, 299 % 256]
    assert most.retired - more.retired == more.retired - few.retired > 100 * 10
    assert run([program, "p", *options]).retired == most.retired


@pytest.mark.slow
@ASSEMBLER
def test_programs_that_make_code_one_after_the_other(tmp_path: Path) -> None:
    program = compile_c(tmp_path, JIT, "-static")
    command = ["/bin/sh", "-c", f"{program} b keep; {program} e keep; {program} b keep"]
    done = run(command, follow_all=True)
    assert [task.status for task in done.tasks or () if task.status is not None] == [19, 19, 79, 19]
    found = [task.retired for task in done.tasks or () if ":" in task.name]
    assert found[0] == found[2] < found[1]


@pytest.mark.slow
def test_pipeline_of_many_programs() -> None:
    command = ["/bin/sh", "-c", "ls /usr | sort -r | head -3 | tr a-z A-Z; echo done | cat"]
    done = run(command, follow_all=True)
    assert done.output == natively(command)
    programs = sorted(Path(task.command[0]).name for task in done.tasks or () if ":" in task.name)
    assert programs == ["cat", "head", "ls", "sort", "tr"]
