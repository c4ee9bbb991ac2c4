"""Recordings: what is counted when one is run again is what the program's own run counts, to the last digit."""

import json
import random
import subprocess
from itertools import product
from pathlib import Path

import pytest
from command import example, pfmon, pfmon_here, refused
from grids import each, few
from guests import SMALL
from host_programs import needs

from pfmon.pmu import IA64
from pfmon.session.run import kept_files

EXAMPLES = sorted(SMALL)
QUICK = ("fib", "epic")
SMALLER = {**SMALL, "chase": ["64", "2000"], "lz": ["1000"], "strings": ["100"], "matmul": ["8"], "arrays": ["2"]}

# What is asked of a run; a recording made without any of it has to answer all.
PROGRAMMINGS = {
    "exact": ["-e", "ia64_inst_retired,nops_retired,loads_retired"],
    "range": ["-e", "nops_retired,loads_retired", "--irange=main"],
    "matcher": ["-e", "IA64_TAGGED_INST_RETIRED_IBRP0_PMC8", "--opc-match8=br.cloop"],
    "threshold": ["-e", "ia64_inst_retired", "--event-thresholds=2"],
    "unlimited": ["--unlimited", "-e", "cpu_cycles,l1d_read_misses_all,l2_misses,loads_retired,back_end_bubble_all"],
    "sets": ["-e", "loads_retired", "-e", "cpu_cycles", "--switch-timeout=0.003", "--true-values"],
    "intervals": ["-e", "nops_retired,cpu_cycles", "--print-interval=0.005"],
    "code trigger": ["-e", "nops_retired,cpu_cycles", "--trigger-code-start-addresses=main"],
    "functions": ["-e", "loads_retired,cpu_cycles", "--per-function", "--per-block"],
    "instructions": ["-e", "loads_retired", "--annotate=main"],
    "cpi": ["--report=cpi"],
    "psr.up": ["-e", "nops_retired", "--dont-start"],
}


def results(*words: str) -> tuple[int, dict]:
    done = pfmon("--json", "--no-cmd-output", *words)
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    del found["seconds"]
    return done.returncode, found


def record(path: Path, name: str, *options: str) -> Path:
    done = pfmon("--no-cmd-output", f"--record={path}", *options, example(name), *SMALLER[name])
    assert done.stderr == "" and path.is_file()
    return path


def comparable(found: dict) -> dict:
    return {key: value for key, value in found.items() if key not in ("header", "engine")}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", few([name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in EXAMPLES], 4)
)
def test_a_recording_answers_as_the_run_does(name: str, tmp_path: Path) -> None:
    path = record(tmp_path / "recording", name)
    for what, given in PROGRAMMINGS.items():
        options = [word.replace("=main", "=nest") if name == "epic" else word for word in given]
        direct = results(*options, example(name), *SMALLER[name])
        again = results(f"--replay={path}", *options)
        assert comparable(again[1]) == comparable(direct[1]), what
        assert again[0] == direct[0]


@pytest.mark.slow
@pytest.mark.parametrize(("pmu", "name"), few(product(IA64, ["fib", "sort", "hashmap", "epic"]), 3))
def test_every_event_of_a_recording_is_that_of_the_run(pmu: str, name: str, tmp_path: Path) -> None:
    path = record(tmp_path / "recording", name)
    options = (f"--pmu={pmu}", "--unlimited", "-e", "all")
    direct, again = results(*options, example(name), *SMALLER[name]), results(f"--replay={path}", *options)
    assert comparable(again[1]) == comparable(direct[1]) and len(direct[1]["events"]) > 150


@pytest.mark.slow
def test_data_triggers_are_recognised_in_a_recording(tmp_path: Path) -> None:
    path = record(tmp_path / "recording", "sort")
    options = ("-e", "loads_retired,cpu_cycles", "--trigger-data-start-addresses=0x6000000000010000")
    assert comparable(results(f"--replay={path}", *options)[1]) == comparable(
        results(*options, example("sort"), *SMALLER["sort"])[1]
    )


@pytest.mark.slow
def test_a_recording_does_not_depend_on_what_was_counted(tmp_path: Path) -> None:
    plain = record(tmp_path / "plain", "fib").read_bytes()
    for number, what in enumerate(("exact", "sets", "code trigger", "cpi", "intervals")):
        assert record(tmp_path / str(number), "fib", *PROGRAMMINGS[what]).read_bytes() == plain, what


@pytest.mark.slow
def test_counting_goes_on_while_a_run_is_recorded(tmp_path: Path) -> None:
    options = ("-e", "loads_retired,cpu_cycles")
    direct = results(*options, example("fib"), *SMALLER["fib"])
    assert results(*options, f"--record={tmp_path / 'r'}", example("fib"), *SMALLER["fib"]) == direct


@pytest.mark.slow
def test_exit_status_and_death_are_recorded(tmp_path: Path) -> None:
    program = Path(__file__).resolve().parents[2] / "data" / "linux" / "signals"
    for argument in ("t", "s"):
        path = tmp_path / argument
        done = pfmon("--no-cmd-output", f"--record={path}", str(program), argument)
        again = pfmon("-e", "none", f"--replay={path}")
        assert (again.returncode, again.stderr) == (done.returncode, done.stderr)


@pytest.mark.slow
def test_a_cut_recording_says_where_and_partial_counts_up_to_there(tmp_path: Path) -> None:
    whole = record(tmp_path / "whole", "sort").read_bytes()
    everything = results(f"--replay={tmp_path / 'whole'}", "-e", "ia64_inst_retired")[1]["events"][0]["count"]
    cut = tmp_path / "cut"
    counts = []
    for size in (len(whole) - 1, len(whole) - 40, len(whole) // 2, 60):
        cut.write_bytes(whole[:size])
        said = refused(f"--replay={cut}", "-e", "ia64_inst_retired")
        assert f"{cut}: damaged at byte " in said
        done = pfmon(f"--replay={cut}", "--partial", "-e", "ia64_inst_retired")
        if done.returncode:  # not even the head is whole
            assert size == 60 and "damaged at byte" in done.stderr
            continue
        assert "damaged at byte" in done.stderr and "up to there" in done.stderr
        counts.append(int(done.stdout.split()[0]))
    assert counts[0] == everything and counts == sorted(counts, reverse=True)


@pytest.mark.slow
def test_damaged_recordings_never_crash_and_never_count_wrong(tmp_path: Path) -> None:
    whole = record(tmp_path / "whole", "fib").read_bytes()
    pick = random.Random(4)
    damaged = tmp_path / "damaged"
    for _ in range(25):
        data = bytearray(whole)
        for _ in range(pick.choice([1, 1, 8])):
            data[pick.randrange(len(data))] ^= 1 << pick.randrange(8)
        damaged.write_bytes(bytes(data))
        done = pfmon(f"--replay={damaged}", "-e", "ia64_inst_retired")
        assert done.returncode == 2 and done.stderr.startswith("pfmon: ") and done.stderr.count("\n") == 1


@pytest.mark.slow
def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.write_bytes(b"")
    assert "is not a recording" in refused(f"--replay={empty}")
    assert "is not a recording" in refused(f"--replay={example('fib')}")
    assert "no such file" in refused(f"--replay={tmp_path / 'nothing'}")
    assert "is a directory" in refused(f"--replay={tmp_path}")


@pytest.mark.slow
def test_a_full_disk_refuses_the_recording_and_loses_nothing(tmp_path: Path) -> None:
    done = pfmon("--no-cmd-output", "--record=/dev/full", "-e", "nops_retired", example("fib"), "12")
    assert done.returncode == 125 and "no space left on device" in done.stderr and done.stderr.count("\n") == 1
    old = tmp_path / "old"
    old.write_text("what was there")
    assert "--record" in refused(f"--record={tmp_path / 'no' / 'file'}", example("fib"), "5")
    assert pfmon("--no-cmd-output", f"--record={old}", str(tmp_path / "no-program")).returncode == 2
    assert old.read_text() == "what was there" and [path.name for path in tmp_path.iterdir()] == ["old"]


@each(
    ("words", "said"),
    [
        (("--replay=FILE", "--insecure", "-e", "nops_retired"), "--insecure says how a program runs"),
        (("--replay=FILE", "--slow", "-e", "nops_retired"), "--slow says how a program runs"),
        (("--replay=FILE", "--record=other", "-e", "nops_retired"), "--record says how a program runs"),
        (("--replay=FILE", "-e", "none", example("fib")), "takes no program"),
        (("--partial", example("fib")), "--replay=FILE"),
        (("--record=", example("fib")), "a file is wanted"),
    ],
)
def test_options_that_do_not_go_with_recordings_are_refused(words: tuple[str, ...], said: str) -> None:
    assert said in refused(*words)


@pytest.mark.slow
def test_names_need_the_program_that_was_recorded(tmp_path: Path) -> None:
    copy = tmp_path / "program"
    copy.write_bytes(Path(example("fib")).read_bytes())
    copy.chmod(0o755)
    path = tmp_path / "recording"
    pfmon("--no-cmd-output", f"--record={path}", str(copy), "8")
    wanted = pfmon(f"--replay={path}", "-e", "nops_retired", "--irange=main").stdout
    copy.write_bytes(Path(example("sort")).read_bytes())
    assert pfmon(f"--replay={path}", "-e", "nops_retired", "--irange=main").stdout == wanted != ""
    copy.unlink()
    assert pfmon(f"--replay={path}", "-e", "nops_retired", "--irange=main").stdout == wanted


@pytest.mark.slow
def test_names_of_a_file_that_is_not_kept_need_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_files, "MAX_KEPT_BYTES", 100)
    copy = tmp_path / "program"
    copy.write_bytes(Path(example("fib")).read_bytes())
    copy.chmod(0o755)
    path = tmp_path / "recording"
    pfmon_here("--no-cmd-output", f"--record={path}", str(copy), "8")
    copy.write_bytes(Path(example("sort")).read_bytes())
    assert "has changed since" in refused(f"--replay={path}", "-e", "nops_retired", "--irange=main")
    copy.unlink()
    assert "no such file" in refused(f"--replay={path}", "-e", "nops_retired", "--irange=main")
    assert pfmon(f"--replay={path}", "-e", "nops_retired").returncode == 0


@pytest.mark.slow
@needs("cc")
def test_names_and_lines_are_those_of_the_recorded_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program, its shared object, and their sources have changed since."""
    monkeypatch.chdir(tmp_path)
    near = "int far(int);\nint main(void)\n{\n    return far(3) - 6;\n}\n"
    far = "int far(int one)\n{\n    return one * 2;\n}\n"

    def build(before: str) -> None:
        (tmp_path / "near.c").write_text(before + near)
        (tmp_path / "far.c").write_text(before + far)
        subprocess.run(["cc", "-g", "-shared", "-fPIC", "-o", "libfar.so", "far.c"], check=True)
        subprocess.run(["cc", "-g", "-o", "near", "near.c", "-L.", "-lfar", f"-Wl,-rpath,{tmp_path}"], check=True)

    build("")
    assert pfmon("record", "./near").returncode == 0
    places = ("near.c", "libfar.so:far.c", "far", "main")
    wanted = [pfmon("annotate", place).stdout for place in places]
    assert "4     return far(3) - 6;" in wanted[0] and "3     return one * 2;" in wanted[1]
    build("/* one\n * two */\n")
    assert [pfmon("annotate", place).stdout for place in places] == wanted
    for name in ("near", "near.c", "libfar.so", "far.c"):
        (tmp_path / name).unlink()
    assert [pfmon("annotate", place).stdout for place in places] == wanted


@pytest.mark.slow
def test_recordings_of_earlier_versions_are_read(tmp_path: Path) -> None:
    """They differ in what they do not have: files that the program maps, files that are kept."""
    path = record(tmp_path / "recording", "fib")
    words = ("-e", "loads_retired", "--per-function", f"--replay={path}")
    direct = results(*words)
    content = bytearray(path.read_bytes())
    assert content[8:12] == b"\3\0\0\0"
    for version in (1, 2):
        content[8] = version
        path.write_bytes(content)
        assert results(*words) == direct
    content[8] = 4
    path.write_bytes(content)
    assert "is a recording of version 4; this pfmon reads versions up to 3" in refused(*words)
