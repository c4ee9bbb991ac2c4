"""`pfmon --system`: its options, what does not go with them, and runs of images."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from command import example, pfmon
from elf_images import EM_X86_64, MB, Piece, elf_image, flat_image
from grids import first_quick
from ia64_assembly import assemble
from shared_programs import folder, needs

import pfmon as library
from pfmon.errors import PfmonError

DATA = Path(__file__).resolve().parents[2] / "data" / "engine"
BARE = str(folder("kernel") / "bare.elf")
GREETING, FIRMWARE = str(DATA / "greeting"), str(DATA / "firmware")


REFUSED = [
    ("--sysroot=/", "--sysroot is about a program under Linux; with --system there is none: leave it out"),
    ("--net", "--net is about a program under Linux"),
    ("--env=A=B", "--env is about a program under Linux"),
    ("--host-env", "--host-env is about a program under Linux"),
    ("--host-clock", "--host-clock is about a program under Linux"),
    ("--host-random", "--host-random is about a program under Linux"),
    ("--host-ids", "--host-ids is about a program under Linux"),
    ("--seed=1", "--seed is about a Linux kernel"),
    ("--schedule-seed=5 --itc=cycles", "--schedule-seed draws times of instructions, and here the machine's cycles"),
    ("--memory-limit=1G", "--memory-limit is about a program under Linux"),
    ("--engine=ia64", "--engine is about a program under Linux"),
    ("--mask-cpuid", "--mask-cpuid is about a program under Linux"),
    ("--follow-fork", "--follow-... is about a program under Linux"),
    ("--follow-exec", "--follow-... is about a program under Linux"),
    ("--follow-all", "--follow-... is about a program under Linux"),
    ("--follow-pthread", "--follow-pthread is about a program under Linux"),
    ("--follow-limit=3", "--follow-limit is about a program under Linux"),
    ("--per-thread -e cpu_cycles", "--per-thread is about a program under Linux"),
    ("--detach-children", "--detach-children is about a program under Linux"),
    ("--insecure -e cpu_cycles", "--insecure is about a program under Linux"),
    ("--dont-start -e cpu_cycles", "--dont-start is about a program under Linux"),
    ("--cores=2", "--system runs one image, on processors of --processors or --smt-threads: leave --cores out"),
    (
        "--smt=/bin/true",
        "--system runs one image, on processors of --processors or --smt-threads: leave a second program out",
    ),
    ("--memory=0", "--memory=0: a size such as 512M or 8G is wanted"),
    ("--memory=3M", "--memory=3M: whole megabytes from 4M to 3G are wanted"),
    ("--memory=3073M", "--memory=3073M: whole megabytes from 4M to 3G are wanted"),
    ("--memory=4097k", "--memory=4097k: whole megabytes from 4M to 3G are wanted"),
    ("--uart=x", "--uart=x: a whole number from 0 to 1125899906842616 is wanted"),
    ("--uart=0x20000001", "--uart=0x20000001: a multiple of 8 is wanted"),
    ("--uart=0x4000000000000", "--uart=0x4000000000000: a whole number from 0 to 1125899906842616 is wanted"),
    ("--uart=0x1ffffff8", "--uart=0x1ffffff8: is in the memory, which ends at 0x20000000 (--memory)"),
    ("--uart=0xfee00000", "--uart=0xfee00000: is in the processor's interrupt block, which begins at 0xfee00000"),
    ("--uart=0xfefffff8", "--uart=0xfefffff8: is in the processor's interrupt block, which begins at 0xfee00000"),
    ("--itc=host", "--itc=host: instructions or cycles is wanted"),
    ("--itc=cycles --guest-pmu=exact", "--itc=cycles needs a machine, and --guest-pmu=exact has none"),
    ("--memory=4M --uart=0", "--uart=0x0: is in the memory, which ends at 0x400000 (--memory)"),
]


@pytest.mark.parametrize(("options", "message"), first_quick(REFUSED), ids=[options for options, _ in REFUSED])
def test_what_does_not_go_with_a_system_is_refused(options: str, message: str) -> None:
    done = pfmon("--system", GREETING, *options.split())
    assert done.returncode == 2
    assert f"pfmon: {message}" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("option", ["--memory=64M", "--uart=0x40000000", "--itc=cycles"])
def test_options_of_systems_need_one(option: str) -> None:
    done = pfmon(option, GREETING)
    assert done.returncode == 2
    assert done.stderr == f"pfmon: {option.partition('=')[0]} is about a whole system: give --system=IMAGE too\n"


def test_recordings_have_their_system() -> None:
    done = pfmon("--system", GREETING, "--replay=x")
    assert done.returncode == 2
    assert (
        done.stderr
        == "pfmon: --system runs one image, on processors of --processors or --smt-threads: leave --replay out\n"
    )


def test_image_takes_no_arguments() -> None:
    done = pfmon("--system", GREETING, "a")
    assert (done.returncode, done.stderr) == (
        2,
        f"pfmon: --system={GREETING}: the image is all that runs, and there is 'a'\n",
    )


PT_INTERP, PT_TLS = 3, 7
IMAGES = [
    (b"#!/bin/sh\n", "not an ELF file"),
    (
        elf_image(MB, [Piece(b"\0" * 16, MB, MB), Piece(b"/lib/ld.so\0", MB, MB, kind=PT_INTERP)]),
        "is a dynamically linked program, no system: run it without --system",
    ),
    (
        elf_image(MB, [Piece(b"\0" * 16, MB, MB), Piece(b"\0" * 16, MB, MB, kind=PT_TLS)]),
        "is a Linux program, no system: run it without --system",
    ),
    (elf_image(MB, [Piece(b"\0" * 16, MB, MB)], machine=EM_X86_64), "is an x86-64 image; --system runs IA-64 ones"),
    (flat_image(bytes(64))[:130], "truncated ELF file: segment at physical address 0x100000 ends after the file does"),
    (
        flat_image(bytes(64), memory_size=1 << 30),
        "its segment at physical address 0x100000 ends at 0x40100000, and the firmware begins at 0x1ff00000; give more "
        "--memory than 512M",
    ),
]


@pytest.mark.parametrize(("data", "message"), IMAGES, ids=[message[:30] for _, message in IMAGES])
def test_bad_image_is_said_in_one_line(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "image"
    path.write_bytes(data)
    done = pfmon("--system", str(path))
    assert (done.returncode, done.stderr) == (2, f"pfmon: {path}: {message}\n")


def test_linux_programs_are_said_to_be_none() -> None:
    path = example("fib")
    done = pfmon("--system", path)
    assert (done.returncode, done.stderr) == (
        2,
        f"pfmon: {path}: is a Linux program, no system: run it without --system\n",
    )


def test_an_image_without_vectors_is_told_what_it_lacks(tmp_path: Path) -> None:
    """As a program that is linked at low addresses does, which runs into its first system call."""
    path = tmp_path / "image"
    path.write_bytes(flat_image(assemble(["break.i 0x100000"], MB)))
    done = pfmon("--system", str(path))
    assert done.returncode == 125
    assert "(it has set no interruption vectors, CR.IVA; a program for Linux runs without --system), at" in done.stderr


def test_all_levels_count_by_default() -> None:
    """As perf counts a whole system; a level that is given is the only one."""
    image = str(DATA / "privileges.elf")

    def counted(**options: str) -> list[float]:
        run = library.run((), system=image, events=["IA64_INST_RETIRED", "CPU_CYCLES"], capture=True, **options)
        return [float(count.value or 0) for count in run.counts]

    assert counted() == counted(priv_levels="0123,0123") > counted(priv_levels="u,u")


def test_image_is_no_name_in_the_path() -> None:
    done = pfmon("--system", "sh")
    assert (done.returncode, done.stderr) == (2, "pfmon: sh: no such file or directory\n")


def test_help_has_the_options() -> None:
    done = pfmon("--help", "system")
    assert done.returncode == 0
    for option in ("--system", "--memory", "--uart", "--itc"):
        assert option in done.stdout


def test_output_and_status_are_the_image_s() -> None:
    done = pfmon("--memory=16M", "--system", GREETING)
    assert done.stdout.startswith("hello\n")
    assert done.returncode == 3


def test_library_runs_systems() -> None:
    run = library.run((), system=GREETING, memory="16M", events=["ia64_inst_retired"], capture=True)
    assert run.output == b"hello\n"
    assert run.status == 3
    with pytest.raises(PfmonError, match="--memory is about a whole system"):
        library.run(GREETING, memory="16M")


def test_image_needs_no_x_bit(tmp_path: Path) -> None:
    path = shutil.copy(GREETING, tmp_path / "image")
    Path(path).chmod(0o400)
    assert pfmon("--system", str(path)).returncode == 3


def test_functions_are_those_of_the_image() -> None:
    done = pfmon("--system", GREETING, "-k", "--per-function", "--json", "-e", "loads_retired", "--no-cmd-output")
    found = {one["name"]: one["counts"] for one in json.loads(done.stdout)["profile"]["functions"]}
    assert found["put"] == [7]  # "hello\n" and the zero


def test_recording_of_a_system_is_replayed(tmp_path: Path) -> None:
    path = tmp_path / "recording"
    library.record(path, (), system=GREETING, events=["loads_retired"], levels="k", stdout=library.DEVNULL)
    run = library.replay(path, events=["loads_retired"], levels="k", per_function=True)
    assert run.counts["loads_retired"].value == 7
    assert run.status == 3
    assert run.functions is not None
    assert run.functions["put"].to_dict()["counts"] == [7]


def test_page_has_the_image_s_functions(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = pfmon("--system", GREETING, f"--report=html:{page}", "--no-cmd-output")
    assert done.returncode == 3, done.stderr
    assert "put" in page.read_text()


def test_samples_have_the_image_s_symbols() -> None:
    words = ("-k", "-e", "loads_retired", "--long-smpl-periods=2", "--smpl-module=inst-hist", "--resolve-addresses")
    done = pfmon("--no-cmd-output", *words, "--system", GREETING)
    assert done.returncode == 3, done.stderr
    assert "put" in done.stdout


def test_image_calls_firmware_halts_and_has_a_serial_port() -> None:
    """The checks of the image: RSE_INFO, VM_PAGE_SIZE, DEBUG_INFO, a buffer, copied code, an unknown procedure, a
    translation register, HALT_LIGHT with PSR.i = 0, and the serial port."""
    done = pfmon("--pmu=montecito", "--uart=0x20000000", "--system", FIRMWARE)
    assert done.stdout.startswith("Dual-core Itanium 2 (Montecito, 1.6 GHz)\nrpdbcuthUs\n")
    assert done.returncode == 0


def test_serial_port_that_is_not_there_is_a_machine_check() -> None:
    done = pfmon("-e", "ia64_inst_retired", "--system", FIRMWARE)
    assert done.returncode == 125
    assert done.stderr.startswith("pfmon: machine check: ")
    assert done.stderr.count("\n") == 1
    assert "IA64_INST_RETIRED" in done.stdout


def counts(*words: str) -> tuple[list[int], str]:
    """The counts of a run, and what the system has printed."""
    *options, image = words
    run = pfmon("--system", image, "--json", *options)
    assert run.returncode == 0, run.stderr
    return [one["count"] for one in json.loads(run.stdout)["events"]], run.stderr


def test_recording_counts_at_all_levels(tmp_path: Path) -> None:
    path = str(tmp_path / "recording")
    events = ("-e", "loads_retired,loads_retired", "--priv-levels=k,u")
    live, _ = counts(f"--record={path}", "--uart=0x20000000", *events, FIRMWARE)
    replayed = pfmon("--json", f"--replay={path}", *events)
    assert [one["count"] for one in json.loads(replayed.stdout)["events"]] == live
    assert live[1] == 0
    assert replayed.stderr == ""


PMU_IS_THE_SYSTEM_S = [
    ("-e cpu_cycles -e loads_retired --switch-timeout=1", "several event sets (-e)"),
    ("-e cpu_cycles --long-smpl-periods=100", "samples"),
    ("-e cpu_cycles --per-function", "--per-function, --per-block, --per-line and --annotate"),
    ("-e cpu_cycles --print-interval=1", "--print-interval"),
    ("-e cpu_cycles --trigger-code-start-addresses=put", "triggers"),
    ("--report=cpi", "--report=cpi"),
    ("--record=x", "--record"),
]


@pytest.mark.parametrize(("options", "named"), PMU_IS_THE_SYSTEM_S, ids=[options for options, _ in PMU_IS_THE_SYSTEM_S])
def test_beside_the_system_s_pmu_whole_runs_are_counted(options: str, named: str) -> None:
    done = pfmon("--guest-pmu", *options.split(), "--system", GREETING)
    assert done.returncode == 2
    assert done.stderr.startswith("pfmon: --guest-pmu gives the PMU to the ")
    assert f": leave {named} out" in done.stderr


@needs("kernel")
def test_bare_metal_prints_what_its_readme_says() -> None:
    """Kernels' README: a system without a PMU. Levels 0 and 3 are all that it runs at."""
    words = ("-e", "ia64_inst_retired,ia64_inst_retired", "--priv-levels=k,u")
    found, printed = counts(*words, BARE)
    assert printed == "ViTmB34111200\n"
    both, _ = counts("-e", "ia64_inst_retired", "-ku", BARE)
    assert both == [sum(found)]


@needs("kernel")
@pytest.mark.parametrize("mode", ["--guest-pmu", "--guest-pmu=exact"])
def test_bare_metal_is_interrupted_by_its_own_pmu(mode: str) -> None:
    _, printed = counts(mode, "-e", "ia64_inst_retired", "-ku", BARE)
    assert printed == "ViTPmB3411121+\n"


@needs("kernel")
def test_slow_path_counts_the_same() -> None:
    words = ("-e", "ia64_inst_retired,loads_retired,nops_retired", "-ku", BARE)
    assert counts("--slow", *words) == counts(*words)


LINKED = {"greeting": (), "firmware": ("-Tdata", "0x110000")}
TOOLS = ("ia64-linux-gnu-as", "ia64-linux-gnu-ld")


@pytest.mark.skipif(not all(map(shutil.which, TOOLS)), reason="binutils-ia64-linux-gnu is not here")
@pytest.mark.parametrize("name", LINKED)
def test_images_are_what_their_sources_assemble_to(name: str, tmp_path: Path) -> None:
    program, image = tmp_path / f"{name}.o", tmp_path / name
    subprocess.run([TOOLS[0], "-o", program, DATA / f"{name}.S"], check=True, capture_output=True)
    flags = ["-static", "-nostdlib", "-z", "max-page-size=4096", "-Ttext", "0x100000", *LINKED[name]]
    subprocess.run([TOOLS[1], *flags, "-o", image, program], check=True, capture_output=True)
    assert image.read_bytes() == (DATA / name).read_bytes()


@pytest.mark.parametrize("option", ["--excl-intr", "--intr-only", "--exclude-idle"])
def test_recordings_tell_no_tasks_apart(option: str, tmp_path: Path) -> None:
    pfmon("--system", GREETING, f"--record={tmp_path / 'run'}", "-k", "-e", "ia64_inst_retired")
    done = pfmon(f"--replay={tmp_path / 'run'}", "-k", "-e", "ia64_inst_retired", option)
    assert done.returncode == 2
    assert done.stderr == f"pfmon: {option} is about a system while it runs: leave it out with --replay\n"


@pytest.mark.parametrize("option", ["--exclude-idle", "--per-task", "--task=1", "--sysmap-file=x", "--from-boot"])
def test_tasks_are_of_kernels(option: str) -> None:
    done = pfmon("--system", GREETING, "-k", "-e", "ia64_inst_retired", option)
    name = option.partition("=")[0]
    assert done.returncode == 2
    assert done.stderr == f"pfmon: {name} is about a Linux kernel, and {GREETING} is none: leave it out\n"
