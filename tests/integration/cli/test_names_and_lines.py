"""C++ names and source lines beside addresses, on a program whose names and line tables the test writes."""

import csv
import re
from collections import Counter
from pathlib import Path

import pytest
from command import pfmon, refused
from cpp_program import AREA, CODE, MANGLED, NAME, function, line, write_cpp_program
from grids import first_quick
from ia64_program import TEXT, debug_lines, symbols, write_program

import pfmon as library

PLAIN = "geometry::Rectangle<int>::area"
SAMPLED = ("-e", "ia64_inst_retired", "--long-smpl-periods=1")


@pytest.fixture
def program(tmp_path: Path) -> str:
    return str(write_cpp_program(tmp_path / "shapes"))


def printed(*words: str) -> list[str]:
    done = pfmon(*words)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def shown(address: int) -> str:
    """A place as --resolve-addresses writes it."""
    name, start = function(address)
    file, number = line(address)
    return f"{name}+{address - start:#x} {Path(file).name}:{number}"


def samples(program: str) -> list[int]:
    """The instructions that retired."""
    taken = library.run(program, events="ia64_inst_retired", long_smpl_periods=1).samples
    assert taken is not None
    return [sample.iip for sample in taken]


def test_entries_have_function_and_line(program: str) -> None:
    entries = printed(*SAMPLED, "--resolve-addresses", program)
    places = [re.search(r"IIP:(0x[0-9a-f]+) <(.*)> OVFL", entry) for entry in entries]
    assert [(int(found[1], 16), found[2]) for found in places if found] == [(a, shown(a)) for a in samples(program)]
    assert any(found and found[2] == f"{NAME}+0x11 shape.h:12" for found in places)


@pytest.mark.slow
def test_columns_and_histograms_have_them_too(program: str) -> None:
    addresses = samples(program)
    rows = printed(*SAMPLED, "--smpl-module=compact", "--resolv", program)[1:]
    assert [row.split(maxsplit=9)[9] for row in rows] == [shown(address) for address in addresses]
    rows = printed(*SAMPLED, "--smpl-module=inst-hist", "--resolv", program)[5:]
    cells = [row.split(maxsplit=4) for row in rows]
    assert {(int(row[3], 16), row[4]): int(row[0]) for row in cells} == Counter((a, shown(a)) for a in addresses)
    rows = printed(*SAMPLED, "--smpl-module=inst-hist", "--smpl-show-func", program)[5:]
    by_function = Counter(function(address) for address in addresses)
    assert {(row.split(maxsplit=4)[4], int(row.split()[3], 16)): int(row.split()[0]) for row in rows} == by_function


def test_calls_have_them_too(program: str) -> None:
    lines = printed(*SAMPLED, "--smpl-stacks", "--resolv", program)
    calls = [line for line in lines if "called by" in line]
    assert len(calls) == sum(address >= AREA for address in samples(program))
    assert set(calls) == {f"        called by {TEXT + 0x12:#x} <{shown(TEXT + 0x12)}>"}


@pytest.mark.slow
def test_counts_by_function_have_names_demangled(program: str) -> None:
    by_function = Counter(function(address)[0] for address in samples(program))
    words = ("-e", "ia64_inst_retired", "--per-function")
    rows = [row.split(maxsplit=2) for row in printed(*words, program)[3:]]
    assert {row[2]: int(row[0]) for row in rows} == by_function
    rows = [row.split(maxsplit=2) for row in printed(*words, "--no-demangle", program)[3:]]
    assert {row[2] for row in rows} == {"main", MANGLED}
    for keywords, name in (({}, NAME), ({"no_demangle": True}, MANGLED)):
        run = library.run(program, events="ia64_inst_retired", per_function=True, **keywords)
        assert run.functions is not None and name in [row.name for row in run.functions]
        cpi = library.run(program, report="cpi", **keywords).cpi
        assert cpi is not None and name in [row.name for row in cpi.functions]


def test_no_demangle_leaves_names_of_samples_as_they_are(program: str, tmp_path: Path) -> None:
    path = tmp_path / "stacks"
    entries = printed(*SAMPLED, "--no-demangle", "--resolv", f"--export=collapsed:{path}", program)
    assert any(f"<{MANGLED}+0x11 shape.h:12>" in entry for entry in entries)
    assert path.read_text().splitlines()[1].split()[0] == f"main;{MANGLED}"


def test_without_dwarf_there_are_functions_alone(tmp_path: Path) -> None:
    program = str(write_cpp_program(tmp_path / "plain", dwarf=False))
    entries = printed(*SAMPLED, "--resolve-addresses", program)
    assert any(f"<{NAME}+0x11> OVFL" in entry for entry in entries)


def test_damaged_line_tables_are_as_good_as_none(tmp_path: Path) -> None:
    from cpp_program import HEADER, MAIN_FILE, ROWS

    sections = symbols({"main": (TEXT, 0x80)}) | debug_lines([MAIN_FILE, HEADER], ROWS)
    sections[".debug_line"] = sections[".debug_line"][:30]
    program = str(write_program(tmp_path / "damaged", CODE, debug=sections))
    assert " <main+0x0> OVFL" in printed(*SAMPLED, "--resolve-addresses", program)[0]


@pytest.mark.slow
def test_a_recording_has_the_names_of_its_program(program: str, tmp_path: Path) -> None:
    recording, table = str(tmp_path / "recording"), tmp_path / "table"
    assert printed(f"--record={recording}", program) == []
    words = (*SAMPLED, "--resolve-addresses", f"--export=csv:{table}")
    direct = printed(*words, program)
    exported = table.read_text()
    assert printed(*words, f"--replay={recording}") == direct
    assert table.read_text() == exported
    Path(program).unlink()
    assert printed(*words, f"--replay={recording}") == direct
    assert table.read_text() == exported
    assert len(printed(*SAMPLED, f"--replay={recording}")) == sum("entry" in line for line in direct)


def test_csv_has_file_and_line(program: str, tmp_path: Path) -> None:
    path = tmp_path / "table"
    printed(*SAMPLED, f"--export=csv:{path}", program)
    with path.open(newline="") as file:
        rows = [(row["file"], int(row["line"]), row["stack"].split(";")[-1]) for row in csv.DictReader(file)]
    assert rows == [(*line(address), function(address)[0]) for address in samples(program)]


@pytest.mark.parametrize("name", first_quick([NAME, MANGLED, PLAIN]))
def test_functions_are_named_in_any_way(program: str, name: str) -> None:
    executed = Counter(samples(program))
    listed = printed("-e", "ia64_inst_retired", f"--annotate={name}", program)
    assert listed[2].endswith(f"instructions of {name}")
    assert [row.strip() for row in listed if "shape.h" in row] == ["shape.h:11", "shape.h:12"]
    rows = [row.split() for row in listed[3:] if "shape.h" not in row]
    counted = {int(row[1], 16): int(row[0]) for row in rows}
    assert counted == {address: executed[address] for address in executed if address >= AREA}
    inside = printed("-e", "ia64_inst_retired", f"--checkpoint-func={name}+0x10", program)
    assert int(inside[0].split()[0]) == sum(executed[address] for address in executed if address >= AREA + 0x10)


@pytest.mark.slow
def test_a_stripped_program_has_names_and_lines_of_another_file(program: str, tmp_path: Path) -> None:
    stripped = str(write_program(tmp_path / "stripped", CODE))
    for words in (
        (*SAMPLED, "--resolve-addresses"),
        (*SAMPLED, "--smpl-module=inst-hist", "--smpl-show-func"),
        ("-e", "ia64_inst_retired", "--per-function"),
        ("--report=cpi",),
    ):
        wanted = printed(*words, program)
        assert any(NAME in line for line in wanted)
        assert printed(*words, f"--symbol-file={program}", stripped) == wanted
        assert not any(NAME in line for line in printed(*words, stripped))


@pytest.mark.slow
def test_plain_names_are_those_of_one_function(tmp_path: Path) -> None:
    functions = {"_Z3addii": (TEXT, 0x20), "_Z3addd": (TEXT + 0x20, 0x20), "_ZN1AmiERKS_": (TEXT + 0x40, 0x20)}
    program = str(write_program(tmp_path / "overloaded", CODE, debug=symbols(functions)))
    said = refused("-e", "ia64_inst_retired", "--irange=add", program)
    assert "add is several functions: add(double), add(int, int)" in said
    for name, start in {"add(double)": 0x20, "add(int, int)": 0, "A::operator-": 0x40}.items():
        words = ("--check-events-only", "-v", "-e", "ia64_inst_retired", f"--irange={name}", program)
        assert f"irange is [{TEXT + start:#x}-" in pfmon(*words).stdout
    said = refused("-e", "ia64_inst_retired", "--irange=ad", program)
    assert "unknown code symbol 'ad'; nearest: " in said and "add(double)" in said


def test_lists_of_triggers_have_names_with_commas(tmp_path: Path) -> None:
    functions = {"_Z3addii": (TEXT, 0x10), "_Z3subii": (AREA, 0x20), "_ZN1AltERKS_": (TEXT + 0x10, 0x10)}
    program = str(write_program(tmp_path / "two", CODE, debug=symbols(functions)))
    start, stop = "--trigger-code-start-addresses", "--trigger-code-stop-addresses"
    given = (f"{start}=sub(int, int),A::operator<(A const&)", f"{stop}=add(int, int)")
    counted = printed("-e", "ia64_inst_retired", *given, program)
    assert counted == printed("-e", "ia64_inst_retired", f"{start}={TEXT + 0x10:#x}", program)
    keywords = {"trigger_code_start_addresses": "sub(int, int),A::operator<", "trigger_code_stop_addresses": "add"}
    run = library.run(program, events="ia64_inst_retired", **keywords)
    assert counted[0].split()[0] == str(run.counts["ia64_inst_retired"].value)


def test_triggers_are_named_in_any_way(program: str) -> None:
    start = "--trigger-code-start-addresses"
    counts = {printed("-e", "ia64_inst_retired", f"{start}={name}", program)[0] for name in (NAME, MANGLED, PLAIN)}
    assert len(counts) == 1
