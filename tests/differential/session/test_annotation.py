"""Source lines and inlined functions beside instructions, against what addr2line of binutils says."""

import json
import subprocess
from pathlib import Path

import pytest
from command import pfmon
from cpp_program import NAME, line, write_cpp_program
from grids import diagonal
from qemu_guests import ASSEMBLER, QEMU

import pfmon as library

EVENT = "INSTRUCTIONS_RETIRED"

SOURCE = """
static volatile long sum;
static inline __attribute__((always_inline)) void inner(long n) {
    sum += n;
    sum ^= 3 * n;
}
static inline __attribute__((always_inline)) void middle(long n) {
    inner(n);
    for (long i = 0; i < n; i++)
        inner(i);
}
__attribute__((noinline)) long work(long n) {
    middle(n);
    if (n & 1)
        inner(2);
    return sum;
}
int main(void) { return work(5) == 0; }
"""


def program(directory: Path, *options: str) -> Path:
    (directory / "source.c").write_text(SOURCE)
    made = directory / "program"
    command = ["cc", "-g", "-O1", "-no-pie", *options, "-o", made, "source.c"]
    subprocess.run(command, check=True, capture_output=True, cwd=directory)
    return made


def by_addr2line(program: Path, addresses: list[int]) -> list[tuple[str, int, tuple[str, ...]]]:
    """File, line and inlined functions, the innermost first, of each address."""
    found = []
    for address in addresses:
        command = ["addr2line", "-i", "-f", "-e", str(program), f"{address:#x}"]
        words = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
        file, _, number = words[1].partition(" ")[0].rpartition(":")
        found.append((Path(file).name, int(number), tuple(words[:-2:2])))
    return found


@pytest.mark.slow
@QEMU
@ASSEMBLER
@diagonal
@pytest.mark.parametrize("listed", [True, False], ids=["by .debug_aranges", "by units"])
@pytest.mark.parametrize("version", [4, 5])
def test_lines_and_inlined_functions_are_those_of_addr2line(version: int, listed: bool, tmp_path: Path) -> None:
    path = program(tmp_path, f"-gdwarf-{version}")
    if not listed:
        subprocess.run(["objcopy", "--remove-section=.debug_aranges", path], check=True)
    rows = library.run(str(path), events=EVENT, annotate="work").annotated
    assert rows is not None and len(rows) > 10
    wanted = by_addr2line(path, [row.address for row in rows])
    assert [(Path(row.file).name, row.line, row.inlined) for row in rows] == wanted
    assert {functions for _, _, functions in wanted} >= {("inner", "middle"), ("inner",), ()}


@pytest.mark.slow
@QEMU
@ASSEMBLER
def test_text_of_lines_stands_before_their_instructions(tmp_path: Path) -> None:
    path = program(tmp_path, f"-ffile-prefix-map={tmp_path}=.")
    words = ("-e", EVENT, "--annotate=work", str(path))
    listed = pfmon(*words).stdout.splitlines()[3:]
    headings = [entry.strip() for entry in listed if "source.c:" in entry]
    assert "source.c:5 (inner, in middle, inlined) sum ^= 3 * n;" in headings
    assert "source.c:14 if (n & 1)" in headings
    (tmp_path / "source.c").unlink()
    headings = [entry.strip() for entry in pfmon(*words).stdout.splitlines()[3:] if "source.c:" in entry]
    assert "source.c:5 (inner, in middle, inlined)" in headings
    rows = json.loads(pfmon("--json", *words).stdout)["profile"]["annotated"]["instructions"]
    assert {row["file"] for row in rows} == {"./source.c"}
    assert {tuple(row["inlined"]) for row in rows} >= {("inner", "middle"), ("inner",), ()}


def test_lines_of_bundles_are_those_of_the_program(tmp_path: Path) -> None:
    path = str(write_cpp_program(tmp_path / "shapes"))
    rows = library.run(path, events="ia64_inst_retired", annotate=NAME).annotated
    assert rows is not None
    assert [(row.file, row.line) for row in rows] == [line(row.address | row.slot) for row in rows]
    assert [row.inlined for row in rows] == [()] * len(rows)


def test_without_dwarf_there_are_instructions_alone(tmp_path: Path) -> None:
    path = str(write_cpp_program(tmp_path / "shapes", dwarf=False))
    done = pfmon("-e", "ia64_inst_retired", f"--annotate={NAME}", path)
    assert "shape.h" not in done.stdout and "[no source line]" not in done.stdout
    rows = json.loads(pfmon("--json", "-e", "ia64_inst_retired", f"--annotate={NAME}", path).stdout)
    assert {row["file"] for row in rows["profile"]["annotated"]["instructions"]} == {None}
