"""Options that pfmon has because HP's pfmon 3.9 had them: samples, symbols, names."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from command import example, pfmon, refused
from elftools.elf.elffile import ELFFile
from grids import each, few

import pfmon as library

CHASE = (example("chase"), "100")
LONG_CHASE = (example("chase"), "256", "2000")
"""It misses L2, wherever its stack lies: that depends on the length of the path."""
FIB = (example("fib"), "12")
MISSES = ("-e", "data_ear_cache_lat4", "--long-smpl-periods=7", "--smpl-module=dear-hist")


def printed(*words: str) -> list[str]:
    done = pfmon("--no-cmd-output", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@cache
def rows(*words: str) -> list[str]:
    return [line for line in printed(*words) if not line.startswith("#")]


def test_per_function_is_show_func() -> None:
    words = ("-e", "ia64_inst_retired", "--long-smpl-periods=100", "--smpl-module=inst-hist", "--resolve-addresses")
    assert printed(*words, "--smpl-per-function", *FIB) == printed(*words, "--smpl-show-func", *FIB)


@pytest.mark.slow
@pytest.mark.parametrize("module", few(["inst-hist", "dear-hist"], 3))
@pytest.mark.parametrize("percent", few([1, 37, 60, 99, 100], 3))
def test_rows_are_shown_until_they_have_so_many_percent(module: str, percent: int) -> None:
    words = ("-e", "data_ear_cache_lat4", "--long-smpl-periods=7", f"--smpl-module={module}", *CHASE)
    whole, shown = rows(*words), rows(f"--smpl-cum-threshold={percent}", *words)
    assert shown == whole[: len(shown)] and len(shown) > 0
    counts = [int(line.split()[0]) for line in whole]
    before, with_it = sum(counts[: len(shown) - 1]), sum(counts[: len(shown)])
    assert 100 * before < percent * sum(counts) <= 100 * with_it


@pytest.mark.slow
def test_rows_are_sorted_by_their_value() -> None:
    for view, column in (("inst", 6), ("data", 6), ("level", 3)):
        words = (*MISSES, f"--smpl-{view}-view")
        by_count, by_value = (rows(*words, *more, *LONG_CHASE) for more in ([], ["--smpl-sort-byv"]))
        values = [int(line.split()[column], 0) for line in by_value]
        assert values == sorted(values) and len(values) > 1
        assert view == "level" or values != [int(line.split()[column], 0) for line in by_count]
        assert sorted(line.split()[0] for line in by_value) == sorted(line.split()[0] for line in by_count)
    assert "# sorted by value" in printed(*MISSES, "--smpl-sort-byvalue", *CHASE)


@pytest.mark.slow
def test_raw_samples_are_those_of_the_run(tmp_path: Path) -> None:
    path = tmp_path / "samples"
    assert printed(*MISSES, "--smpl-save-raw", f"--smpl-outfile={path}", *CHASE) == []
    run = library.run(CHASE, events="data_ear_cache_lat4", long_smpl_periods=7, stdout=library.DEVNULL)
    assert list(library.read_samples(path)) == list(run.samples)


@pytest.mark.slow
@each(
    ("words", "said"),
    [
        ((*MISSES, "--smpl-save-raw"), "--smpl-save-raw is binary: give --smpl-outfile=FILE too"),
        ((*MISSES, "--smpl-sort-byvalue", "--smpl-sort-bylevel"), "exclude each other"),
        ((*MISSES, "--smpl-sort-bylevel", "--smpl-level-view"), "--smpl-sort-byvalue sorts them"),
        ((*MISSES, "--smpl-cum-threshold=0"), "--smpl-cum-threshold"),
        ((*MISSES, "--smpl-cum-threshold=101"), "--smpl-cum-threshold"),
        ((*MISSES[:3], "--smpl-module=inst-hist", "--smpl-sort-byvalue"), "is of --smpl-module=dear-hist"),
        (("-e", "nops_retired", "--smpl-sort-byvalue"), "--smpl-sort-byvalue applies to samples"),
        (("-e", "nops_retired", "--smpl-cum-threshold=5"), "--smpl-cum-threshold applies to samples"),
        (("-e", "nops_retired", "--demangle-cpp", "--no-demangle"), "exclude each other"),
        (("-e", "nops_retired", "--print-syms", "--json"), "--print-syms is text"),
        (("-e", "nops_retired", "--long-smpl-periods=9", "--extra-smpl-pmds=6-5"), "from the lower number"),
        (("-e", "nops_retired", "--long-smpl-periods=9", "--extra-smpl-pmds=4-99"), "no PMD18"),
        (("-e", "nops_retired", "--long-smpl-periods=9", "--reset-non-smpl-periods=4"), "the event set has none"),
        (("-e", "nops_retired,loads_retired", "--long-smpl-periods=9", "--reset-non-smpl-periods=4-5"), "PMD4 is no"),
    ],
)
def test_what_makes_no_sense_is_refused(words: tuple[str, ...], said: str) -> None:
    assert said in refused(*words, *CHASE)


def test_symbols_are_those_of_the_file() -> None:
    """As pyelftools reads them."""
    found = printed("--print-syms", "-e", "none", *FIB)
    with Path(FIB[0]).open("rb") as file:
        table: Any = ELFFile(file).get_section_by_name(".symtab")
        symbols = [one for one in table.iter_symbols() if one["st_info"]["type"] in ("STT_FUNC", "STT_OBJECT")]
    wanted = {
        (one["st_value"], one["st_size"], "T" if one["st_info"]["type"] == "STT_FUNC" else "D", one.name)
        for one in symbols
    }
    lines = [re.fullmatch(r"(0x[0-9a-f]{16}) +(\d+) ([TD-]) (\S+)", line) for line in found]
    assert all(lines)
    shown = [(int(one[1], 16), int(one[2]), one[3], one[4]) for one in lines if one]
    assert {one for one in shown if one[2] != "-"} == wanted and len(wanted) > 3
    assert [one[0] for one in shown] == sorted(one[0] for one in shown)


def test_symbols_stand_before_the_counts(tmp_path: Path) -> None:
    path = tmp_path / "results"
    printed("--print-syms", "-e", "nops_retired", f"--outfile={path}", *FIB)
    lines = path.read_text().splitlines()
    assert lines[0].endswith(" T main") and lines[-1].split()[1] == "NOPS_RETIRED"


def test_a_stripped_program_has_no_symbols(tmp_path: Path) -> None:
    stripped = bytearray(Path(FIB[0]).read_bytes())
    stripped[40:48] = bytes(8)  # e_shoff
    stripped[58:64] = bytes(6)  # e_shentsize, e_shnum, e_shstrndx
    path = tmp_path / "stripped"
    path.write_bytes(stripped)
    path.chmod(0o755)
    assert "--symbol-file=FILE" in refused("--print-syms", "-e", "none", str(path))


def registers(*words: str) -> list[dict[int, int]]:
    events = "ia64_inst_retired,nops_retired,loads_retired"
    lines = printed("-e", events, "--long-smpl-periods=500", "--smpl-module=compact", *words, *FIB)
    names = [int(name[3:]) for name in lines[0].split() if name.startswith("pmd")]
    return [dict(zip(names, map(int, line.split()[-len(names) :]), strict=True)) for line in lines[1:]]


@pytest.mark.slow
def test_counters_that_are_named_begin_at_0_with_every_sample() -> None:
    whole, reset = registers(), registers("--reset-non-smpl-periods")
    for name, counters in (("5", {5}), ("6", {6}), ("5-6", {5, 6}), ("5,6", {5, 6})):
        some = registers(f"--reset-non-smpl-periods={name}")
        for pmd in (5, 6):
            assert [one[pmd] for one in some] == [one[pmd] for one in (reset if pmd in counters else whole)]
    for pmd in (5, 6):
        assert [sum(one[pmd] for one in reset[: n + 1]) for n in range(len(reset))] == [one[pmd] for one in whole]


@pytest.mark.slow
def test_a_derived_event_counts_beside_samples() -> None:
    words = ("-e", "data_spec_miss_ratio,nops_retired", "--long-smpl-periods=,100", "--smpl-print-counts")
    epic = (example("epic"),)
    lines = printed(*words, "--smpl-module=compact", *epic)
    ratio = printed("-e", "data_spec_miss_ratio", *epic)
    assert lines[-2:] == [*ratio, *printed("-e", "nops_retired", *epic)]
    plain = printed("-e", "nops_retired,cpu_cycles", "--long-smpl-periods=100", "--smpl-module=compact", *epic)
    stamps, wanted = ([line.split()[4:6] for line in some] for some in (lines[1:-2], plain[1:]))  # cycles of a machine
    assert stamps == wanted != []


def test_a_period_of_a_derived_event_is_refused() -> None:
    said = refused("-e", "data_spec_miss_ratio,nops_retired", "--long-smpl-periods=1000", *FIB)
    assert "DATA_SPEC_MISS_RATIO is a formula" in said and said.count("\n") == 1


def test_an_inverse_range_is_said_to_be_inversed() -> None:
    words = ("--verbose", "--no-cmd-output", "-e", "nops_retired", "--irange=main")
    plain, inverse = (pfmon(*words, *more, *FIB).stderr for more in ([], ["--inverse-irange"]))
    assert re.search(r"^\[0x4\d+-0x4\w+\): \d register pair\(s\), fine_mode$", plain, re.MULTILINE)
    assert re.search(r"^\[0x4\d+-0x4\w+\): \d register pair\(s\), fine_mode, inversed$", inverse, re.MULTILINE)
