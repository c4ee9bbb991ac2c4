"""Samples when they cannot be written: what was taken stays readable, what a user had stays as it was."""

import errno
import os
import resource
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from command import example, forked
from command import pfmon as command
from grids import first_quick

import pfmon
from pfmon.__main__ import main
from pfmon.cli.output.sample_output import SampleOutput

ROOM = 20_000
"""Bytes that a file may have: as if the disk were full."""
WORDS = ("--long-smpl-periods=20", "-e", "ia64_inst_retired", example("hashmap"), "300")


def pfmon_on_a_full_disk(*words: str) -> subprocess.CompletedProcess[str]:
    """In a child of this process, whose module is changed there."""
    return forked(words, lambda: _limited((*words, *WORDS)))


def _limited(words: Sequence[str]) -> int:
    take = SampleOutput.take

    def limited(output: SampleOutput, samples: object) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM))  # the memory of the run is there already
        take(output, samples)

    SampleOutput.take = limited
    return main(words)


@pytest.mark.parametrize("extra", first_quick([(), ("--smpl-eager-save",)], single=True), ids=["", "eager"])
def test_what_was_written_before_the_disk_was_full_can_be_read(extra: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "samples"
    done = pfmon_on_a_full_disk(f"--smpl-outfile={path}", "--smpl-module=compact", *extra)
    assert done.returncode == 125
    assert done.stderr.count("\n") == 1 and done.stderr.startswith(f"pfmon: --smpl-outfile={path}: file too large")
    wanted = pfmon.run([*WORDS[3:]], events="ia64_inst_retired", long_smpl_periods=20, stdout=pfmon.DEVNULL).samples
    assert wanted
    *lines, _ = path.read_text().split("\n")
    assert 100 < len(lines) - 1 < len(wanted)
    assert [int(line.split()[5], 0) for line in lines[1:]] == [one.iip for one in wanted[: len(lines) - 1]]
    assert [one.name for one in tmp_path.iterdir()] == ["samples"]


@pytest.mark.slow
def test_raw_samples_are_readable_up_to_where_the_disk_was_full(tmp_path: Path) -> None:
    path = tmp_path / "samples"
    done = pfmon_on_a_full_disk(f"--smpl-outfile={path}", "--smpl-module=raw", "--smpl-entries=50")
    assert done.returncode == 125 and "the samples up to there are in it" in done.stderr
    whole = pfmon.run([*WORDS[3:]], events="ia64_inst_retired", long_smpl_periods=20, stdout=pfmon.DEVNULL).samples
    found = pfmon.read_samples(path, partial=True)
    assert whole and 100 < len(found) < len(whole)
    assert list(found) == list(whole[: len(found)])


@pytest.mark.slow
def test_a_file_that_was_there_stays_and_the_new_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "samples"
    path.write_text("mine")
    done = pfmon_on_a_full_disk(f"--smpl-outfile={path}")
    assert done.returncode == 125
    (other,) = (one for one in tmp_path.iterdir() if one != path)
    assert done.stderr.endswith(f"the samples up to there are in {other}\n")
    assert path.read_text() == "mine" and other.read_text().startswith("entry 0 PID:1000")


COUNTED = ("-e", "ia64_inst_retired", example("fib"), "16")
SAMPLED = ("--long-smpl-periods=20", "--smpl-print-counts", *COUNTED)


@pytest.mark.parametrize(
    ("full", "words"),
    first_quick(
        [
            ("--smpl-outfile=/dev/full", ("--smpl-outfile=/dev/full", *SAMPLED)),
            ("--export=csv:/dev/full", ("--export=csv:/dev/full", "--smpl-outfile=SAMPLES", *SAMPLED)),
            ("--record=/dev/full", ("--record=/dev/full", *COUNTED)),
            ("--record=/dev/full", ("--record=/dev/full", "--smpl-outfile=SAMPLES", *SAMPLED)),
        ]
    ),
)
def test_counts_stay_when_another_output_is_full(full: str, words: tuple[str, ...], tmp_path: Path) -> None:
    samples, whole, counts, page = (tmp_path / name for name in ("samples", "whole", "counts", "page"))
    named = [word.replace("SAMPLES", str(samples)) for word in words]
    done = command("--no-cmd-output", "--no-progress", f"--outfile={counts}", f"--report=html:{page}", *named)
    assert done.returncode == 125 and done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith(f"pfmon: {full}: ") and "no space left on device" in done.stderr
    assert counts.read_text() == command("--no-cmd-output", *COUNTED).stdout and "IA64" in page.read_text()
    if str(samples) in " ".join(named):
        assert command("--no-cmd-output", f"--smpl-outfile={whole}", *SAMPLED).returncode == 0
        found, wanted = ([line for line in one.read_text().splitlines() if "IIP" in line] for one in (samples, whole))
        assert found == wanted and len(found) > 1000


@pytest.mark.slow
def test_counts_of_followed_tasks_stay_when_samples_have_no_room(tmp_path: Path) -> None:
    words = ("--follow-all", "--no-cmd-output")
    done = command(*words, "--smpl-outfile=/dev/full", *SAMPLED)
    assert (done.returncode, done.stderr) == (125, "pfmon: --smpl-outfile=/dev/full: no space left on device\n")
    assert done.stdout == command(*words, *COUNTED).stdout
    named = (tmp_path / "%p").as_posix()
    (tmp_path / "1000").symlink_to("/dev/full")
    done = command(*words, f"--smpl-outfile={named}", *SAMPLED)
    assert done.returncode == 125 and done.stderr.count("\n") == 1 and "no space left" in done.stderr
    assert done.stdout == command(*words, *COUNTED).stdout


FAMILY = ("--follow-all", "--no-cmd-output", "--long-smpl-periods=100", "--smpl-print-counts", *COUNTED)


def followed(room: int, *words: str) -> subprocess.CompletedProcess[str]:
    """With room for so many bytes of what tasks keep until all have ended."""
    return forked(words, lambda: _short_of_room(room, (*words, *FAMILY)))


def _short_of_room(room: int, words: Sequence[str]) -> int:
    write, left = os.pwrite, [room]

    def limited(descriptor: int, data: bytes, place: int) -> int:
        left[0] -= len(data)
        if left[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, data, place)

    os.pwrite = limited
    return main(words)


@pytest.mark.slow
@pytest.mark.parametrize("room", [0, 1000, 1 << 30])
def test_counts_stay_when_the_temporary_folder_is_full(room: int, tmp_path: Path) -> None:
    counted = command("--follow-all", "--no-cmd-output", *COUNTED).stdout
    done = followed(room)
    assert done.stdout.endswith(counted)
    assert done.returncode == (0 if room == 1 << 30 else 125)
    assert (
        not done.stderr if room == 1 << 30 else done.stderr.startswith("pfmon: samples: no space left on device in /")
    )
    assert done.stderr.count("\n") == (room != 1 << 30)

    samples, table, old = (tmp_path / name for name in ("samples", "script", "stacks"))
    old.write_text("mine")
    done = followed(
        *(room, f"--smpl-outfile={samples}", f"--export=perf-script:{table}", f"--export=collapsed:{old}"),
    )
    assert done.stdout == counted
    if room == 1 << 30:
        assert (done.returncode, done.stderr) == (0, "") and table.exists() and old.read_text() != "mine"
        return
    assert done.returncode == 125 and not table.exists() and old.read_text() == "mine"
    lines = done.stderr.splitlines()
    assert [line.split(": ")[1].partition("=")[0] for line in lines] == ["--smpl-outfile", "--export", "--export"]
    assert lines[0].endswith("; there are samples up to there") and samples.exists()
