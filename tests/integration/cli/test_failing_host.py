"""The N-th write, fsync, rename, mmap of a run fails, for every N: a documented status, a line that says why, and
nothing that the user had is lost."""

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from command import example
from grids import few
from guests import EXAMPLES
from little_kernel import PLACE as LITTLE_KERNEL
from preloaded import preloaded

from pfmon.cli.commands import check as check_command
from pfmon.cli.commands import demo, diff, sweep_command
from pfmon.library.options.table import OPTIONS
from pfmon.report.exports import EXPORTS, OF_LAST_BRANCHES
from pfmon.report.sampling import MODULES

SUPPORT = Path(__file__).parents[2] / "support"
KINDS = ("write", "fsync", "rename", "mmap", "ftruncate", "fallocate")
LOST, CRASHED = 125, 128 + 11
PROGRESS = re.compile(r"recording \d|\d+ of \d")
MINE = "mine: {}\n"
"""What is in a file before the run."""


class Case(NamedTuple):
    """A command, in which {} is the folder, and the files that it writes there."""

    words: str
    files: str
    before: str | None = None  # files that are there, if not those

    @property
    def there(self) -> list[str]:
        return (self.files if self.before is None else self.before).split()


Runs = Callable[[Case, str, dict[str, str], Path], list[dict[str, Any]]]
COUNT = "-e ia64_inst_retired"
SAMPLES = f"{COUNT} --long-smpl-periods=500 --smpl-print-counts"
MISSES = "-e data_ear_cache_lat4 --long-smpl-periods=5 --smpl-module=dear-hist"
HISTOGRAM = f"{COUNT} --long-smpl-periods=100 --smpl-module=inst-hist"
LIGHT = [name for name in EXPORTS if name not in ("parquet", *OF_LAST_BRANCHES)]
"""Formats that need no library which takes a second to load."""
CASES = {
    "counts": Case(
        f"{COUNT} --outfile={{}}/counts --record={{}}/record --save-baseline={{}}/base FIB 3", "counts record base"
    ),
    "fresh": Case(
        f"{COUNT} --outfile={{}}/counts --record={{}}/record --save-baseline={{}}/base FIB 3", "counts record base", ""
    ),
    "printed": Case(f"{COUNT} FIB 3", ""),
    "snapshot": Case(
        "--system=LITTLE --memory=32M --snapshot={}/snapshot --snapshot-on=read[y] -e ia64_inst_retired", "snapshot"
    ),
    "json": Case(f"{COUNT} --json --outfile={{}}/json FIB 3", "json"),
    "appended": Case(f"{COUNT} --append --outfile={{}}/counts FIB 3", "counts"),
    "samples": Case(
        f"{SAMPLES} --outfile={{}}/counts --smpl-outfile={{}}/samples --export=csv:{{}}/table "
        "--export=pprof:{}/profile --report=html:{}/page FIB 3",
        "counts samples table profile page",
    ),
    "fresh samples": Case(f"{SAMPLES} --smpl-outfile={{}}/samples --export=csv:{{}}/table FIB 3", "samples table", ""),
    "eager": Case(f"{SAMPLES} --smpl-outfile={{}}/samples --smpl-eager-save FIB 3", "samples", ""),
    "machine": Case("-e cpu_cycles,l1d_read_misses_all --outfile={}/counts FIB 3", "counts"),
    "two programs": Case(
        f"{COUNT} --outfile={{}}/counts --record={{}}/record --smt-output={{}}/said --smt FIB FIB 3",
        "counts record.0 record.1 said",
    ),
    "numbered": Case(f"{COUNT} --outfile={{}}/counts-%n --record={{}}/record-%n FIB 3", "counts-1 record-1", ""),
    "crash": Case(f"{COUNT} --crash-report={{}}/crash CRASH", "crash"),
    "difference": Case("diff --outfile={}/text --html={}/page BASE BASE", "text page"),
    "difference printed": Case("diff BASE BASE", ""),
    "difference as json": Case("diff --json --outfile={}/json BASE BASE", "json"),
    "check": Case("check --outfile={}/text --markdown={}/page BASE BASE", "text page"),
    "demo": Case("demo --html={}/page", "page"),
    "check printed": Case("check --json BASE BASE", ""),
    "exports": Case(
        f"{SAMPLES} --smpl-outfile=/dev/null {' '.join(f'--export={one}:{{}}/{one}' for one in LIGHT)} FIB 3",
        " ".join(LIGHT),
    ),
    "parquet": Case(f"{SAMPLES} --smpl-outfile=/dev/null --export=parquet:{{}}/parquet FIB 3", "parquet"),
    "last branches": Case(
        "-e instructions --long-smpl-periods=50 -b --smpl-outfile=/dev/null --export=autofdo:{}/autofdo "
        "--replay=X86RECORD",
        "autofdo",
    ),
    "intervals": Case(f"{COUNT} --print-interval=0.002 --outfile={{}}/counts FIB 3", "counts"),
    "intervals printed": Case(f"{COUNT} --print-interval=0.002 FIB 3", ""),
    "of this process": Case(
        f"{SAMPLES} --outfile={{}}/counts-%p --smpl-outfile={{}}/samples-%p --export=csv:{{}}/table-%p "
        "--record={}/record-%p --report=html:{}/page-%p FIB 3",
        "counts-PID samples-PID table-PID record-PID page-PID",
        "",
    ),
    "baseline of this process": Case(f"{COUNT} --save-baseline={{}}/base-%p FIB 3", "base-PID", ""),
    "tasks": Case(
        f"--follow-all {SAMPLES} --outfile={{}}/counts --smpl-outfile={{}}/samples --export=collapsed:{{}}/stacks "
        "--report=html:{}/page FIB 3",
        "counts samples stacks page",
    ),
    "tasks printed": Case(f"--follow-all {SAMPLES} FIB 3", ""),
    "of tasks": Case(
        f"--follow-all {SAMPLES} --smpl-outfile={{}}/samples-%p --export=csv:{{}}/table-%p FIB 3",
        "samples-1000 table-1000",
    ),
    "save raw": Case(f"{MISSES} --smpl-save-raw --smpl-outfile={{}}/samples FIB 3", "samples"),
    "misses": Case(f"{MISSES} --smpl-outfile={{}}/samples FIB 3", "samples"),
    "misses printed": Case(f"{MISSES} FIB 3", ""),
    "branches": Case(
        "-e branch_event --long-smpl-periods=50 --smpl-module=btb-hist --smpl-outfile={}/samples FIB 3", "samples"
    ),
    "raw": Case(f"{SAMPLES} --smpl-module=raw --smpl-outfile={{}}/samples FIB 3", "samples"),
    "compact": Case(f"{SAMPLES} --smpl-module=compact --smpl-outfile={{}}/samples FIB 3", "samples"),
    "default": Case(f"{SAMPLES} --smpl-module=default --smpl-outfile={{}}/samples FIB 3", "samples"),
    "detailed": Case(f"{SAMPLES} --smpl-module=detailed-ia64 --smpl-outfile={{}}/samples FIB 3", "samples"),
    "histogram": Case(
        f"{HISTOGRAM} --smpl-show-func --smpl-outfile={{}}/samples --outfile={{}}/counts FIB 3", "samples counts"
    ),
    "histogram printed": Case(f"{HISTOGRAM} FIB 3", ""),
    "cycles": Case("--report=cpi --outfile={}/counts FIB 3", "counts"),
    "formulas": Case("--report=derived --outfile={}/counts FIB 3", "counts"),
    "profile": Case(
        f"{COUNT} --per-function --per-block --per-line --annotate=main --outfile={{}}/counts FIB 3", "counts"
    ),
    "wordy": Case(f"{COUNT} --verbose --with-header --show-time --print-syms --outfile={{}}/said FIB 3", "said"),
    "wordy printed": Case(f"{COUNT} --verbose --with-header --show-time --print-syms FIB 3", ""),
    "compared": Case(f"{COUNT} --baseline=BASE --outfile={{}}/counts FIB 3", "counts"),
    "replayed": Case(f"{COUNT} --replay=RECORD --outfile={{}}/counts", "counts"),
    "followed": Case(f"--follow-all {COUNT} --outfile={{}}/counts FIB 3", "counts"),
    "events": Case("-l", ""),
    "help": Case("--help-all", ""),
    "manual page": Case("--man-page", ""),
    "completion": Case("--completion=bash", ""),
    "sweep": Case("sweep --workers=1 --output={}/sweep SWEEP", "sweep/index.html sweep/table.parquet"),
}
VARIES = ("page", "crash", "json", "firefox", "pprof", "said", "sweep/")
"""Files that say when they were made, or how long it took."""
PRINTS = (
    *(
        "json",
        "append",
        "verbose",
        "with-header",
        "show-time",
        "print-syms",
        "print-interval",
        "per-function",
        "per-block",
        "per-line",
    ),
    *("annotate", "smpl-eager-save", "smpl-save-raw", "smpl-show-func", "man-page", "completion", "help-all"),
)
"""Options that change what is written, or how."""
READS = {"replay", "smt-replay", "baseline", "machine", "symbol-file", "debug-dir", "sysroot", "cwd", "initrd"}
READS |= {"sysmap-file", "from-snapshot"}
"""Options that name a file or directory and write nothing there."""
QUICK = {("counts", "write"), ("counts", "rename"), ("tasks", "fsync"), ("printed", "write")}
"""Cases that are not slow."""
FEW_KINDS = dict.fromkeys(("sweep", "parquet"), ("write", "fsync", "rename"))
"""Kinds of calls for cases of which each run takes a second: it starts processes, or loads a library."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return preloaded((SUPPORT / "failing_host.c").read_text(), tmp_path_factory.mktemp("library"))


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What words of the commands stand for."""
    from ia64_program import write_program

    folder = tmp_path_factory.mktemp("inputs")
    crash = write_program(folder / "crash", ["ld8 r4=[r0]"])
    base = folder / "base"
    words = [sys.executable, "-m", "pfmon", *COUNT.split(), f"--save-baseline={base}", example("fib"), "3"]
    subprocess.run(words, check=True, capture_output=True)
    sweep = folder / "sweep.toml"
    sweep.write_text(f'''events = ["ia64_inst_retired"]
[[program]]
command = ["{example("fib")}", "3"]
[[machine]]
name = "itanium2"
''')
    record = folder / "record"
    subprocess.run(
        [*words[:3], *COUNT.split(), f"--record={record}", example("fib"), "3"], check=True, capture_output=True
    )
    x86 = folder / "x86"
    if platform.machine() == "x86_64":
        program = str(EXAMPLES / "x86_64" / "fib")
        subprocess.run([*words[:3], "-e", "none", f"--record={x86}", program, "3"], check=True, capture_output=True)
    return {
        "FIB": example("fib"),
        "LITTLE": str(LITTLE_KERNEL),
        "CRASH": str(crash),
        "BASE": str(base),
        "RECORD": str(record),
        "SWEEP": str(sweep),
        "X86RECORD": str(x86),
    }


def _filled(word: str, inputs: dict[str, str]) -> str:
    option, equals, value = word.rpartition("=")
    return f"{option}{equals}{inputs.get(value, value)}"


@pytest.fixture(scope="module")
def host(library: Path) -> Iterator[Runs]:
    """Runs a case in all its ways; the first run is undisturbed. One process for all: it has everything loaded."""
    environment = {**os.environ, "LD_PRELOAD": str(library), "PYTHONPATH": str(SUPPORT)}
    words = [sys.executable, str(SUPPORT / "failing_host.py")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdin and process.stdout
        ask, answers = process.stdin, process.stdout

        def runs(case: Case, kind: str, inputs: dict[str, str], folder: Path) -> list[dict[str, Any]]:
            words = [_filled(word, inputs).replace("{}", str(folder)) for word in case.words.split()]
            order = {"folder": str(folder), "kind": kind, "names": case.there, "words": words}
            ask.write(json.dumps(order) + "\n")
            ask.flush()
            outcome: dict[str, Any] = json.loads(answers.readline())
            return outcome

        yield runs
        ask.close()


OTHERS = [(name, kind) for name in CASES for kind in FEW_KINDS.get(name, KINDS) if (name, kind) not in QUICK]
SECONDS = [one for one in OTHERS if one[0] == "sweep"]
"""Cases of which each run takes a second, or some."""
ALL = [
    *sorted(QUICK),
    *few([pytest.param(*one, marks=pytest.mark.slow) for one in OTHERS if one not in SECONDS], 20),
    *(pytest.param(*one, marks=[pytest.mark.slow, pytest.mark.exhaustive]) for one in SECONDS),
]


@pytest.mark.parametrize(("name", "kind"), ALL)
def test_whatever_the_host_refuses_nothing_is_lost(
    name: str, kind: str, host: Runs, inputs: dict[str, str], tmp_path: Path
) -> None:
    case = CASES[name]
    if "X86RECORD" in case.words and platform.machine() != "x86_64":
        pytest.skip("the recording is of a program of the host")
    if "parquet" in case.files:
        pytest.importorskip("pyarrow")
    first, *others = host(case, kind, inputs, tmp_path / "out")
    assert set(first["files"]) == set(case.files.split()), first
    assert len(others) == first["calls"] and first["status"] in (0, CRASHED), first
    for one in others:
        check(case, first, one)
    if kind in ("write", "fsync", "rename") and case.files and name not in ("appended", "eager", "crash"):
        refused = 2 if name == "snapshot" else LOST  # the run is for its file alone
        assert any(one["status"] == refused for one in others)  # something was refused


def check(case: Case, first: dict[str, Any], one: dict[str, Any]) -> None:
    """One run beside that in which nothing failed."""
    status, usual = one["status"], first["err"].splitlines()
    said = [line for line in one["err"].splitlines() if line not in usual and not PROGRESS.match(line)]
    assert status in (first["status"], LOST, 2, *((1,) if "SWEEP" in case.words else ())), one["number"]
    assert all(line.startswith("pfmon: ") for line in said), (one["number"], one["err"])
    most = 3 if "--snapshot=" in case.words else 2  # why the system ended, and that there is no snapshot
    assert status == first["status"] or 1 <= len(said) <= most, (one["number"], said)
    named = set(re.findall(r"(\S+/\.\S+\.\w+)", one["err"]))
    for name, content in one["files"].items():
        if Path(name).name.startswith("."):
            assert any(path.endswith(f"/{name}") for path in named), (one["number"], name, said)
            continue
        before = MINE.format(name).encode().hex() if name in case.there else None
        whole = content == first["files"].get(name) or name.startswith(VARIES)
        partly = name.startswith("samples") and (
            "the samples up to there are in it" in one["err"]
            or "samples up to there" in one["err"]
            or "eager" in case.words
        )
        programs = name == "said" and first["files"][name].startswith(content)  # the program's own write failed
        assert content == before or whole or partly or programs, (one["number"], name)
        if name in first["files"] and status == first["status"] and f"{name}: " not in one["err"]:
            assert content != before, (one["number"], name)
    missing = set(case.there) - set(one["files"])
    assert not missing, (one["number"], missing)


def test_every_kind_of_output_has_a_case() -> None:
    """By the tables of options, exports and sampling modules."""
    subcommands = {
        "diff": diff.OPTIONS,
        "check": check_command.OPTIONS,
        "demo": demo.OPTIONS,
        "sweep": sweep_command.OPTIONS,
    }
    wanted = {f"--{one.long}=" for one in OPTIONS.values() if one.value in ("FILE", "DIR", "FORMAT:FILE")}
    wanted -= {f"--{name}=" for name in READS}
    wanted |= {f"--{name}" for name in PRINTS} | {f"--report={name}" for name in ("cpi", "derived", "html:")}
    wanted |= {f"--export={name}:" for name in EXPORTS} | {f"--smpl-module={name}" for name in MODULES}
    whole = "\n".join(case.words for case in CASES.values())
    assert not [one for one in wanted if one not in whole]
    for name, own in subcommands.items():
        words = "\n".join(case.words for case in CASES.values() if case.words.startswith(f"{name} "))
        own = [one for one in own if one.long != "input"]  # which is read
        assert not [one.long for one in own if one.value in ("FILE", "DIR") and f"--{one.long}=" not in words]
    assert {*PRINTS} <= {*OPTIONS}
    assert all(f"--{name}=" in whole for name, one in OPTIONS.items() if one.writes)
