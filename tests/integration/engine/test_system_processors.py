"""Systems of several processors: what each rule does that is about more than one (tests/data/engine/processors.S)."""

import json
import lzma
import re
from pathlib import Path

import pytest
import system_images
from command import pfmon
from grids import each
from shared_programs import folder, needs

import pfmon as library
from pfmon.errors import PfmonError

DATA = Path(__file__).resolve().parents[2] / "data" / "engine"
IMAGE = str(DATA / "processors.elf")
ALL_HOLD, ON_ONE_CORE = "LIClGeM\n", "LIClGEM\n"
EVENTS = "ia64_inst_retired,cpu_op_cycles_all,thread_switch_events_lp,thread_switch_gated_lp,cycles_halted"


@pytest.mark.skipif(not system_images.can_assemble(), reason="no assembler for IA-64 here")
def test_assembled_image_is_that_of_its_source(tmp_path: Path) -> None:
    system_images.assemble("processors", tmp_path / "image", DATA)
    assert (tmp_path / "image").read_bytes() == Path(IMAGE).read_bytes()


@each("options", ["--quantum=10000", "--quantum=1000", "--quantum=33", "--quantum=1000 --slow"])
def test_processors_take_turns(options: str) -> None:
    run = pfmon("--system", IMAGE, "--processors=2", *options.split(), "-k", "-e", "ia64_inst_retired")
    assert run.stdout.startswith(ALL_HOLD), run.stdout
    assert run.returncode == 0, run.stderr


def test_turns_repeat() -> None:
    runs = [pfmon("--system", IMAGE, "--processors=2", "-k", "-e", "ia64_inst_retired") for _ in range(2)]
    assert runs[0].stdout == runs[1].stdout


@each("cores", ["", "--cores=2"])
def test_machines_decide_who_executes(cores: str) -> None:
    assert counts(*cores.split()) == counts(*cores.split())
    shown = pfmon("--system", IMAGE, "--smt-threads", *cores.split(), "-e", "ia64_inst_retired")
    assert shown.stdout.startswith(ALL_HOLD if cores else ON_ONE_CORE)


def counts(*options: str) -> list[dict[str, int]]:
    """By processor: the counts of EVENTS."""
    run = pfmon("--system", IMAGE, "--smt-threads", *options, "-k", "--json", "--no-cmd-output", "-e", EVENTS)
    assert run.returncode == 0, run.stderr
    return [{one["name"]: one["count"] for one in thread["events"]} for thread in json.loads(run.stdout)["threads"]]


def test_halt_of_a_hardware_thread_switches_to_the_other_once() -> None:
    """Processor 1 halts once, and processor 0 counts 50000 down in a loop of three instructions meanwhile."""
    first, second = counts()
    assert (first["THREAD_SWITCH_EVENTS_LP"], second["THREAD_SWITCH_EVENTS_LP"]) == (0, 1)
    assert (first["CYCLES_HALTED"], second["THREAD_SWITCH_GATED_LP"]) == (0, 0)
    assert 50_000 < second["CYCLES_HALTED"] < 200_000


def test_halted_core_lets_the_other_go_on() -> None:
    first, second = counts("--cores=2")
    assert first["CYCLES_HALTED"] == first["THREAD_SWITCH_EVENTS_LP"] == second["THREAD_SWITCH_EVENTS_LP"] == 0
    assert 50_000 < second["CYCLES_HALTED"] < 200_000


REFUSED = [
    ("--processors=0", "--processors=0: a whole number from 1 to 32 is wanted"),
    ("--processors=33", "--processors=33: a whole number from 1 to 32 is wanted"),
    (
        "--processors=4 --smt-threads -e ia64_inst_retired",
        "--processors=4: with --smt-threads a system has two processors",
    ),
    ("--processors=2 --guest-pmu", "--system runs one image, on processors of --processors or --smt-threads"),
    ("--processors=2 -e cpu_cycles", "--processors=2: only exact events are counted; for others give --smt-threads"),
    ("--processors=2 --report=html:page.html", "--processors=2: only exact events are counted; for others give --smt-"),
    ("--cores=2 -e cpu_cycles", "--system runs one image, on processors of --processors or --smt-threads"),
]


@each("options, message", REFUSED)
def test_what_does_not_go_together_is_refused(options: str, message: str) -> None:
    run = pfmon("--system", IMAGE, *options.split())
    assert run.returncode == 2
    assert run.stderr.startswith(f"pfmon: {message}")
    assert run.stderr.count("\n") == 1


def test_library_has_processors() -> None:
    run = library.run((), system=IMAGE, processors=2, events=["ia64_inst_retired"], levels="k", capture=True)
    assert run.output == ALL_HOLD.encode()
    with pytest.raises(PfmonError, match="whole number from 1 to 32"):
        library.run((), system=IMAGE, processors=64)


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Linux with SMP."""
    made = tmp_path_factory.mktemp("kernels") / "vmlinux"
    made.write_bytes(lzma.decompress((folder("kernel") / "vmlinux-smp.stripped.xz").read_bytes()))
    return made


@pytest.mark.slow
@needs("kernel")
@each("processors", [2, 1, 4])
def test_linux_brings_up_its_processors(kernel: Path, processors: int) -> None:
    run = pfmon("--system", str(kernel), f"--processors={processors}", "-k", "-e", "ia64_inst_retired")
    assert run.returncode == 0, run.stderr
    assert re.search(rf"smp: Brought up 1 node, {processors} CPU", run.stdout)
    assert run.stdout.count("CPU 1: synchronized ITC") == (processors > 1)
    assert "reboot: Restarting system" in run.stdout


@pytest.mark.exhaustive
@needs("kernel")
@each("cores", ["", "--cores=2"])
def test_linux_runs_on_hardware_threads_and_on_cores(kernel: Path, cores: str) -> None:
    run = pfmon("--system", str(kernel), "--smt-threads", *cores.split(), "-k", "-e", "cpu_op_cycles_all")
    assert run.returncode == 0, run.stderr
    assert "smp: Brought up 1 node, 2 CPUs" in run.stdout
    assert "reboot: Restarting system" in run.stdout
