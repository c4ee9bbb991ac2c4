"""Ranges and triggers by names of objects that the program opens itself: as those by addresses, in every mode."""

from pathlib import Path

import pytest
from command import pfmon, refused
from grids import each
from ia64_objects import work, write_dynamic, write_object
from shared_programs import folder, needs

EVENT = "IA64_INST_RETIRED"
MAP_BASE, PAGE = 0x2000000000000000, 0x4000
PLUGIN = "plugin.so:plugin_work"
DYNAMIC = folder("dynamic")
SHARED = needs("dynamic")


@pytest.fixture
def program(tmp_path: Path) -> tuple[str, ...]:
    """Maps and calls two.so, one.so."""
    objects = [(write_object(tmp_path / f"{name}.so", name), turns) for name, turns in (("two", 5), ("one", 9))]
    return f"--sysroot={tmp_path}", str(write_dynamic(tmp_path, objects, told=False))


@pytest.mark.slow
def test_ranges_count_what_the_function_retires(program: tuple[str, ...]) -> None:
    for name, turns in (("two", 5), ("one", 9)):
        done = pfmon("-e", EVENT, f"--irange={name}.so:{name}", *program)
        assert (done.returncode, int(done.stdout.split()[0])) == (0, work(turns))
        assert done.stderr.startswith(f"pfmon: the code range is [{MAP_BASE + PAGE * (name == 'one'):#x}-")
    everything = int(pfmon("-e", EVENT, *program).stdout.split()[0])
    outside = pfmon("-e", EVENT, "--irange=one.so:one", "--inverse-irange", *program)
    assert int(outside.stdout.split()[0]) == everything - work(9)
    once = pfmon("-e", EVENT, "--checkpoint-func=one.so:one", *program)
    assert int(once.stdout.split()[0]) == 3


@pytest.mark.slow
def test_recordings_of_such_runs_count_the_same(program: tuple[str, ...], tmp_path: Path) -> None:
    recording = tmp_path / "recording"
    words = ("-e", EVENT, "--irange=one.so:one", "--per-function")
    direct = pfmon(*words, f"--record={recording}", *program)
    assert (direct.returncode, "one [one.so]" in direct.stdout) == (0, True)
    assert pfmon(*words, f"--replay={recording}").stdout == direct.stdout


@pytest.mark.slow
def test_triggers_of_two_objects_get_their_addresses_one_after_the_other(program: tuple[str, ...]) -> None:
    start, stop = "--trigger-code-start-addresses", "--trigger-code-stop-addresses"
    whole = pfmon("-e", EVENT, f"{start}=two.so:two", *program)
    rest = pfmon("-e", EVENT, f"{start}=one.so:one", *program)
    between = pfmon("-e", EVENT, f"{start}=two.so:two", f"{stop}=one.so:one", *program)
    counts = [int(done.stdout.split()[0]) for done in (whole, rest, between)]
    assert counts[0] - counts[1] == counts[2] > work(5)


def test_objects_that_never_come_are_said_and_count_nothing(program: tuple[str, ...]) -> None:
    done = pfmon("-e", EVENT, "--irange=oen.so:one", *program)
    assert (done.returncode, int(done.stdout.split()[0])) == (0, 0)
    assert done.stderr == (
        "pfmon: oen.so:one: the program mapped no shared object of that name, so nothing was in it; nearest: one.so,"
        " two.so\n"
    )


@pytest.mark.slow
def test_names_that_an_object_has_not_end_the_run_when_it_is_there(program: tuple[str, ...]) -> None:
    for words in ((), ("--long-smpl-periods=10",)):
        done = pfmon("-e", EVENT, "--irange=one.so:oen", *words, *program)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == "pfmon: unknown code symbol 'oen'; nearest: one\n"


def test_programs_that_start_others_which_are_counted_are_refused(program: tuple[str, ...]) -> None:
    done = pfmon("-e", EVENT, "--irange=one.so:one", "--follow-fork", *program)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "--follow" in done.stderr


def of_plugin(*words: str) -> str:
    """What a run of the program that opens plugin.so printed, the note on what registers can hold left out."""
    done = pfmon(*words, f"--sysroot={DYNAMIC / 'sysroot'}", str(DYNAMIC / "bin" / "dlopened"))
    assert done.returncode == 0, done.stderr
    return done.stdout


def place_of(name: str) -> int:
    """Where a run has a function of plugin.so."""
    lines = of_plugin("-e", EVENT, "--per-function").splitlines()
    return next(int(line.split()[1], 0) for line in lines if line.endswith(f"{name} [plugin.so]"))


@SHARED
@each(
    "words",
    [
        ("-e", f"{EVENT},NOPS_RETIRED,L1D_READ_MISSES_ALL"),
        ("-e", EVENT, "--per-function"),
        ("-e", EVENT, "--inverse-irange"),
        ("-e", EVENT, "-e", "LOADS_RETIRED", "--switch-timeout=1"),
        ("-e", EVENT, "--print-interval=1"),
        ("-e", f"{EVENT},L1D_READS_SET1", "--long-smpl-periods=5000,10"),
        ("-e", "L1D_READ_MISSES_ALL", "--long-smpl-periods=2"),
        ("-e", "DATA_EAR_CACHE_LAT4", "--long-smpl-periods=1"),
        ("-e", "BRANCH_EVENT", "--long-smpl-periods=100"),
        ("-e", f"{EVENT},L1D_READ_MISSES_ALL", "--pmu=montecito"),
        ("-e", EVENT, "--pmu=itanium"),
    ],
    ids=" ".join,
)
def test_ranges_by_name_count_as_those_by_addresses(words: tuple[str, ...]) -> None:
    """nm says that plugin_work has 0x150 bytes."""
    start = place_of("plugin_work")
    assert of_plugin(*words, f"--irange={PLUGIN}") == of_plugin(*words, f"--irange={start:#x}-{start + 0x150:#x}")


@SHARED
def test_data_by_name_counts_as_by_addresses() -> None:
    """nm says that calls is at 0x11080, plugin_work at 0x980."""
    start = place_of("plugin_work") - 0x980 + 0x11080
    name, addresses = "plugin.so:calls", f"{start:#x}-{start + 4:#x}"
    for words in (
        ("--unlimited", "-e", "LOADS_RETIRED,STORES_RETIRED,L1D_READ_MISSES_ALL"),
        ("-e", "LOADS_RETIRED", "--long-smpl-periods=2"),
        ("-e", "DATA_EAR_CACHE_LAT4", "--long-smpl-periods=1"),
    ):
        counted = of_plugin(*words, f"--drange={name}")
        assert counted == of_plugin(*words, f"--drange={addresses}") != of_plugin(*words)
    counted = of_plugin("-e", f"{EVENT},CPU_CYCLES", f"--trigger-data-start-addresses={name}")
    assert counted == of_plugin("-e", f"{EVENT},CPU_CYCLES", f"--trigger-data-start-addresses={start:#x}")


@SHARED
def test_triggers_by_name_start_where_those_by_addresses_do() -> None:
    start = place_of("plugin_work")
    for words in (("-e", f"{EVENT},CPU_CYCLES"), ("-e", "CPU_CYCLES", "--long-smpl-periods=9000")):
        option = "--trigger-code-start-addresses"
        assert of_plugin(*words, f"{option}={PLUGIN}") == of_plugin(*words, f"{option}={start:#x}")


@pytest.mark.slow
def test_what_is_said_before_the_program_runs(program: tuple[str, ...]) -> None:
    start = "--trigger-code-start-addresses"
    said = refused("-e", EVENT, f"{start}=one.so:one,one.so:one", *program)
    assert said == f"pfmon: {start}: one.so:one is a trigger already\n"
    said = refused("-e", EVENT, "--check-events-only", "--irange=one.so:one", *program)
    assert "unknown shared object 'one.so'" in said and "cannot be checked before it runs" in said
