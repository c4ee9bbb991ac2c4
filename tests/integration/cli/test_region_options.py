"""--region and --per-region: the table, what is compared, and what does not go with them."""

import json
from pathlib import Path

import pytest
from command import example, pfmon, refused
from grids import each
from region_programs import by_hand, ia64, start, stop, work

EVENT = ("-e", "ia64_inst_retired")
PARTS = [work(100), start("outer"), work(10), start("inner"), work(20), stop("inner"), stop("outer"), work(1000)]
EXPECTED = by_hand(PARTS, bundles=True).instructions
NOPLOOP = (example("noploop"), "10")
IMAGE = str(Path(__file__).resolve().parents[2] / "data" / "engine" / "processors.elf")


@pytest.fixture
def program(tmp_path: Path) -> str:
    return str(ia64(tmp_path / "program", PARTS))


def test_a_table_has_a_row_for_each_region_and_the_rest(program: str) -> None:
    done = pfmon("--per-region", *EVENT, program)
    assert (done.returncode, done.stderr) == (0, "")
    counts, table = done.stdout.split("\n\n")
    rows = [line.split(maxsplit=2) for line in table.splitlines()]
    assert rows[0] == ["IA64_INST_RETIRED", "entered", "region"]
    assert rows[1:3] == [[str(EXPECTED[name]), "1", name] for name in ("outer", "inner")]
    outside, name = rows[3][0], " ".join(rows[3][1:])
    assert name == "[outside of all]"
    assert int(outside) + EXPECTED["outer"] == int(counts.split()[0])  # inner is within outer


def test_several_names_may_be_given_in_either_way(program: str) -> None:
    words = (("--region=outer,inner",), ("--region=inner", "--region=outer"), ("--region=outer", "--region=outer"))
    found = [pfmon(*EVENT, *one, program).stdout for one in words]
    assert found == [f"{EXPECTED['outer']:26} IA64_INST_RETIRED\n"] * 3


def test_cycles_and_misses_are_counted_by_default(program: str) -> None:
    done = pfmon("--region=outer", program)
    assert done.returncode == 0 and f"{EXPECTED['outer']:,}" in done.stdout and "cycles" in done.stdout


def test_baselines_are_of_their_regions(program: str, tmp_path: Path) -> None:
    base = str(tmp_path / "base.json")
    assert pfmon(f"--save-baseline={base}", *EVENT, "--region=outer", program).returncode == 0
    assert json.loads(Path(base).read_text())["options"] == {"region": ["outer"]}
    assert pfmon(f"--baseline={base}", *EVENT, "--region=outer", program).returncode == 0
    assert "other options than this (--region)" in refused(f"--baseline={base}", *EVENT, program)


def test_check_compares_a_region_and_fails_without_one(program: str, tmp_path: Path) -> None:
    longer = [*PARTS[:4], work(25), *PARTS[5:7], work(1)]
    (tmp_path / "new").mkdir()
    new = str(ia64(tmp_path / "new" / "program", longer))
    words = ("check", program, new, "-e", "ia64_inst_retired")
    assert pfmon(*words).returncode == 0  # on the whole it does less
    done = pfmon(*words, "--region", "inner", "--json")
    assert done.returncode == 3
    (event,) = json.loads(done.stdout)["events"]
    assert (event["base"], event["new"]) == (EXPECTED["inner"], EXPECTED["inner"] + 3 * 5)
    assert "never entered nowhere, so there is nothing to compare" in refused(*words, "--region", "nowhere")


def test_intervals_and_event_sets_are_of_the_region(program: str) -> None:
    lines = pfmon("--region=outer", "--print-interval=0.0001", "--json", *EVENT, program).stdout
    found = json.loads(lines)
    assert sum(count for _, (count,) in found["intervals"]) == EXPECTED["outer"]
    sets = ("--switch-timeout=0.0001", "-e", "ia64_inst_retired", "-e", "nops_retired")
    assert pfmon("--region=outer", *sets, program).returncode == 0


@each(
    "words, said",
    [
        (("--region=a", "--system", IMAGE), "--system: counts no regions"),
        (("--region=a", "--guest-pmu", *NOPLOOP), "--guest-pmu: counts no regions"),
        (("--region=a", "--report=c2c", *NOPLOOP), "--report=c2c: counts no regions"),
        (("--per-region", "--smt", NOPLOOP[0], *EVENT, *NOPLOOP), "two programs on one core: counts no regions"),
        (("--per-region", "--per-thread", *EVENT, *NOPLOOP), "--per-thread: of the run as a whole"),
        (("--per-region", "--follow-all", *EVENT, *NOPLOOP), "--follow-fork and --follow-exec: of the run"),
        (("--per-region", "--per-function", *EVENT, *NOPLOOP), "--per-function"),
        (("--per-region", "--report=cpi", *NOPLOOP), "--report: of the run as a whole"),
        (("--per-region", "--print-interval=1", *EVENT, *NOPLOOP), "--print-interval: of the run"),
        (("--per-region", "--long-smpl-periods=5", *EVENT, *NOPLOOP), "--long-smpl-periods"),
        (("--per-region", "--csv", *EVENT, *NOPLOOP), "--per-region"),
        (("--region=a,,b", *EVENT, *NOPLOOP), "--region=: a name of 1 to 64 bytes"),
        (("--region=", *EVENT, *NOPLOOP), "--region=: a name of 1 to 64 bytes"),
        ((f"--region={'x' * 65}", *EVENT, *NOPLOOP), "a name of 1 to 64 bytes"),
        (("--region=a\tb", *EVENT, *NOPLOOP), "a name of 1 to 64 bytes"),
        (("--region", ",".join(map(str, range(65))), *EVENT, *NOPLOOP), "65 regions, and there is room for 64"),
    ],
)
def test_what_does_not_go_with_regions_is_refused_in_a_line(words: tuple[str, ...], said: str) -> None:
    assert said in refused(*words)
