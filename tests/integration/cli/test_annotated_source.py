"""--annotate FILE: counts beside the lines of a source file, of code that is inlined and of shared objects too."""

import json
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from command import pfmon, refused
from host_programs import RUNS_X86_64, needs

import pfmon as library

pytestmark = [
    needs("cc"),
    RUNS_X86_64,
]
STORES = "MEM_INST_RETIRED.ALL_STORES"
HEADER = """\
extern volatile long cells[4];
static inline void bump(int turns)
{
    for (int i = 0; i < turns; i++)
        cells[0] = i;
}
"""
LIBRARY = """\
#include "bump.h"
volatile long cells[4];
void far(int turns)
{
    bump(turns);
    for (int i = 0; i < turns; i++)
        cells[1] = i;
}
"""
MAIN = """\
#include "bump.h"
void far(int turns);
int main(void)
{
    bump(500);
    far(300);
    for (int i = 0; i < 200; i++)
        cells[2] = i;
    return 0;
}
"""


@pytest.fixture(scope="module", name="built")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program, its header with an inlined function, and a shared object with the same header."""
    folder = tmp_path_factory.mktemp("built")
    for name, text in {"bump.h": HEADER, "far.c": LIBRARY, "main.c": MAIN}.items():
        (folder / name).write_text(text)
    flags = ["-g", "-O1", "-fno-tree-vectorize"]
    subprocess.run(["cc", *flags, "-shared", "-fPIC", "-o", "libfar.so", "far.c"], cwd=folder, check=True)
    link = ["-L.", "-lfar", f"-Wl,-rpath,{folder}"]
    subprocess.run(["cc", *flags, "-o", "main", "main.c", *link], cwd=folder, check=True)
    return folder


def counted(built: Path, file: str) -> dict[int, int]:
    """The stores of a file's lines."""
    done = pfmon("--json", "-e", STORES, "--pmu=skylake", f"--annotate={file}", str(built / "main"))
    assert (done.returncode, done.stderr) == (0, "")
    source = json.loads(done.stdout)["profile"]["source"]
    assert source["file"].endswith(f"/{file.rpartition(':')[2]}")
    return {row["line"]: row["counts"][0] for row in source["lines"] if row["counts"]}


@pytest.mark.parametrize(
    ("file", "line", "stores"),
    [("bump.h", 5, 500 + 300), ("main.c", 8, 200), ("far.c", 7, 300), ("libfar.so:far.c", 7, 300)],
)
@pytest.mark.slow
def test_a_line_has_the_stores_of_its_loop_wherever_it_is_inlined(
    built: Path, file: str, line: int, stores: int
) -> None:
    assert counted(built, file)[line] == stores


@pytest.mark.slow
def test_lines_are_what_addr2line_says_of_the_instructions(built: Path) -> None:
    run = library.run([str(built / "main")], events="instructions", annotate="main", per_line=True, capture=True)
    assert run.annotated and run.lines
    words = ["addr2line", "-e", str(built / "main")]
    base = run.annotated[0].address - symbol(built / "main", "main")
    own: Counter[str] = Counter()
    for row in run.annotated:
        if row.counts:
            said = subprocess.run([*words, hex(row.address - base)], capture_output=True, text=True, check=True).stdout
            own[said.split()[0].rpartition("/")[2]] += int(row.counts[0] or 0)
    table = {row.name.rpartition("/")[2]: row.values[0] for row in run.lines if not row.object}
    assert own and {line: table[line] for line in own} == dict(own)
    objects = {row.name.rpartition("/")[2]: row.object.rpartition("/")[2] for row in run.lines}
    assert objects["far.c:7"] == "libfar.so" and objects["main.c:8"] == ""


def symbol(program: Path, name: str) -> int:
    """The address that nm has for a symbol."""
    rows = subprocess.run(["nm", str(program)], capture_output=True, text=True, check=True).stdout.splitlines()
    return next(int(row.split()[0], 16) for row in rows if row.endswith(f" {name}"))


@pytest.mark.slow
def test_a_short_file_is_printed_whole(built: Path) -> None:
    text = pfmon("-e", STORES, "--pmu=skylake", "--annotate=main.c", str(built / "main")).stdout
    rows = text[text.index("lines of ") :].splitlines()
    assert rows[0] == f"lines of {built}/main.c"
    assert [row.split(maxsplit=1)[-1] for row in rows[1:3]] == ['#include "bump.h"', "void far(int turns);"] or (
        '1 #include "bump.h"' in rows[1]
    )
    assert len(rows) == 1 + MAIN.count("\n") and "200   8         cells[2] = i;" in " ".join(rows[8].split(" "))


@pytest.mark.slow
def test_of_a_long_file_the_lines_near_counts_are_printed(built: Path, tmp_path: Path) -> None:
    (tmp_path / "long.c").write_text("\n" * 300 + "int main(void)\n{\n    return 0;\n}\n" + "\n" * 40)
    subprocess.run(["cc", "-g", "-o", "long", "long.c"], cwd=tmp_path, check=True)
    text = pfmon("-e", "instructions", "--annotate=long.c", str(tmp_path / "long")).stdout
    rows = [row.strip() for row in text[text.index("lines of ") :].splitlines()[1:]]
    assert rows[0] == "... lines 1 to 296" and rows[-1] == "... lines 310 to 344"
    assert sum(not row.startswith("...") for row in rows) == 13


@pytest.mark.slow
def test_a_file_that_is_gone_is_said_in_a_line(built: Path, tmp_path: Path) -> None:
    (tmp_path / "gone.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["cc", "-g", "-o", "gone", "gone.c"], cwd=tmp_path, check=True)
    (tmp_path / "gone.c").unlink()
    done = pfmon("-e", "instructions", "--annotate=gone.c", str(tmp_path / "gone"))
    assert done.stderr == f"pfmon: {tmp_path}/gone.c: no such file there; its lines are without text\n"
    rows = done.stdout[done.stdout.index("lines of ") :].splitlines()
    assert len(rows) == 2 and rows[1].endswith(" 1")


@pytest.mark.slow
def test_a_recording_is_annotated_by_line(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert pfmon("record", str(built / "main")).returncode == 0
    text = pfmon("annotate", "-e", STORES, "--pmu=skylake", "bump.h").stdout
    assert any(row.split() == ["800", "5", "cells[0]", "=", "i;"] for row in text.splitlines())
    assert "lines of " in pfmon("annotate", "-d", "libfar.so", "far.c").stdout


def test_a_function_is_annotated_as_before(built: Path) -> None:
    assert "instructions of main" in pfmon("-e", "instructions", "--annotate=main", str(built / "main")).stdout


@pytest.mark.slow
def test_mistakes_are_said_before_the_run(built: Path) -> None:
    main = str(built / "main")
    assert "unknown source file 'mian.c'; nearest: main.c" in refused("-e", "cycles", "--annotate=mian.c", main)
    assert "unknown code symbol 'mian'" in refused("-e", "cycles", "--annotate=mian", main)


@pytest.mark.slow
def test_files_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for folder, value in (("one", 1), ("two", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.c").write_text(f"int {folder}(void) {{ return {value}; }}\n")
    (tmp_path / "main.c").write_text("int one(void), two(void);\nint main(void) { return one() + two() - 3; }\n")
    subprocess.run(["cc", "-g", "-o", "main", "main.c", "one/same.c", "two/same.c"], cwd=tmp_path, check=True)
    main = str(tmp_path / "main")
    assert "give more of the path" in refused("-e", "cycles", "--annotate=same.c", main)
    assert "return 2;" in pfmon("-e", "cycles", "--annotate=two/same.c", main).stdout


@pytest.mark.slow
def test_a_source_of_an_object_that_the_program_opens_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    loop = "    for (int i = 0; i < n; i++)\n        s += i;\n"
    (tmp_path / "plug.c").write_text(f"int work(int n)\n{{\n    int s = 0;\n{loop}    return s;\n}}\n")
    calls = 'void *h = dlopen("./plug.so", RTLD_NOW);\n    return ((int (*)(int)) dlsym(h, "work"))(500) == 1;'
    (tmp_path / "main.c").write_text(f"#include <dlfcn.h>\nint main(void)\n{{\n    {calls}\n}}\n")
    subprocess.run(["cc", "-g", "-O0", "-shared", "-fPIC", "-o", "plug.so", "plug.c"], check=True)
    subprocess.run(["cc", "-o", "main", "main.c", "-ldl"], check=True)
    done = pfmon("--json", "-e", "branches", "--annotate=plug.so:plug.c", "./main")
    lines = json.loads(done.stdout)["profile"]["source"]["lines"]
    (turns,) = [row for row in lines if row["line"] == 4]
    assert turns["counts"][0] in (501, 502)  # the test of each turn and the last one; a jump to it
