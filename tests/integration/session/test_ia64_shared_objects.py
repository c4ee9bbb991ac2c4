"""Names of what IA-64 programs have mapped: in profiles, samples and recordings."""

from pathlib import Path

import pytest
from command import pfmon, refused
from grids import first_quick
from ia64_objects import work, write_dynamic, write_mapper, write_object
from ia64_program import TEXT, symbols, write_program

import pfmon as library
from pfmon.errors import LostError
from pfmon.library.preparing.linked_objects import check_places
from pfmon.program.mapped_files import MappedFile

MAP_BASE, PAGE = 0x2000000000000000, 0x4000
EVENT = "IA64_INST_RETIRED"


@pytest.fixture
def program(tmp_path: Path) -> str:
    """Maps one.so, two.so and one.so again, whose code is the same."""
    one, two = (write_object(tmp_path / f"{name}.so", name) for name in ("one", "two"))
    return str(write_mapper(tmp_path / "mapper", [(one, 10), (two, 20), (one, 30)]))


def test_objects_in_one_place_are_told_apart(program: str) -> None:
    prepared = library.prepare(program, events=EVENT, per_function=True)
    run = prepared.run()
    mapped = prepared.session.engine.mapped
    first, second = (str(Path(program).with_name(f"{name}.so")) for name in ("one", "two"))
    assert [one.path for one in mapped] == [first, second]
    assert mapped[0][:3] == mapped[1][:3] == MappedFile(mapped[0].start, mapped[0].start + 0x4000, 0x4000, "")[:3]
    found = {(row.name, row.address): row for row in run.functions or () if row.object}
    assert {key: (row.object, row.values) for key, row in found.items()} == {
        ("one", mapped[0].start): (first, (work(10) + work(30),)),
        ("two", mapped[0].start): (second, (work(20),)),
    }
    assert run.functions is not None and run.functions["main"].object == ""


def test_samples_of_places_that_were_several_files_are_said_to_be_so(program: str) -> None:
    done = pfmon("-e", EVENT, "--long-smpl-periods=5", "--resolve-addresses", program)
    one = Path(program).with_name("one.so")
    assert done.stderr == f"pfmon: {one}: another file was mapped in its place later, which names its samples\n"
    assert "[two.so]" in done.stdout and "[one.so]" not in done.stdout


@pytest.mark.slow
def test_functions_of_objects_are_listed_that_are_not_there_any_more(program: str, tmp_path: Path) -> None:
    words = ("-e", EVENT, "--annotate=two.so:two")
    recording = str(tmp_path / "recording")
    direct = pfmon(*words, f"--record={recording}", program)
    counts = [int(line.split()[0]) for line in direct.stdout.splitlines()[3:]]
    assert (direct.returncode, direct.stderr) == (0, "")
    assert counts == [1] * 3 + [21] * 3 + [1] * 3
    assert pfmon(*words, f"--replay={recording}").stdout == direct.stdout


def test_replays_have_the_same_names(program: str, tmp_path: Path) -> None:
    recording = str(tmp_path / "recording")
    words = ("-e", EVENT, "--per-function")
    direct = pfmon(*words, f"--record={recording}", program)
    replayed = pfmon(*words, f"--replay={recording}")
    assert (direct.returncode, replayed.returncode) == (0, 0)
    assert replayed.stdout == direct.stdout and "two [two.so]" in direct.stdout


def test_faults_in_an_object_are_said_to_be_there(tmp_path: Path) -> None:
    broken = write_program(tmp_path / "broken.so", ["ld8 r8=[r0]"], debug=symbols({"crash": (TEXT, 16)}))
    run = library.run(str(write_mapper(tmp_path / "mapper", [(broken, 1)])), events=EVENT)
    assert run.death is not None and "(crash [broken.so], slot 0)" in run.death.where


@pytest.mark.parametrize("name", first_quick(["one", "lib-one.so:one", "lib-one:one"]))
def test_ranges_by_names_of_objects_that_a_program_is_linked_with(name: str, tmp_path: Path) -> None:
    """Its dynamic linker maps them before it begins, whether it is asked for them or not."""
    objects = [(write_object(tmp_path / f"lib-{name}.so", name), turns) for name, turns in (("two", 5), ("one", 9))]
    words = (f"--sysroot={tmp_path}", str(write_dynamic(tmp_path, objects)))
    done = pfmon("-e", EVENT, f"--irange={name}", *words)
    assert (done.returncode, int(done.stdout.split()[0])) == (0, work(9)), done.stderr
    checked = pfmon("-e", EVENT, "--check-events-only", "-v", f"--irange={name}", *words)
    assert (checked.returncode, f"irange is [{MAP_BASE + PAGE:#x}-" in checked.stdout) == (0, True), checked
    once = pfmon("-e", EVENT, f"--checkpoint-func={name}", *words)
    assert int(once.stdout.split()[0]) == 3


@pytest.mark.slow
def test_names_that_no_object_has_are_one_line(tmp_path: Path) -> None:
    objects = [(write_object(tmp_path / f"{name}.so", "work"), 5) for name in ("one", "two")]
    program = str(write_dynamic(tmp_path, objects))
    for name, said in {
        "wrok": "unknown code symbol 'wrok'; nearest: work",
        "one.so:wrok": "unknown code symbol 'wrok'; nearest: work",
    }.items():
        assert said in refused("-e", EVENT, f"--irange={name}", f"--sysroot={tmp_path}", program)


def test_objects_that_are_elsewhere_than_expected_lose_the_counts() -> None:
    expected = MappedFile(0x1000, 0x3000, 0, "/lib/a.so")
    check_places([expected], [MappedFile(0x8000, 0x9000, 0, "/lib/b.so"), expected])
    check_places([expected], [])
    for other in (expected._replace(start=0x2000), MappedFile(0x2000, 0x4000, 0, "/lib/b.so")):
        with pytest.raises(LostError, match=r"/lib/a\.so"):
            check_places([expected], [other])
