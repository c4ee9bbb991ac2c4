"""Snapshots of Linux kernels (PFMON_TEST_PROGRAMS, kernel): a booted one runs any program."""

import lzma
import os
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from command import example, pfmon, pfmon_given
from shared_programs import folder, needs

KERNELS = folder("kernel")
REAL = folder("real")
PROGRAM = example("noploop")
LEVELS = ("-e", "ia64_inst_retired,ia64_inst_retired", "--priv-levels=k,u")
pytestmark = [needs("kernel"), pytest.mark.slow]


class Booted:
    """A kernel, the options of its system, and its snapshot."""

    def __init__(self, place: Path, name: str, options: Sequence[str] = ()) -> None:
        packed = next(iter(KERNELS.glob(f"vmlinux-{name}*.xz")))
        kernel = place / name
        kernel.write_bytes(lzma.decompress(packed.read_bytes()))
        self.system = ("--system", str(kernel), *options)
        self.snapshot = place / "snapshot"
        ran = pfmon(*self.system, "--snapshot", str(self.snapshot), *LEVELS)
        assert ran.returncode == 0, ran.stderr
        assert f"the snapshot is in {self.snapshot}" in ran.stderr
        self.before = counts(ran.stdout)

    def run(self, *words: str) -> tuple[int, str, list[int]]:
        """From the snapshot: status, output and counts of the kernel and at user level."""
        return ended(pfmon(*self.system, "--from-snapshot", str(self.snapshot), *LEVELS, *words))

    def boot(self, *words: str) -> tuple[int, str, list[int]]:
        """The same from the beginning."""
        return ended(pfmon(*self.system, *LEVELS, *words))


def counts(text: str) -> list[int]:
    return [int(one) for one in re.findall(r"(\d+) IA64_INST_RETIRED", text)]


def ended(ran: object) -> tuple[int, str, list[int]]:
    assert not getattr(ran, "stderr"), ran  # noqa: B009
    text = getattr(ran, "stdout")  # noqa: B009
    return getattr(ran, "returncode"), re.sub(r" +\d+ IA64_INST_RETIRED\n?", "", text), counts(text)  # noqa: B009


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Booted:
    return Booted(tmp_path_factory.mktemp("plain"), "plain")


def test_program_from_a_snapshot_has_the_counts_of_a_boot(plain: Booted) -> None:
    """At each level: those until the snapshot and those from there on are those of a boot. A boot that ends with the
    snapshot counts the last request of the first program, which is that of the rest, too."""
    words = ("--from-boot", "--", PROGRAM, "1000")
    status, text, rest = plain.run(*words)
    assert (status, text) == (0, "1000\n")
    whole = plain.boot(*words)
    assert whole[:2] == (0, "1000\n")
    assert [one + two for one, two in zip(plain.before, rest, strict=True)] == whole[2]
    assert plain.run(*words) == (status, text, rest)
    assert rest[0] < plain.before[0] / 50


@pytest.mark.parametrize("options", ["", "--intr-only", "--task=program", "--per-task", "--exclude-idle"])
def test_time_of_the_program_is_counted_as_behind_a_boot(plain: Booted, options: str) -> None:
    """A snapshot knows tasks, and which of them handle interruptions."""
    found, wanted = (
        plain.run(*options.split(), "--", PROGRAM, "1000"),
        plain.boot(*options.split(), "--", PROGRAM, "1000"),
    )
    assert sorted(found[2]) == sorted(wanted[2])
    assert found[:1] == wanted[:1] == (0,)


@needs("real")
@pytest.mark.exhaustive
def test_snapshot_runs_any_program_with_its_files(plain: Booted, tmp_path: Path) -> None:
    """A shell with input, a file given, a file handed out, variables, its directory, and its status."""
    (tmp_path / "given").write_text("of the host\n" * 1000)
    script = "read line; echo $line $NAME >&2; pwd > out; while read one; do n=${n}x; done < /there/given; echo ${#n}"
    from_, into = os.pipe()
    os.write(into, b"typed\n")
    os.close(into)
    options = ("--env=NAME=value", f"--guest-file={tmp_path}/given=/there/given", f"--guest-output=out={tmp_path}/out")
    words = (*plain.system, "--from-snapshot", str(plain.snapshot), *options, *LEVELS)
    ran = pfmon_given(from_, *words, "--", str(REAL / "dash"), "-c", f"{script}; exit 5")
    os.close(from_)
    assert (ran.returncode, ran.stderr) == (5, "typed value\n")
    assert ran.stdout.startswith("1000\n")
    assert (tmp_path / "out").read_text() == f"{Path.cwd()}\n"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("ssc", ()),
        ("perf", ("--pmu=montecito",)),
        ("plain", ("--pmu=itanium", "--memory=160M")),
        ("plain", ("--uart=0xe0000000",)),
        ("smp", ("--processors=2", "--quantum=777")),
        ("smp", ("--processors=4",)),
    ],
)
def test_every_kernel_goes_on(tmp_path: Path, name: str, options: Sequence[str]) -> None:
    booted = Booted(tmp_path, name, options)
    rest = booted.run("--", PROGRAM, "1000")
    assert rest[:2] == (0, "1000\n")
    whole = booted.boot("--", PROGRAM, "1000")
    assert [one + two for one, two in zip(booted.before, rest[2], strict=True)] == whole[2]
