"""--per-function, --per-block, --annotate and --symbol-file."""

import json
import subprocess
from pathlib import Path

import pytest
from command import example, pfmon
from host_programs import needs

NOPLOOP = example("noploop")


def table(text: str, heading: str) -> list[list[str]]:
    """The words of the lines below a table's heading."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.split()[-1:] == [heading] and "RETIRED" in line)
    return [line.split() for line in lines[start + 1 :]]


@pytest.mark.parametrize(("option", "heading"), [("--per-function", "function"), ("--per-block", "block")])
def test_rows_sum_to_the_totals_above_them(option: str, heading: str) -> None:
    done = pfmon("-e", "ia64_inst_retired,nops_retired", option, NOPLOOP, "300")
    assert (done.returncode, done.stderr) == (0, "")
    _, instructions, nops, *_ = done.stdout.splitlines()
    rows = table(done.stdout, heading)
    assert sum(int(row[0]) for row in rows) == int(instructions.split()[0])
    assert sum(int(row[1]) for row in rows) == int(nops.split()[0])
    assert rows[0][-1].startswith("noploop")


LOOPS = """\
volatile long sum;
int main(void)
{
    for (int i = 0; i < 1000; i++)
        sum += i;
    for (int i = 0; i < 3000; i++)
        sum ^= 1;
    return 0;
}
"""


@pytest.mark.slow
@needs("cc")
def test_counts_are_split_by_line(tmp_path: Path) -> None:
    """Each line of a loop's body has as many stores as the loop has turns, and all rows are the total."""
    (tmp_path / "loops.c").write_text(LOOPS)
    subprocess.run(["cc", "-g", "-O1", "-o", tmp_path / "loops", tmp_path / "loops.c"], check=True)
    words = ("--pmu=skylake", "-e", "MEM_INST_RETIRED.ALL_STORES,instructions", "--per-line", str(tmp_path / "loops"))
    done = pfmon(*words)
    assert (done.returncode, done.stderr) == (0, "")
    _, _, *rows = [line.split(maxsplit=2) for line in done.stdout.splitlines() if line]
    stores = {name: int(count) for count, _, name in rows[1:]}
    assert stores["loops.c:5"] == 1000 and stores["loops.c:7"] == 3000
    run = json.loads(pfmon("--json", *words).stdout)
    lines = run["profile"]["lines"]
    assert f"{tmp_path}/loops.c:5" in {row["name"] for row in lines}
    for number, event in enumerate(run["events"]):
        assert sum(row["counts"][number] for row in lines) == event["count"]


def test_annotation_lists_the_function_with_its_counts() -> None:
    done = pfmon("-e", "nops_retired", "--annotate=noploop", NOPLOOP, "300")
    lines = done.stdout.splitlines()
    loop = next(line.split() for line in lines if "br.cloop" in line)
    assert "300" not in loop[:1]
    assert sum(line.split()[:1] == ["300"] and "nop" in line for line in lines) == 5
    assert len([line for line in lines if " 40000000000002" in line]) == 21  # seven bundles of three


def test_annotation_of_what_is_no_function_is_refused_before_the_run() -> None:
    done = pfmon("-e", "nops_retired", "--annotate=noplop", NOPLOOP, "300")
    assert (done.returncode, done.stdout) == (2, "")
    assert "noploop" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.slow
def test_range_of_a_function_by_name_counts_inside_it() -> None:
    inside, outside, both = (
        int(pfmon("-e", "nops_retired", *options, NOPLOOP, "500").stdout.split()[1])
        for options in (["--irange=noploop"], ["--irange=noploop", "--inverse-irange"], [])
    )
    assert inside + outside == both and inside > 2500


def test_symbol_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    done = pfmon("-e", "nops_retired", "--irange=main", f"--symbol-file={tmp_path / 'none'}", NOPLOOP, "1")
    assert done.returncode == 2 and "--symbol-file" in done.stderr and done.stderr.count("\n") == 1


def test_json_has_the_same_profile_as_the_tables() -> None:
    words = ("-e", "ia64_inst_retired,nops_retired", "--per-function", "--per-block", "--annotate=noploop")
    run = json.loads(pfmon("--no-cmd-output", "--json", *words, NOPLOOP, "300").stdout)
    text = pfmon("--no-cmd-output", *words, NOPLOOP, "300").stdout
    totals = [event["count"] for event in run["events"]]
    profile = run["profile"]
    assert profile["events"] == ["IA64_INST_RETIRED", "NOPS_RETIRED"]
    for part, heading in {"functions": "function", "blocks": "block"}.items():
        rows = profile[part]
        assert [sum(column) for column in zip(*(row["counts"] for row in rows), strict=True)] == totals
        shown = [[*map(str, row["counts"]), f"{row['address']:#x}", row["name"]] for row in rows]
        assert table(text, heading)[: len(rows)] == shown
    instructions = profile["annotated"]["instructions"]
    assert profile["annotated"]["function"] == "noploop" and len(instructions) == 21
    own = next(row["counts"] for row in profile["functions"] if row["name"] == "noploop")
    assert [sum(i["counts"][n] for i in instructions if i["counts"]) for n in (0, 1)] == own
    assert all(f"{i['address'] | i['slot']:x} {i['text']}" in text for i in instructions)


def test_json_has_no_profile_that_nobody_asked_for() -> None:
    run = json.loads(pfmon("--no-cmd-output", "--json", "-e", "nops_retired", "--per-block", NOPLOOP, "3").stdout)
    assert run["profile"]["blocks"] and run["profile"]["functions"] is run["profile"]["annotated"] is None
    assert json.loads(pfmon("--json", "--no-cmd-output", "-e", "nops_retired", NOPLOOP, "3").stdout)["profile"] is None
