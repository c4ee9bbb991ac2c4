"""Programs that a Linux kernel runs for the user: their files, arguments, environment, status and signals."""

import lzma
import re
from pathlib import Path

import pytest
from command import pfmon, pfmon_given
from grids import each
from shared_programs import folder, needs

KERNELS, DYNAMIC, THREADS = folder("kernel"), folder("dynamic"), folder("threads")
SHELL = str(folder("real") / "dash")
COUNTED = ("-e", "ia64_inst_retired", "-k", "--outfile=/dev/null")
EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "ia64"
pytestmark = [needs("kernel"), needs("real"), pytest.mark.slow]


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("kernels") / "vmlinux-plain"
    place.write_bytes(lzma.decompress((KERNELS / "vmlinux-plain.xz").read_bytes()))
    return str(place)


def test_standard_files_and_status_pass_through(kernel: str, tmp_path: Path) -> None:
    script = """
        echo "arguments $0 $1"; echo "variable $VARIABLE"; pwd
        read line; echo "read <$line>"
        while read line; do last=$line; done; echo "last $last"
        echo "to error" >&2
        printf 'a\\000\\302\\265\\r\\n'
        [ -e /proc/self/stat ] && [ -d /sys/kernel ] && [ -c /dev/null ] && echo mounted
        read line < given/file; echo "file $line"
        echo output > left
        exit 9
    """
    (tmp_path / "input").write_text("first line\n" + "x" * 60 + "\n" + "middle\n" * 5000 + "end\n")
    (tmp_path / "file").write_text("content\n")
    files = ("--guest-file", f"{tmp_path / 'file'}=given/file", "--guest-output", f"left={tmp_path / 'left'}")
    with (tmp_path / "input").open("rb") as given:
        ran = pfmon_given(
            *(given.fileno(), "--system", kernel, "--env", "VARIABLE=some value", *files, *COUNTED),
            *("--", SHELL, "-c", script, "name", "argument"),
        )
    assert ran.stdout == (
        f"arguments name argument\nvariable some value\n{Path.cwd()}\nread <first line>\nlast end\n"
        "a\0µ\r\nmounted\nfile content\n"
    )
    assert ran.stderr == "to error\n"
    assert ran.returncode == 9
    assert (tmp_path / "left").read_text() == "output\n"


def test_signal_is_said_as_of_any_program(kernel: str, tmp_path: Path) -> None:
    ran = pfmon(
        "--system", kernel, *COUNTED, "--guest-output", f"/none={tmp_path / 'none'}", "--", SHELL, "-c", "kill -11 $$"
    )
    assert ran.returncode == 139
    assert "pfmon: the program was killed by signal 11 (SIGSEGV): Segmentation fault\n" in ran.stderr
    assert f"--guest-output: {tmp_path / 'none'} is not written: in the system: No such file or directory" in ran.stderr
    assert not (tmp_path / "none").exists()


def test_program_that_the_kernel_refuses_is_said(kernel: str, tmp_path: Path) -> None:
    """Its segment is in the kernel's region."""
    broken = tmp_path / "broken"
    data = bytearray((EXAMPLES / "noploop").read_bytes())
    data[16:18] = b"\3\0"  # position-independent, at addresses of a fixed one
    broken.write_bytes(data)
    broken.chmod(0o755)
    ran = pfmon("--system", kernel, *COUNTED, "--", str(broken))
    assert ran.returncode in (126, 139)
    assert ran.stderr.startswith("pfmon: the ")


@needs("dynamic")
def test_dynamic_program_has_its_libraries(kernel: str) -> None:
    ran = pfmon(
        "--system", kernel, "--sysroot", str(DYNAMIC / "sysroot"), *COUNTED, "--", str(DYNAMIC / "bin" / "hello")
    )
    assert (ran.stdout, ran.stderr, ran.returncode) == ((DYNAMIC / "expected" / "hello.txt").read_text(), "", 0)


@needs("threads")
@each("name", ["mutex_counter", "fork_pipe", "exec_pipeline"])
def test_threads_and_processes_run(kernel: str, name: str) -> None:
    ran = pfmon("--system", kernel, *COUNTED, "--", str(THREADS / name))
    assert (ran.stdout, ran.returncode) == ((THREADS / "expected" / f"{name}.txt").read_text(), 0)


@each("name", ["sha256", "nbody"])
def test_example_prints_what_it_prints_alone(kernel: str, name: str) -> None:
    program = str(EXAMPLES / name)
    alone, under = (
        pfmon(*COUNTED[:2], "--outfile=/dev/null", program),
        pfmon("--system", kernel, *COUNTED, "--", program),
    )
    assert (under.stdout, under.returncode) == (alone.stdout, 0)


def test_console_is_on_standard_error_if_it_is_wanted(kernel: str) -> None:
    ran = pfmon("--system", kernel, "--console", *COUNTED, "--", SHELL, "-c", "echo only this")
    assert ran.stdout == "only this\n"
    assert re.search(r"^\[ +0\.0+\] Linux version", ran.stderr, re.MULTILINE)
    assert "Run /init as init process" in ran.stderr
