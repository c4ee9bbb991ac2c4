"""Where results go: standard output by name, numbers in file names, --verbose with the results."""

import json
from pathlib import Path

import pytest
from answers import declined
from command import example, pfmon

COUNT = ("-e", "ia64_inst_retired", example("fib"), "3")


def test_minus_is_standard_output() -> None:
    assert pfmon("--outfile=-", *COUNT).stdout == pfmon(*COUNT).stdout


def test_append_to_standard_output_is_refused() -> None:
    assert "--outfile=FILE" in declined("--append", "--outfile=-", *COUNT)


@pytest.mark.slow
def test_n_is_the_next_number_that_is_free(tmp_path: Path) -> None:
    for _ in range(3):
        assert pfmon(f"--outfile={tmp_path}/run-%n.txt", *COUNT).returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run-1.txt", "run-2.txt", "run-3.txt"]


def test_n_is_the_same_in_all_files_of_a_run(tmp_path: Path) -> None:
    (tmp_path / "samples-1").touch()
    words = ("--long-smpl-periods=1000", f"--smpl-outfile={tmp_path}/samples-%n", f"--outfile={tmp_path}/counts-%n")
    assert pfmon(*words, "--smpl-print-counts", f"--export=csv:{tmp_path}/table-%n", *COUNT).returncode == 0
    assert {"samples-2", "counts-2", "table-2"} < {path.name for path in tmp_path.iterdir()}


def test_p_is_the_process_id_and_two_percent_signs_are_one(tmp_path: Path) -> None:
    assert pfmon(f"--record={tmp_path}/%p-100%%n", *COUNT).returncode == 0
    (path,) = tmp_path.iterdir()
    number, rest = path.name.split("-")
    assert int(number) > 0 and rest == "100%n"


def test_other_percent_signs_are_refused(tmp_path: Path) -> None:
    assert "%d stands for nothing" in declined(f"--outfile={tmp_path}/%d", *COUNT)
    assert "% stands for nothing" in declined(f"--outfile={tmp_path}/100%", *COUNT)
    assert not list(tmp_path.iterdir())


def test_verbose_goes_where_the_results_go(tmp_path: Path) -> None:
    shown = pfmon("-v", *COUNT)
    done = pfmon("-v", f"--outfile={tmp_path}/counts", *COUNT)
    assert done.stderr == "" and "PMD4 IA64_INST_RETIRED" in shown.stderr
    counts = "".join(shown.stdout.splitlines(keepends=True)[1:])  # without what the program prints
    assert (tmp_path / "counts").read_text() == shown.stderr + counts


def test_verbose_leaves_json_alone(tmp_path: Path) -> None:
    done = pfmon("-v", "--json", f"--outfile={tmp_path}/counts", *COUNT)
    assert "PMD4" in done.stderr
    assert json.loads((tmp_path / "counts").read_text())["exit_status"] == 0
