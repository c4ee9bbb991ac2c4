"""Code that a program generates, and programs that only look like an interpreter."""

import json
import subprocess
from pathlib import Path

import pytest
from command import pfmon
from host_programs import RUNS_X86_64, needs

pytestmark = [
    needs("cc"),
    RUNS_X86_64,
]
GENERATES = r"""
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
/* mov ecx, edi; again: dec ecx; jnz again; ret */
static const unsigned char code[] = {0x89, 0xF9, 0xFF, 0xC9, 0x75, 0xFC, 0xC3};
int main(void) {
    char path[64];
    unsigned char *at = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(at, code, sizeof(code));
    snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
    FILE *map = fopen(path, "w");
    fprintf(map, "%lx %zx JS:*count down\n", (unsigned long)at, sizeof(code));
    fclose(map);
    ((void (*)(int))at)(1000);
    return 0;
}
"""
LOOKS_LIKE_PYTHON = r"""
#include <string.h>
unsigned long Py_Version = 0x030B02F0;
static unsigned long frame[16], code[64], name[16], lines[16];
/* Stores as the evaluation loop does: `at` into the frame. */
__attribute__((noinline, used)) void _PyEval_EvalFrameDefault(void *to, unsigned long at) {
    __asm__ volatile(BEFORE "mov %1, 0x38(%0)" : : "r"(to), "r"(at) : "memory");
}
static void with(int place, unsigned long value) {
    unsigned long kept = code[place];
    code[place] = value;
    _PyEval_EvalFrameDefault(frame, (unsigned long)code + 184);
    code[place] = kept;
}
int main(void) {
    static const unsigned long wild[] = {0, 1, 8, 4096, 0x10000, 1ul << 47, -8ul, -1ul, 0x7E000000, 0x710000000000};
    unsigned i, k;
    code[2] = 8;
    frame[4] = (unsigned long)code;
    code[14] = code[16] = (unsigned long)name;
    code[17] = (unsigned long)lines;
    name[2] = 3;
    name[4] = 0x64;
    memcpy(&name[6], "abc", 3);
    memset(lines, 0xFF, sizeof(lines));
    lines[2] = 64;
    for (i = 0; i < sizeof(wild) / sizeof(*wild); i++) {
        for (k = 2; k < 20; k++)
            with(k, wild[i]);
        _PyEval_EvalFrameDefault(frame, wild[i]);
        lines[2] = wild[i];
        with(3, 0);
        lines[2] = 64;
        name[2] = wild[i];
        with(3, 0);
        name[2] = 3;
        name[4] = wild[i];
        with(3, 0);
        name[4] = 0x64;
        frame[4] = wild[i];
        _PyEval_EvalFrameDefault(frame, (unsigned long)code + 184);
        frame[4] = (unsigned long)code;
    }
    return 7;
}
"""


def compiled(folder: Path, text: str, *options: str) -> str:
    (folder / "program.c").write_text(text)
    words = ["cc", "-O1", "-no-pie", "-rdynamic", *options, "-o", "program", "program.c"]
    subprocess.run(words, cwd=folder, check=True)
    return str(folder / "program")


def test_generated_code_has_its_name_and_its_count(tmp_path: Path) -> None:
    done = pfmon("--json", "--per-function", "-e", "instructions", compiled(tmp_path, GENERATES))
    rows = {row["name"]: row["counts"] for row in json.loads(done.stdout)["profile"]["functions"]}
    assert rows["JS:*count down"] == [2 + 2 * 1000]


@pytest.mark.parametrize("before", ["", "nop;"])
def test_wild_frames_and_code_objects_change_no_count(before: str, tmp_path: Path) -> None:
    program = compiled(tmp_path, LOOKS_LIKE_PYTHON, f'-DBEFORE="{before}"')
    plain = pfmon("--json", "-e", "instructions", program)
    split = pfmon("--json", "--per-function", "-e", "instructions", program)
    assert plain.returncode == split.returncode == 7
    counts = [json.loads(one.stdout)["events"][0]["count"] for one in (plain, split)]
    assert counts[0] == counts[1]
    python = json.loads(split.stdout)["profile"]["python"]
    assert bool(python) == bool(before)
    assert not python or sum(row["counts"][0] for row in python["functions"]) == counts[0]
