"""From the start of the guest on a run imports no module: a host without descriptors or memory left could not."""

import json
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest
from command import EXAMPLES, example, pfmon
from grids import few, first_quick
from host_programs import needs
from ia64_objects import write_dynamic, write_object
from ia64_program import EXIT, write_program
from ia64_tasks import Data, call, fork
from monitoring_program import counting_by_perf, self_counting
from perf_calls import attribute

from pfmon.pmu import get
from pfmon.report.exports import EXPORTS, OF_LAST_BRANCHES
from pfmon.report.sampling import MODULES

SCRIPT = Path(__file__).parents[2] / "support" / "no_late_imports.py"
SECONDS = 120
LOST, TIMED_OUT, GREW, SEGMENTATION_FAULT = 125, 124, 3, 128 + 11


class Case(NamedTuple):
    """A command: {} is a folder, names in capitals are programs; its exit status; ``limit``: bytes that a file may
    have from the start on, standard output included."""

    words: str
    status: int = 0
    limit: str = ""


RETIRED = "-e ia64_inst_retired"
CYCLES = "-e cpu_cycles,ia64_inst_retired"
FORMS = [name for name in EXPORTS if name not in OF_LAST_BRANCHES]
SAMPLES = f"{CYCLES} --long-smpl-periods=2000"
MISSES = "-e data_ear_cache_lat4 --long-smpl-periods=5"
BRANCHES = "-e branch_event --long-smpl-periods=5"

WAIT = call("wait4", (1 << 64) - 1, 0, 0, 0)

REPORTS = ("--report=cpi", "--report=derived", "--report=html:{}/page --open", "--report=cpi --report=html:{}/page")
OUTPUTS = (
    "--with-header --show-time -v",
    "--json --with-header",
    "--outfile={}/counts-%n",
    "--append --outfile={}/counts",
    "--per-function --per-block --annotate=main",
    "--per-function --per-block --annotate=main --json",
    "--per-line",
    "--print-interval=1",
    "--print-interval=1 --json",
    "--per-thread",
    "--per-thread --json",
    "--per-region",
    "--per-region --json",
    "--region=work",
    "--print-syms",
    "--us-counter-format",
    "--progress",
    "--live",
    "--record={}/record",
    "--switch-timeout=1 --true-values -e nops_retired",
    "--trigger-code-start-addresses=main",
    "--trigger-event=ia64_inst_retired:100",
    "--insecure --dont-start",
    "--save-baseline={}/base",
)
EXACT = ("--slow", "--irange=main", "--event-thresholds=3", "-e nops_retired --switch-timeout=1")
OF_SAMPLES = ("--smpl-print-counts", "--json", "--report=html:{}/page", "--smpl-stacks", "--resolve-addresses")


def ia64() -> dict[str, Case]:
    """Runs of IA-64 programs."""
    runs = [
        *(
            "FIB 5",
            "--unlimited -e all FIB 5",
            "--guest-pmu FIB 5",
            "--guest-pmu=exact FIB 5",
            *("--timeline FIB 5", "--timeline=main,2 --json FIB 5"),
            "-e data_ear_cache_lat4,branch_event FIB 5",
        ),
        *(f"--pmu={pmu} {words} FIB 5" for pmu in ("itanium", "montecito") for words in ("", "--report=cpi")),
        *(f"{words} FIB 5" for words in REPORTS),
        *(f"{words} --json FIB 5" for words in REPORTS[:2]),
        *(f"{CYCLES} {words} FIB 15" for words in OUTPUTS),
        *(f"{RETIRED} {words} FIB 15" for words in EXACT),
        *(f"{words} --replay=RECORDED" for words in (CYCLES, SAMPLES, *REPORTS)),
        *(f"{SAMPLES} {words} FIB 5" for words in OF_SAMPLES),
        *(f"{SAMPLES} --export={name}:{{}}/export FIB 5" for name in FORMS),
        *(f"--export={name}:{{}}/export FIB 5" for name in FORMS),
        *(
            f"{words} {output} FIB 5"
            for words in ("", CYCLES)
            for output in ("-r 2", "--csv", "--csv -r 2", "--json -r 2")
        ),
        *(f"{events} --smpl-module={name} --smpl-outfile={{}}/samples FIB 5" for name, events in MODULE_EVENTS.items()),
        f"{SAMPLES} --smpl-module=inst-hist --smpl-show-func --smpl-truth FIB 5",
        *(f"{MISSES} --smpl-module=dear-hist --smpl-{view}-view FIB 5" for view in ("inst", "data", "level")),
        *(f"--follow-all {words} {program}" for words in FOLLOWED for program in ("FORKS", "EXECUTES")),
        *(f"--smt 'FIB 5' --pmu=montecito {words} FIB 4" for words in COUPLED),
        *(f"--cores=2 --beside 'FIB 5' {words} FIB 4" for words in COUPLED),
    ]
    runs += [f"--guest-pmu{mode} {program}" for mode in ("", "=exact") for program in ("MONITORS", "PERF")]
    runs += [f"{RETIRED} {program}" for program in ("MONITORS", "PERF")]
    runs += [f"{words} --sysroot=SYSROOT OPENS" for words in OPENED]
    runs += [f"--uart=0x20000000 {words} --system SYSTEM" for words in OF_SYSTEMS]
    return {words: Case(words) for words in runs}


OF_SYSTEMS = ("", f"-k {CYCLES} --per-function", "--guest-pmu", "--guest-pmu=exact -k -e ia64_inst_retired")
MODULE_EVENTS = {name: {"dear-hist": MISSES, "btb-hist": BRANCHES}.get(name, SAMPLES) for name in MODULES}
FOLLOWED = (
    "",
    CYCLES,
    f"{CYCLES} --json",
    f"{CYCLES} --aggregate-results",
    "--report=cpi",
    "--report=derived",
    "--report=html:{}/page",
    "--report=html:{}/page-%p",
    f"{SAMPLES} --smpl-outfile={{}}/samples",
    f"{SAMPLES} --export=perf-script:{{}}/table --export=pprof:{{}}/profile-%p",
)
OPENED = (
    f"{RETIRED} --irange=one.so:one",
    f"{RETIRED} --irange=one.so:one --long-smpl-periods=5",
    f"{RETIRED} --per-function",
    f"{RETIRED} --trigger-code-start-addresses=one.so:one",
)
COUPLED = (
    "",
    "--json",
    "--report=cpi",
    "--report=derived",
    f"{RETIRED} --per-function",
    f"{RETIRED} --long-smpl-periods=500",
)
FAILURES = {
    "name that an object has not": Case(f"{RETIRED} --irange=one.so:two --sysroot=SYSROOT OPENS", 2),
    "fault": Case(f"{RETIRED} FAULTS", SEGMENTATION_FAULT),
    "crash report": Case(f"{RETIRED} --crash-report={{}}/crash FAULTS", SEGMENTATION_FAULT),
    "fault, followed": Case(f"{RETIRED} --follow-all FAULTS", SEGMENTATION_FAULT),
    "machine check": Case(f"{RETIRED} --system SYSTEM", LOST),
    "fault of one of two": Case(f"{RETIRED} --smt FAULTS FIB 5"),
    "time-out": Case(f"{RETIRED} --session-timeout=0.2 LOOPS", TIMED_OUT),
    "time-out of samples": Case(f"{RETIRED} --long-smpl-periods=1000000 --session-timeout=0.2 LOOPS", TIMED_OUT),
    "full standard output": Case(f"{CYCLES} FIB 5", LOST, "10"),
    "full standard output of samples": Case(f"{SAMPLES} FIB 5", LOST, "10"),
    "full file": Case("--per-block --unlimited -e all --outfile={}/counts FIB 5", LOST, "1000"),
    "full file of samples": Case(f"{SAMPLES} --smpl-outfile={{}}/samples FIB 15", LOST, "1000"),
    "full export": Case(f"{CYCLES} --long-smpl-periods=500 --export=csv:{{}}/table FIB 15", LOST, "1000"),
    "full export of calls": Case("--export=perf-data:{}/data FIB 15", LOST, "1000"),
    "full page": Case("--report=html:{}/page FIB 5", LOST, "1000"),
    "full recording": Case(f"{CYCLES} --record={{}}/record FIB 15", LOST, "1000"),
    "damaged recording": Case(f"{CYCLES} --replay=DAMAGED", 2),
    "part of a recording": Case(f"{CYCLES} --partial --replay=DAMAGED"),
    "grown count": Case(f"{RETIRED} --baseline=GROWN FIB 5", GREW),
}
X86_EVENTS = "-e INSTRUCTIONS_RETIRED,LLC_MISSES"
X86_SAMPLES = f"{X86_EVENTS} --long-smpl-periods=500"
LAST_BRANCHES = "-e instructions --long-smpl-periods=50 -b"
SHELL = "/bin/sh -c '/bin/true; exec /bin/false'"
X86 = {
    **{
        words: Case(words)
        for words in (
            *("X86FIB 5", "--report=cpi X86FIB 5", "--report=html:{}/page X86FIB 5", "--timeline X86FIB 5"),
            *(f"{X86_EVENTS} {words} X86FIB 5" for words in ("--json", "--per-function --annotate=main", "-v")),
            *(f"{X86_SAMPLES} {words} X86FIB 5" for words in ("", *OF_SAMPLES)),
            *(f"{X86_SAMPLES} --export={name}:{{}}/export X86FIB 5" for name in FORMS),
            "--report=c2c X86LINES",
            f"{LAST_BRANCHES} X86FIB 5",
            f"{LAST_BRANCHES} --smpl-module=btb-hist --smpl-show-func --smpl-truth X86LINES",
            *(f"{LAST_BRANCHES} --export={name}:{{}}/export X86LINES" for name in OF_LAST_BRANCHES),
            *(f"--export={name}:{{}}/export X86LINES" for name in OF_LAST_BRANCHES),
            *(
                f"{X86_EVENTS} {words} X86LINES"
                for words in ("--annotate=main --per-function", "--report=html:{}/page")
            ),
            *(
                f"{X86_SAMPLES} {words} X86LINES"
                for words in ("--resolve-addresses", "--smpl-module=inst-hist --smpl-show-func")
            ),
            *(
                f"--follow-all {X86_SAMPLES} {words} X86LINES"
                for words in ("--resolve-addresses", "--report=html:{}/page")
            ),
            *("PPCFIB 5", "--report=cpi PPCFIB 5"),
        )
    },
    "fault": Case("-e INSTRUCTIONS_RETIRED X86FAULTS", SEGMENTATION_FAULT),
    "fault on a machine": Case("-e LLC_MISSES X86FAULTS", SEGMENTATION_FAULT),
    "time-out": Case("-e INSTRUCTIONS_RETIRED --session-timeout=0.3 X86LOOPS", TIMED_OUT),
    **{
        f"followed {words}": Case(f"--follow-all {words} {SHELL}", 1)
        for words in (X86_EVENTS, f"{X86_EVENTS} --json", f"{X86_SAMPLES} --smpl-outfile={{}}/samples", "--report=cpi")
    },
}


C_PROGRAMS = {
    "X86FAULTS": "int main(void) { return *(volatile int *)0; }",
    "X86LINES": "static int twice(int n) { return 2 * n; } int main(int n, char **v) { return twice(n) - 2; }",
    "X86LOOPS": "int main(void) { for (;;) ; }",
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The files that words of the commands stand for."""
    folder = tmp_path_factory.mktemp("inputs")
    data = Data()
    path = data.add("path", os.fsencode(example("fib")) + b"\0")
    words = data.add("words", struct.pack("<2Q", path, 0))
    child = call("execve", path, words, words + 8)
    programs = {
        "FAULTS": (["ld8 r4=[r0]"], b""),
        "LOOPS": (["again:", "br.cond.sptk.few again"], b""),
        "FORKS": (fork([*call("exit_group", 0)], [*WAIT, *EXIT]), b""),
        "EXECUTES": (fork(child, [*WAIT, *EXIT]), data.bytes),
    }
    found = {name: str(write_program(folder / name, lines, content)) for name, (lines, content) in programs.items()}
    made = get("itanium2").program(["IA64_INST_RETIRED"])
    found["MONITORS"] = str(self_counting(folder / "MONITORS", made.writes, made.counters))
    found["PERF"] = str(counting_by_perf(folder / "PERF", [attribute()])[0])
    found["OPENS"] = str(write_dynamic(folder, [(write_object(folder / "one.so", "one"), 9)], told=False))
    found["SYSROOT"] = str(folder)
    found["SYSTEM"] = str(Path(__file__).resolve().parents[2] / "data" / "engine" / "firmware")
    found |= {"FIB": example("fib"), "X86FIB": str(EXAMPLES / "x86_64/fib"), "PPCFIB": str(EXAMPLES / "ppc64/fib")}
    found |= {name: str(folder / name) for name in (*C_PROGRAMS, "RECORDED", "DAMAGED", "GROWN")}
    pfmon(*RETIRED.split(), f"--record={found['RECORDED']}", f"--save-baseline={found['GROWN']}", found["FIB"], "5")
    grown = json.loads(Path(found["GROWN"]).read_text())
    grown["counts"]["IA64_INST_RETIRED"] //= 2
    Path(found["GROWN"]).write_text(json.dumps(grown))
    recorded = Path(found["RECORDED"]).read_bytes()
    Path(found["DAMAGED"]).write_bytes(recorded[: len(recorded) // 2])
    return found


@pytest.fixture(scope="module")
def x86_inputs(inputs: dict[str, str]) -> dict[str, str]:
    """The same with programs of the host."""
    for name, text in C_PROGRAMS.items():
        command = ["cc", "-g", "-O1", "-x", "c", "-", "-o", inputs[name]]
        subprocess.run(command, input=text, check=True, text=True)
    return inputs


def check(case: Case, inputs: dict[str, str], folder: Path) -> None:
    """The command ends as it would otherwise, and imports nothing after the start."""
    filled = [word.replace("{}", str(folder)) for word in shlex.split(case.words)]
    for name in sorted(inputs, key=len, reverse=True):
        filled = [re.sub(rf"(?<![\w/]){name}\b", inputs[name], word) for word in filled]
    refused = folder / "refused"
    command = [sys.executable, str(SCRIPT), str(refused), case.limit, *filled]
    with (folder / "output").open("w") as output:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE, text=True, timeout=SECONDS
        )
    assert not refused.exists(), refused.read_text()
    assert done.returncode == case.status, done.stderr
    assert "Traceback" not in done.stderr


IA64_CASES, X86_CASES = ia64(), X86


@pytest.mark.parametrize("words", first_quick(few(IA64_CASES, 9)))
def test_a_run_of_an_ia64_program(words: str, inputs: dict[str, str], tmp_path: Path) -> None:
    check(IA64_CASES[words], inputs, tmp_path)


@pytest.mark.parametrize("failure", first_quick(few(FAILURES, 4)))
def test_a_run_that_fails(failure: str, inputs: dict[str, str], tmp_path: Path) -> None:
    check(FAILURES[failure], inputs, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "terminal"), few(product(["--progress", "--live", "--live --per-function"], [True, False]), 2)
)
def test_progress_of_a_run(words: str, terminal: bool, inputs: dict[str, str], tmp_path: Path) -> None:
    """Progress is shown from the second second on."""
    command = [sys.executable, str(SCRIPT), str(tmp_path / "refused"), "", *words.split(), "--session-timeout=1.5"]
    reader, writer = pty.openpty() if terminal else os.pipe()
    if terminal:
        termios.tcsetwinsize(writer, (40, 120))
    with os.fdopen(reader, "rb", buffering=0) as shown:
        done = subprocess.run(
            [*command, *CYCLES.split(), inputs["LOOPS"]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=writer,
            check=False,
            timeout=SECONDS,
            env={**os.environ, "TERM": "xterm"},
        )
        text = shown.read(1 << 16)
        os.close(writer)
    refused = tmp_path / "refused"
    assert not refused.exists(), refused.read_text()
    assert done.returncode == TIMED_OUT and b"instructions" in text


@needs("qemu-x86_64", "qemu-ppc64", "cc")
@pytest.mark.parametrize("words", first_quick(few(X86_CASES, 4)))
def test_a_run_under_qemu(words: str, x86_inputs: dict[str, str], tmp_path: Path) -> None:
    check(X86_CASES[words], x86_inputs, tmp_path)
