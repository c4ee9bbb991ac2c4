"""Separate debug files, as a distribution makes them: found by build id and by name, and their names and lines used."""

import subprocess
from pathlib import Path

import pytest
from command import pfmon, refused
from grids import first_quick
from qemu_guests import ASSEMBLER, QEMU
from shared_objects import write_caller

import pfmon as library

EVENT = "INSTRUCTIONS_RETIRED"
pytestmark = [QEMU, ASSEMBLER]

SOURCE = """
static volatile long sum;
static void __attribute__((noinline)) hidden(long n) {
    for (long i = 0; i < n; i++)
        sum += i;
}
void work(long n) { hidden(n); sum++; }
"""


def run(*words: str | Path) -> str:
    return subprocess.run(list(words), check=True, capture_output=True, text=True).stdout


@pytest.fixture
def stripped(tmp_path: Path) -> Path:
    """A shared object without names of its own functions; work.debug has them."""
    (tmp_path / "work.c").write_text(SOURCE)
    made = tmp_path / "libwork.so"
    run("cc", "-g", "-O1", "-shared", "-fPIC", "-Wl,--build-id", "-o", made, tmp_path / "work.c")
    run("objcopy", "--only-keep-debug", made, tmp_path / "work.debug")
    run("strip", made)
    return made


def build_id(path: Path) -> str:
    """What readelf says."""
    return next(line.split()[-1] for line in run("readelf", "-n", path).splitlines() if "Build ID" in line)


def place(stripped: Path, directory: Path) -> Path:
    """Put the debug file below a directory, by the build id."""
    name = build_id(stripped)
    target = directory / ".build-id" / name[:2] / f"{name[2:]}.debug"
    target.parent.mkdir(parents=True)
    stripped.with_name("work.debug").rename(target)
    return target


def hidden(program: Path, **options: object) -> list[str]:
    """The objects of functions that are called ``hidden``."""
    done = library.run(str(program), events=EVENT, per_function=True, **options)  # type: ignore[arg-type]  # any option
    return [Path(row.object).name for row in done.functions or () if row.name == "hidden"]


@pytest.mark.slow
def test_debug_files_are_found_by_build_id(stripped: Path, tmp_path: Path) -> None:
    program = write_caller(tmp_path, stripped, f"-Wl,-rpath,{tmp_path}")
    assert hidden(program) == []
    place(stripped, tmp_path / "elsewhere")
    assert hidden(program) == []
    assert hidden(program, debug_dir=tmp_path / "elsewhere") == ["libwork.so"]
    words = ("-e", EVENT, f"--debug-dir={tmp_path / 'elsewhere'}")
    listed = pfmon(*words, "--annotate=hidden", str(program)).stdout
    assert "instructions of hidden" in listed and "work.c:5" in listed
    lines = pfmon(*words, "--annotate=work.c:4-5", str(program)).stdout
    assert "instructions of work.c:4-5" in lines


@pytest.mark.slow
def test_debug_files_are_found_below_the_sysroot(stripped: Path, tmp_path: Path) -> None:
    program = write_caller(tmp_path, stripped, f"-Wl,-rpath,{tmp_path}")
    place(stripped, tmp_path / "root" / "usr" / "lib" / "debug")
    assert hidden(program, sysroot=tmp_path / "root") == ["libwork.so"]


@pytest.mark.slow
@pytest.mark.parametrize("folder", first_quick(["", ".debug"]))
def test_debug_files_are_found_by_name(folder: str, stripped: Path, tmp_path: Path) -> None:
    program = write_caller(tmp_path, stripped, f"-Wl,-rpath,{tmp_path}")
    debug = stripped.with_name("work.debug")
    run("objcopy", f"--add-gnu-debuglink={debug}", stripped)
    (tmp_path / folder).mkdir(exist_ok=True)
    debug = debug.rename(tmp_path / folder / "work.debug")
    assert hidden(program) == ["libwork.so"]
    debug.write_bytes(debug.read_bytes() + b"\0")  # its CRC-32 is another
    assert hidden(program) == []


@pytest.mark.slow
def test_debug_file_of_another_build_is_none(stripped: Path, tmp_path: Path) -> None:
    program = write_caller(tmp_path, stripped, f"-Wl,-rpath,{tmp_path}")
    target = place(stripped, tmp_path / "elsewhere")
    content = target.read_bytes()
    identity = bytes.fromhex(build_id(stripped))
    target.write_bytes(content.replace(identity, bytes(len(identity))))
    assert hidden(program, debug_dir=tmp_path / "elsewhere") == []
    target.write_bytes(content[:100])
    assert hidden(program, debug_dir=tmp_path / "elsewhere") == []


@pytest.mark.slow
def test_program_itself_has_one_too(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(SOURCE + "int main(void) { work(1000); return 0; }")
    program = tmp_path / "main"
    run("cc", "-g", "-O1", "-Wl,--build-id", "-o", program, tmp_path / "main.c")
    run("objcopy", "--only-keep-debug", program, tmp_path / "work.debug")
    run("strip", program)
    assert hidden(program) == []
    place(program, tmp_path / "elsewhere")
    assert hidden(program, debug_dir=[tmp_path, tmp_path / "elsewhere"]) == [""]


def test_debug_directory_that_is_none_is_one_line(tmp_path: Path) -> None:
    said = refused("-e", EVENT, f"--debug-dir={tmp_path / 'none'}", "/bin/true")
    assert "--debug-dir" in said and "a directory is wanted" in said
