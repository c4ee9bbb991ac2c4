"""What holds for the exports of samples in all formats."""

import gzip
import json
import sys
from pathlib import Path

import pytest
from command import pfmon, pfmon_here, refused
from exported import EVERYTHING, QUEENS, export
from grids import each, first_quick

from pfmon.report.exports import EXPORTS, OF_LAST_BRANCHES

FORMS = [name for name in EXPORTS if name not in OF_LAST_BRANCHES]
NEVER = ("-e", "ia64_inst_retired", "--long-smpl-periods=1000000")


@pytest.fixture(autouse=True)
def optional_packages() -> None:
    pytest.importorskip("pyarrow")


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_a_file_does_not_depend_on_how_many_samples_come_at_a_time(form: str, tmp_path: Path) -> None:
    whole = export(tmp_path / "whole", form).read_bytes()
    assert whole and export(tmp_path / "pieces", form, *EVERYTHING, "--smpl-entries=5").read_bytes() == whole
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pieces", "whole"]


@pytest.mark.slow
@each("form", FORMS)
def test_without_samples_there_is_a_file_without_samples(form: str, tmp_path: Path) -> None:
    path = tmp_path / "samples"
    path.write_text("old")
    data = export(path, form, *NEVER).read_bytes()
    assert data != b"old" and b"memset" not in data
    if form in ("speedscope", "firefox"):
        assert len(json.loads(data).get("threads") or json.loads(data)["profiles"]) == 1
    elif form == "csv":
        assert data == b"number,stamp,iip,overflowed,last_val,set,place,file,line,stack\n"
    elif form == "pprof":
        assert gzip.decompress(data)


@pytest.mark.slow
@each("form", FORMS)
def test_a_full_disk_is_said_in_one_line(form: str) -> None:
    done = pfmon(*EVERYTHING, f"--export={form}:/dev/full", "--smpl-outfile=/dev/null", *QUEENS)
    assert done.returncode == 125
    assert done.stderr == f"pfmon: --export={form}:/dev/full: no space left on device\n"


@pytest.mark.parametrize("form", first_quick(FORMS))
def test_samples_that_cannot_be_written_leave_exports_alone(form: str, tmp_path: Path) -> None:
    path = tmp_path / "samples"
    path.write_text("old")
    words = ("-e", "ia64_inst_retired", "--long-smpl-periods=1", "--smpl-entries=100", "--smpl-outfile=/dev/full")
    done = pfmon(*words, f"--export={form}:{path}", "--no-cmd-output", *QUEENS)
    assert (done.returncode, done.stdout) == (125, "")
    assert done.stderr == "pfmon: --smpl-outfile=/dev/full: no space left on device\n"
    assert path.read_bytes() not in (b"", b"old") and list(tmp_path.iterdir()) == [path]


@pytest.mark.slow
def test_several_exports_are_of_the_same_samples(tmp_path: Path) -> None:
    both = [f"--export=csv:{tmp_path / 'both'}", f"--export=perf-script:{tmp_path / 'text'}"]
    done = pfmon(*EVERYTHING, *both, "--smpl-outfile=/dev/null", *QUEENS)
    assert (done.returncode, done.stderr) == (0, "")
    for form, name in (("csv", "both"), ("perf-script", "text")):
        assert export(tmp_path / "alone", form).read_bytes() == (tmp_path / name).read_bytes()


def test_parquet_without_pyarrow_is_refused_before_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    said = refused(*EVERYTHING, f"--export=parquet:{tmp_path / 'table'}", *QUEENS, run=pfmon_here)
    assert said == "pfmon: --export=parquet needs pyarrow, which is not installed: pip install pyarrow\n"
    assert list(tmp_path.iterdir()) == []
