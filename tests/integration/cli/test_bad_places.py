"""Where the host is short of something, or output goes where it cannot: one line, the documented status, nothing
lost."""

import os
import resource
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command import example, pfmon, pfmon_after
from grids import few, first_quick
from host_programs import needs
from ia64_program import write_program

COUNT = ("-e", "ia64_inst_retired", example("fib"), "3")
PRINTED = "8404 IA64_INST_RETIRED"
PROGRAM = "2 134182\n"
LOST = 125
OUTPUTS = ("outfile", "record", "save-baseline", "smpl-outfile", "export=csv", "report=html")
ALL_OUTPUTS = (*OUTPUTS, "crash-report")
"""Also that which a program writes only if a signal kills it."""
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
needs_user = pytest.mark.skipif(
    os.getuid() == 0 and not Path("/usr/bin/setpriv").exists(), reason="root writes anywhere"
)


def limited(which: int, most: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(which, (most, most))


def shell(words: str, *more: str, **options: object) -> "subprocess.CompletedProcess[str]":
    """A command line of the shell, in which "$@" is pfmon with what follows it."""
    program = [sys.executable, "-m", "pfmon", *more]
    # options are of any type here, which no overload of run has
    done = subprocess.run(["sh", "-c", words, "sh", *program], capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    return _in_a_line(done)


def command(*words: str) -> "subprocess.CompletedProcess[str]":
    """Of pfmon alone, where the shell has no part in it."""
    return _in_a_line(pfmon(*words))


def limited_command(limit: Callable[[], object], *words: str) -> "subprocess.CompletedProcess[str]":
    """Of pfmon alone, in a process that a function limits, or whose directory or standard files it changes."""
    return _in_a_line(pfmon_after(limit, *words))


def _in_a_line(done: "subprocess.CompletedProcess[str]") -> "subprocess.CompletedProcess[str]":
    assert "Traceback" not in done.stderr and done.stderr.count("\n") <= 1, done.stderr
    return done


@pytest.fixture
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    """That of the command."""
    before = os.umask(request.param)
    yield
    os.umask(before)


# --- limits


UNDER_QEMU = str(Path(example("fib")).parents[1] / "x86_64" / "fib")


@needs("qemu-x86_64")
@pytest.mark.parametrize(
    ("limit", "size", "said"),
    first_quick(
        [
            (resource.RLIMIT_AS, 200_000 << 10, "a program under qemu needs about 0.4 GB of address space"),
            (
                resource.RLIMIT_FSIZE,
                100 << 10,
                "(ulimit -f); memory that pfmon shares with its processes counts as files",
            ),
        ]
    ),
)
def test_a_limit_of_the_shell_has_its_remedy_beside_it(limit: int, size: int, said: str) -> None:
    done = shell('"$@"', "-e", "INSTRUCTIONS_RETIRED", UNDER_QEMU, "5", preexec_fn=limited(limit, size))
    assert done.returncode == LOST and said in done.stderr and done.stdout == ""


@needs("qemu-x86_64")
@pytest.mark.parametrize(
    "limit", first_quick([(resource.RLIMIT_AS, 400_000 << 10), (resource.RLIMIT_FSIZE, 10 << 20)], single=True)
)
@pytest.mark.parametrize(
    "samples", first_quick([(), ("--long-smpl-periods=1000", "--smpl-outfile=/dev/null")], single=True)
)
def test_memory_that_is_limited_is_enough_for_qemu(limit: tuple[int, int], samples: tuple[str, ...]) -> None:
    words = ("-e", "INSTRUCTIONS_RETIRED", *samples, UNDER_QEMU, "3")
    free, tight = command(*words), shell('"$@"', *words, preexec_fn=limited(*limit))
    assert (tight.returncode, tight.stderr, tight.stdout) == (0, "", free.stdout)
    assert tight.stdout.startswith(PROGRAM)


@pytest.mark.slow
@needs("qemu-x86_64")
def test_followed_processes_share_a_limited_address_space() -> None:
    script = "/bin/true; /bin/true; echo here | /bin/cat"
    words = ("-e", "INSTRUCTIONS_RETIRED", "--follow-all", "/bin/sh", "-c", script)
    done = shell('"$@"', *words, preexec_fn=limited(resource.RLIMIT_AS, 1_500_000 << 10))
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("here\n")
    assert "# all 8 tasks" in done.stdout  # the shell; four children, of which three execute a program


@pytest.mark.slow
@needs("qemu-x86_64")
def test_more_code_than_limited_memory_has_room_for_is_said() -> None:
    words = ("-e", "INSTRUCTIONS_RETIRED", sys.executable, "-c", "import json, re, inspect, argparse, decimal")
    done = shell('"$@"', *words, preexec_fn=limited(resource.RLIMIT_FSIZE, 8 << 20))
    assert (done.returncode, done.stdout) == (LOST, "")
    assert "it has more code than there is room for" in done.stderr and "(ulimit -v, -f)" in done.stderr


@pytest.mark.slow
def test_a_directory_that_was_removed_is_one_to_run_in(tmp_path: Path) -> None:
    done = shell(f'mkdir {tmp_path}/gone && cd {tmp_path}/gone && rmdir {tmp_path}/gone && "$@"', *COUNT, env=_paths())
    assert (done.returncode, done.stderr) == (0, "") and PRINTED in done.stdout


@pytest.mark.parametrize("option", first_quick(OUTPUTS))
def test_a_file_in_a_removed_directory_is_refused(option: str, tmp_path: Path) -> None:
    named = f"--{option}{':' if '=' in option else '='}x"
    sampled = ("--long-smpl-periods=100",) if option in ("smpl-outfile", "export=csv") else ()
    done = limited_command(lambda: _go_where_nothing_is(tmp_path / "gone"), named, *sampled, *COUNT)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"pfmon: {named}: no such file or directory\n"


@pytest.mark.slow
def test_a_removed_directory_can_be_left_by_an_absolute_path(tmp_path: Path) -> None:
    gone = f'mkdir {tmp_path}/gone && cd {tmp_path}/gone && rmdir {tmp_path}/gone && "$@"'
    done = shell(gone, f"--outfile={tmp_path}/counts", f"--record={tmp_path}/recording", *COUNT, env=_paths())
    assert (done.returncode, done.stdout, done.stderr) == (0, PROGRAM, "")
    assert PRINTED in (tmp_path / "counts").read_text() and (tmp_path / "recording").stat().st_size


def _go_where_nothing_is(folder: Path) -> None:
    folder.mkdir()
    os.chdir(folder)
    folder.rmdir()


def _paths() -> dict[str, str]:
    import pfmon

    return {**os.environ, "PYTHONPATH": str(Path(pfmon.__file__).parents[1])}


@pytest.mark.parametrize("kilobytes", few([500_000, 1_000_000, 4_000_000], 1))
def test_a_limited_address_space_is_enough_for_a_small_program(kilobytes: int) -> None:
    done = shell('"$@"', *COUNT, preexec_fn=limited(resource.RLIMIT_AS, kilobytes << 10))
    assert (done.returncode, done.stderr) == (0, "") and PRINTED in done.stdout


@pytest.mark.parametrize("event", few(["l1d_read_misses_all", "cpu_cycles"], 1))
def test_so_it_is_for_a_machine(event: str) -> None:
    done = shell('"$@"', "-e", event, *COUNT[2:], preexec_fn=limited(resource.RLIMIT_AS, 1_000_000 << 10))
    assert (done.returncode, done.stderr) == (0, "") and event.upper() in done.stdout


@pytest.mark.slow
def test_too_little_memory_is_one_line() -> None:
    done = shell('"$@"', *COUNT, preexec_fn=limited(resource.RLIMIT_AS, 100_000 << 10))
    assert done.returncode == LOST and done.stderr.startswith("pfmon: ") and "ulimit -v" in done.stderr


@pytest.mark.parametrize("blocks", first_quick([0, 10]))
def test_limited_files_do_not_limit_what_is_in_memory(blocks: int) -> None:
    done = limited_command(limited(resource.RLIMIT_FSIZE, blocks * 512), *COUNT)
    assert (done.returncode, done.stderr) == (0, "") and PRINTED in done.stdout


@pytest.mark.parametrize("option", first_quick(OUTPUTS))
def test_a_file_larger_than_allowed_is_said_and_the_old_one_stays(option: str, tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("mine")
    done = limited_command(limited(resource.RLIMIT_FSIZE, 0), *_writing(option, path))
    assert done.returncode == LOST and "file too large" in done.stderr, done
    assert path.read_text() == "mine" and list(tmp_path.iterdir()) == [path]


def _writing(option: str, path: Path | str) -> list[str]:
    """A short run with that option."""
    sampled = ["--long-smpl-periods=500"] if option.startswith(("smpl", "export")) else []
    beside = ["--smpl-outfile=/dev/null"] if option.startswith("export") else []
    return [f"--{option}{':' if '=' in option else '='}{path}", *sampled, *beside, *COUNT]


# --- standard files


@pytest.mark.slow
@pytest.mark.parametrize("words", [COUNT, ("-l",), ("--help",), ("diff", "--help"), ("-i", "ia64_inst_retired")])
def test_standard_output_that_takes_nothing(words: tuple[str, ...]) -> None:
    full = limited_command(lambda: _open_as_output("/dev/full", os.O_WRONLY), *words)
    assert full.returncode == (2 if words is COUNT else LOST)  # before a run, where there is one
    assert full.stderr.startswith("pfmon: standard output: ") and "no space" in full.stderr
    closed = limited_command(_close_output, *words)
    assert closed.returncode == 2 and closed.stderr.startswith("pfmon: standard output is closed")
    read_only = limited_command(lambda: _open_as_output("/dev/null", os.O_RDONLY), *words)
    assert read_only.returncode in (2, LOST) and read_only.stderr.startswith("pfmon: standard output")


def _open_as_output(path: str, how: int) -> None:
    os.dup2(os.open(path, how), 1)


def _close_output() -> None:
    """As Python has it that begins without."""
    os.close(1)
    sys.stdout = None


@pytest.mark.slow
def test_the_shell_s_redirections_are_such_outputs() -> None:
    assert shell('"$@" >/dev/full', "--help").returncode == LOST
    assert shell('"$@" >&-', *COUNT).returncode == 2


@pytest.mark.slow
def test_counts_that_cannot_be_printed_are_lost(tmp_path: Path) -> None:
    """The file takes the program's output, and no more."""
    room = len(PROGRAM)
    done = shell(f'"$@" >{tmp_path}/out', *COUNT, preexec_fn=limited(resource.RLIMIT_FSIZE, room))
    assert done.returncode == LOST and "standard output: file too large" in done.stderr
    assert (tmp_path / "out").read_text() == PROGRAM


@pytest.mark.slow
def test_a_run_is_not_begun_whose_counts_could_not_be_printed() -> None:
    done = shell('"$@" 1</dev/null', *COUNT)
    assert done.returncode == 2 and "--outfile=FILE" in done.stderr


@pytest.mark.parametrize("redirection", few(["2>&- <&-", "2>/dev/full", "2>&-"], 2))
def test_a_standard_error_that_takes_nothing_changes_nothing(redirection: str) -> None:
    done = shell(f'"$@" {redirection}', "-v", "-e", "ia64_inst_retired,nops_retired", *COUNT[2:])
    assert done.returncode == 0 and done.stdout.startswith(PROGRAM) and PRINTED in done.stdout
    assert shell(f'"$@" {redirection}', "--nosuch").returncode == 2


@pytest.mark.slow
def test_no_standard_file_is_open() -> None:
    done = shell('"$@" <&- >&- 2>&-', *COUNT)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


@pytest.mark.slow
def test_closed_files_are_closed_to_the_program_too(tmp_path: Path) -> None:
    """A descriptor of pfmon's that has a number below 3 is none of the program's."""
    done = shell('"$@" <&-', f"--outfile={tmp_path}/counts", *COUNT)
    assert (done.returncode, done.stdout) == (0, PROGRAM)


@pytest.mark.slow
def test_standard_output_by_its_path_is_not_replaced(tmp_path: Path) -> None:
    """What the program wrote before stays before the counts."""
    path = tmp_path / "all"
    done = shell(f'"$@" >{path}', "--outfile=/dev/stdout", *COUNT)
    assert done.returncode == 0 and path.read_text().startswith(PROGRAM) and PRINTED in path.read_text()
    assert Path("/dev/stdout").is_symlink()


# --- places of outputs


@pytest.mark.parametrize("option", first_quick(OUTPUTS))
def test_a_full_place_is_one_line(option: str) -> None:
    done = command(*_writing(option, "/dev/full"))
    assert done.returncode == LOST and "no space left on device" in done.stderr


@pytest.mark.parametrize("option", first_quick(OUTPUTS))
def test_names_of_250_characters_are_names(option: str, tmp_path: Path) -> None:
    for letter in ("a", "é"):
        path = tmp_path / (letter * (250 // len(letter.encode())))
        assert command(*_writing(option, path)).returncode == 0
        assert list(tmp_path.iterdir()) == [path] and path.stat().st_size
        path.unlink()


@pytest.mark.parametrize("option", first_quick(ALL_OUTPUTS))
@pytest.mark.parametrize("name", first_quick(["a" * 3000, "a/" * 1500 + "a", "a" * 256]))
def test_longer_names_are_refused_before_the_run(option: str, name: str, tmp_path: Path) -> None:
    done = command(*_writing(option, tmp_path / name))
    assert done.returncode == 2 and done.stdout == "" and done.stderr.startswith(f"pfmon: --{option}")


@pytest.mark.slow
@pytest.mark.parametrize("option", ALL_OUTPUTS)
def test_a_place_that_cannot_be_written_is_refused_before_the_run(option: str) -> None:
    for place in ("/proc/new", "/nowhere/new", "/sys/new"):
        done = command(*_writing(option, place))
        assert done.returncode == 2 and done.stdout == "" and done.stderr.startswith(f"pfmon: --{option}")


@pytest.mark.slow
def test_a_crash_report_that_cannot_be_written_is_lost(tmp_path: Path) -> None:
    program = str(write_program(tmp_path / "program", ["ld8 r4=[r0]"]))
    command = [sys.executable, "-m", "pfmon", "--crash-report=/dev/full", "-e", "nops_retired", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == LOST and "NOPS_RETIRED" in done.stdout
    assert done.stderr.splitlines()[-1] == "pfmon: --crash-report=/dev/full: no space left on device"


@pytest.mark.parametrize("option", first_quick(["sysroot", "debug-dir"]))
@pytest.mark.parametrize("name", first_quick(["a" * 3000, "/" + "a" * 3000, "/" + "a/" * 1500 + "a"]))
def test_longer_names_of_directories_are_refused_before_the_run(option: str, name: str) -> None:
    done = command(f"--{option}={name}", *COUNT)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.startswith(f"pfmon: --{option}=")


@pytest.mark.parametrize("option", first_quick(few(["baseline", "replay", "machine", "symbol-file"], 3)))
def test_files_that_do_not_end_are_refused(option: str) -> None:
    words = [f"--{option}=/dev/zero", *([] if option == "replay" else COUNT)]
    done = shell('timeout 60 "$@"', *words, preexec_fn=limited(resource.RLIMIT_AS, 4 << 30))
    assert done.returncode == 2 and done.stdout == "" and "/dev/zero" in done.stderr, done


def test_python_does_not_begin_with_a_directory_as_its_standard_input(tmp_path: Path) -> None:
    """Which docs/usage.md says: if it ever does begin, pfmon has to answer."""
    command = [sys.executable, "-m", "pfmon", *COUNT]
    with_directory = os.open(tmp_path, os.O_RDONLY)
    done = subprocess.run(command, stdin=with_directory, capture_output=True, text=True, check=False)
    os.close(with_directory)
    assert (done.returncode, done.stdout) == (1, "") and "<stdin> is a directory" in done.stderr


# --- what is replaced


@pytest.mark.usefixtures("umask")
@pytest.mark.parametrize("umask", [0], indirect=True)
@pytest.mark.parametrize("option", first_quick(OUTPUTS))
def test_links_are_followed_and_the_mode_is_kept(option: str, tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    real.chmod(0o600)
    link.symlink_to("middle")
    (tmp_path / "middle").symlink_to(real)
    assert command(*_writing(option, link)).returncode == 0
    assert link.is_symlink() and not real.is_symlink() and real.read_bytes() != b"old"
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.usefixtures("umask")
@pytest.mark.parametrize("umask", [0o027], indirect=True)
@pytest.mark.parametrize("option", first_quick(OUTPUTS))
def test_a_link_to_nothing_leads_to_the_new_file(option: str, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("new")
    assert command(*_writing(option, link)).returncode == 0
    assert link.is_symlink() and stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


@needs_root
@pytest.mark.parametrize("option", first_quick(OUTPUTS))
def test_the_owner_is_kept(option: str, tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("old")
    os.chown(path, 1234, 2345)
    assert command(*_writing(option, path)).returncode == 0
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 2345) and path.read_bytes() != b"old"


def test_a_file_that_is_removed_at_once_is_never_to_be_seen_by_others(tmp_path: Path) -> None:
    """While it is written a private file's successor is private."""
    from pfmon.atomic_write import WholeFile

    path = tmp_path / "out"
    path.write_text("old")
    path.chmod(0o640)
    made = WholeFile(str(path))
    assert stat.S_IMODE(Path(made.partial).stat().st_mode) == 0o640
    made.abandon()
    assert list(tmp_path.iterdir()) == [path]


# --- numbered files


@pytest.mark.slow
def test_five_at_once_take_five_numbers(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "pfmon", f"--outfile={tmp_path}/run-%n", f"--record={tmp_path}/rec-%n", *COUNT]
    running = [subprocess.Popen(words, stdout=subprocess.DEVNULL) for _ in range(5)]
    assert [one.wait() for one in running] == [0] * 5
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == sorted(f"{kind}-{number}" for kind in ("run", "rec") for number in range(1, 6))
    assert {(tmp_path / f"run-{number}").read_text().strip() for number in range(1, 6)} == {PRINTED}


@pytest.mark.slow
def test_a_run_that_fails_gives_its_number_back(tmp_path: Path) -> None:
    words = (f"--outfile={tmp_path}/run-%n", f"--smpl-outfile={tmp_path}/samples-%n")
    assert shell('"$@"', *words, *COUNT).returncode == 2  # samples of what?
    assert not list(tmp_path.iterdir())
    assert shell('"$@"', words[0], *COUNT).returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["run-1"]


@pytest.mark.slow
def test_what_is_appended_stays_whole_when_the_disk_is_full(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("first\n")
    words = ("--append", f"--outfile={path}", *COUNT)
    done = shell('"$@"', *words, preexec_fn=limited(resource.RLIMIT_FSIZE, 20))
    assert done.returncode == LOST and path.read_text() == "first\n"
    assert shell('"$@"', *words).returncode == 0
    first, second = path.read_text().splitlines()
    assert first == "first" and second.strip() == PRINTED
