"""Ranges and triggers by file:line, on programs whose line tables the test writes; readelf reads them the same."""

import shutil
import subprocess
from pathlib import Path

import pytest
from command import example, pfmon, refused
from grids import first_quick
from ia64_program import EXIT, TEXT, debug_lines, write_program

# Bundles of one instruction and two nops: work.c lines 10, 11 (a loop of two bundles), 12, 10 again; other.c line 7.
CODE = ["mov.i ar.lc=9", "loop:", "adds r8=1,r8", "br.cloop.sptk.few loop", "adds r9=1,r9", "adds r9=2,r9", *EXIT]
FILES = ["/src/a/work.c", "/src/b/other.c", "/src/b/same.c", "/src/c/same.c"]
ROWS = [
    [(TEXT, 1, 10), (TEXT + 16, 1, 11), (TEXT + 48, 1, 12), (TEXT + 64, 1, 10), (TEXT + 80, 2, 7), (TEXT + 112, 0, 0)],
    [(TEXT + 112, 3, 300), (TEXT + 128, 4, 1), (TEXT + 144, 0, 0)],
]
EVENT = ("-e", "ia64_inst_retired")


@pytest.fixture
def program(tmp_path: Path) -> str:
    return str(write_program(tmp_path / "work", CODE, debug=debug_lines(FILES, ROWS)))


def count(*words: str) -> int:
    done = pfmon(*EVENT, *words)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return int(done.stdout.split()[0])


# Fine mode has a granularity of two bundles: without it one breakpoint pair is exact here.
@pytest.mark.parametrize(
    ("lines", "instructions"),
    first_quick(
        [("work.c:12", 3), ("a/work.c:12", 3), ("/src/a/work.c:12", 3), ("same.c:300", None), ("work.c:11", 60)]
    ),
)
def test_checkpoints_and_ranges_by_line(program: str, lines: str, instructions: int | None) -> None:
    if instructions is None:
        assert "/src/b/same.c and /src/c/same.c" in refused(*EVENT, f"--irange={lines}", program)
    elif instructions == 3:
        assert count(f"--checkpoint-func={lines}", program) == 3
    else:
        shown = pfmon("-v", *EVENT, f"--irange={lines}", program)
        assert f"line {lines} (code): [{TEXT + 16:#x}-{TEXT + 48:#x})=32 bytes" in shown.stderr


@pytest.mark.parametrize(
    ("lines", "start", "end"),
    first_quick(
        [
            ("work.c:11-12", 16, 64),
            ("work.c:11-work.c:12", 16, 64),
            ("work.c:12-other.c:7", 48, 112),
            ("other.c:7", 80, 112),
            ("b/same.c:300", 112, 128),
            ("work.c:10", 0, 80),
        ]
    ),
)
def test_lines_are_the_code_that_comes_from_them(program: str, lines: str, start: int, end: int) -> None:
    shown = pfmon("--check-events-only", "-v", *EVENT, f"--irange={lines}", program).stdout
    assert f"irange is [{TEXT + start:#x}-{TEXT + end:#x})={end - start} bytes" in shown
    assert ("in several places" in shown) == (lines == "work.c:10")


@pytest.mark.slow
def test_triggers_by_line(program: str) -> None:
    start, stop = "--trigger-code-start-addresses", "--trigger-code-stop-addresses"
    assert count(f"{start}=work.c:11", f"{stop}=work.c:12", program) == 60
    assert count(f"{start}=work.c:12", f"{stop}=other.c:7", program) == 6


def test_symbol_file_has_the_lines_of_a_stripped_program(program: str, tmp_path: Path) -> None:
    stripped = str(write_program(tmp_path / "stripped", CODE))
    assert count("--checkpoint-func=work.c:12", f"--symbol-file={program}", stripped) == 3


@pytest.mark.parametrize(
    ("option", "said"),
    first_quick(
        [
            ("--irange=work.c:13", "no code comes from there; lines with code near it: 10, 11, 12"),
            ("--irange=wrk.c:12", "unknown source file 'wrk.c'; nearest: work.c"),
            ("--irange=work.c:12-11", "line 11 is before line 12"),
            ("--drange=work.c:12", "--drange wants data"),
        ]
    ),
)
def test_lines_that_are_not_there_are_one_line(program: str, option: str, said: str) -> None:
    assert said in refused("-e", "loads_retired", option, program)


@pytest.mark.slow
def test_a_program_without_line_tables_says_so(tmp_path: Path) -> None:
    assert "has no DWARF line tables; compile it with -g" in refused(*EVENT, "--irange=fib.c:1", example("fib"))
    other = tmp_path / "text"
    other.write_text("no ELF file")
    words = (f"--symbol-file={other}", "--irange=fib.c:1", example("fib"))
    assert "the file of --symbol-file has no DWARF line tables" in refused(*EVENT, *words)
    damaged = debug_lines(FILES, ROWS)
    damaged[".debug_line"] = damaged[".debug_line"][:30]
    path = write_program(tmp_path / "damaged", CODE, debug=damaged)
    assert "line tables are damaged" in refused(*EVENT, "--irange=work.c:12", str(path))


@pytest.mark.skipif(shutil.which("readelf") is None, reason="no readelf to compare with")
def test_another_reader_of_the_test_programs_tables_agrees(program: str) -> None:
    shown = subprocess.run(["readelf", "--debug-dump=decodedline", program], capture_output=True, text=True, check=True)
    decoded = {
        (words[0], int(words[1]), int(words[2], 16))
        for words in (line.split() for line in shown.stdout.splitlines())
        if len(words) >= 3 and words[0].endswith(".c") and words[1].isdigit()
    }
    wanted = {(Path(FILES[file - 1]).name, line, address) for rows in ROWS for address, file, line in rows if file}
    assert wanted <= decoded
