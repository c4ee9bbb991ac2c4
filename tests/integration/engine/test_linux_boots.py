"""Linux kernels on the platform (PFMON_TEST_PROGRAMS, kernel): what a boot prints, against Ski's, and how it ends."""

import difflib
import fcntl
import lzma
import os
import re
import subprocess
import sys
import termios
import time
from functools import partial
from pathlib import Path

import pytest
from command import pfmon, pfmon_given
from grids import each
from shared_programs import folder, needs

import pfmon as library
from pfmon.engine.ia64.system.platform.newc_archive import NewcArchive

KERNELS = folder("kernel")
SHELL = folder("real") / "dash"
COUNTED = ("-e", "ia64_inst_retired", "-k")
pytestmark = [needs("kernel"), pytest.mark.slow]


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with unpacked kernels."""
    place = tmp_path_factory.mktemp("kernels")
    for packed in KERNELS.glob("vmlinux-*.xz"):
        name = packed.name.removesuffix(".xz").removesuffix(".stripped")
        (place / name).write_bytes(lzma.decompress(packed.read_bytes()))
    return place


DIFFERENT = [
    # of whom and when it was built, which its README says of the log
    r"Linux version 6\.1\.192 .*",
    # the firmware's own names and addresses
    r"efi: .*",
    r"ACPI: (RSDP|XSDT|FACP|DSDT|APIC) 0x.*",
    r"SAL 3\.0: .*",
    # the size of the memory, and what follows from it
    r"  (node|Initmem|Built|Dentry|Inode).*",
    r"(Initmem setup|Built 1|Dentry cache|Inode-cache).*",
    r"  node   0: .*",
    r"software IO TLB: mapped .*",
    r"Memory: .*",
    # the clock, which Ski has at 2 MHz
    r"CPU 0: base freq=.*",
    r"clocksource: itc: .*",
    r"Calibrating delay loop.*",
    r"(cpu MHz|itc MHz|BogoMIPS) .*",
    r"239: +\d+ +LSAPIC +timer",
    # an I/O SAPIC, a serial port, a power switch, EFI's runtime services that are there
    r"ACPI: Error parsing MADT - no IOSAPIC entries",
    r"ACPI: PM: .*",
    r"Registered efivars operations",
    r"GSI 20 .*",
    r"pnp: PnP ACPI: found .*",
    r"00:00: ttyS0 at .*",
    # the processor
    r"(vendor|model|model name|revision|features) .*",
    r"Supported memory attributes .*",
    r"Number of [DI]TR .*",
    r"(Data|Instruction) Translation Cache Level \d:",
    r"\t(Hash sets|Associativity|Number of entries|Flags|Supported page sizes).*",
    # the first poll of corrected errors comes by the interrupt block, which Ski has not
    r" 28: +\d+ +LSAPIC +cpe_poll",
    # Ski's own words, and the shell's
    r"kernel exited .*",
    r".* insts \(.*",
    r"(real|user|sys)\t.*",
    r"rc 1",
    r"",
]


def lines(text: str) -> list[str]:
    """Lines without the time of the kernel's messages."""
    return [re.sub(r"^\[ *\d+\.\d+\] ?", "", line) for line in text.replace("\r", "").splitlines()]


def explained(line: str) -> bool:
    return any(re.fullmatch(f" ?{pattern}", line) or re.fullmatch(pattern, line) for pattern in DIFFERENT)


def test_console_is_ski_s_but_for_known_lines(kernels: Path) -> None:
    options = ("--cmdline", "console=hvc0 loglevel=8", "--memory=272M")
    ran = pfmon("--system", str(kernels / "vmlinux-ssc"), *options, *COUNTED)
    assert ran.returncode == 0, ran.stderr
    text = ran.stdout[: ran.stdout.index("reboot: Restarting system") + len("reboot: Restarting system")]
    wanted, found = lines((KERNELS / "console-ski.log").read_text()), lines(text)
    changes = [one for one in difflib.ndiff(wanted, found) if one[:2] in ("- ", "+ ")]
    assert "\n".join(one for one in changes if not explained(one[2:])) == ""
    assert len(found) > 120


@each("name", ["plain", "ssc", "perf", "smp"])
def test_kernel_boots_to_its_reboot(kernels: Path, name: str) -> None:
    """Unmodified ones print by the serial port, user programs' output among it."""
    ran = pfmon("--system", str(kernels / f"vmlinux-{name}"), *COUNTED)
    assert ran.returncode == 0, ran.stderr
    assert "== init runs" in ran.stdout
    assert "ea4d0a24dabcaa11f9aa979b872d162b  -" in ran.stdout
    assert "== init ends\n" in ran.stdout
    assert "\r\n" not in ran.stdout
    instructions = int(re.findall(r"(\d+) IA64_INST_RETIRED", ran.stdout)[0])
    assert 70e6 < instructions < 130e6


def test_boot_repeats_to_the_last_instruction(kernels: Path) -> None:
    runs = [pfmon("--system", str(kernels / "vmlinux-plain"), *COUNTED) for _ in range(2)]
    assert runs[0].stdout == runs[1].stdout


def test_compressed_kernel_boots_with_little_memory() -> None:
    ran = pfmon("--system", str(KERNELS / "vmlinux-plain.xz"), "--memory=160M", *COUNTED)
    assert ran.returncode == 0, ran.stderr
    assert "== init ends" in ran.stdout


def test_kernel_boots_with_all_memory_and_on_each_processor(kernels: Path) -> None:
    for options in (["--memory=3G"], ["--pmu=montecito"], ["--pmu=itanium"]):
        ran = pfmon("--system", str(kernels / "vmlinux-plain"), *options, *COUNTED)
        assert "== init ends" in ran.stdout, (options, ran.stdout[-3000:], ran.stderr)


def test_panic_is_said_with_the_console(kernels: Path) -> None:
    options = ("--cmdline", "rdinit=/none init=/none")
    ran = pfmon("--system", str(kernels / "vmlinux-plain"), *options, *COUNTED, "--", str(SHELL))
    assert ran.returncode == 125
    assert "] Kernel panic - not syncing: Requested init /none failed" in ran.stderr
    assert "pfmon: the system panicked: Requested init /none failed" in ran.stderr
    assert "Linux version" not in ran.stdout


def initrd(folder: Path, script: str) -> str:
    """An initial file system in which the shell executes a script as the first program."""
    archive = NewcArchive()
    archive.add_device("/dev/console", 5, 1)
    archive.add_file("/bin/sh", SHELL.read_bytes(), 0o755)
    archive.add_file("/init", f"#!/bin/sh\n{script}".encode(), 0o755)
    (folder / "initrd").write_bytes(archive.content())
    return str(folder / "initrd")


@needs("real")
@each("name", ["plain", "ssc"])
def test_console_is_interactive(kernels: Path, tmp_path: Path, name: str) -> None:
    """Typed lines come to the program; it ends by a match on the console."""
    script = 'echo ready; while read line; do echo "<$line>"; done'
    from_, into = os.pipe()
    os.write(into, b"one\ntwo words\n")
    options = ("--initrd", initrd(tmp_path, script), "--exit-on", "<two.words>")
    ran = pfmon_given(from_, "--system", str(kernels / f"vmlinux-{name}"), *options, *COUNTED)
    os.close(into)
    assert ran.returncode == 0, ran.stderr
    assert re.search(r"<one>\n(.*\n)*<two words>", ran.stdout)


@needs("real")
def test_first_program_that_ends_is_a_panic(kernels: Path, tmp_path: Path) -> None:
    ran = pfmon("--system", str(kernels / "vmlinux-plain"), "--initrd", initrd(tmp_path, "exit 3\n"), *COUNTED)
    assert ran.returncode == 125
    assert "pfmon: the system panicked: Attempted to kill init! exitcode=0x00000300\n" in ran.stderr
    assert "Kernel panic" in ran.stdout


def test_console_to_a_terminal_ends_lines_as_terminals_want(kernels: Path) -> None:
    main, other = os.openpty()
    command = [
        sys.executable,
        "-m",
        "pfmon",
        "--system",
        str(kernels / "vmlinux-plain"),
        "--exit-on",
        "SAL 3.0",
        *COUNTED,
    ]
    with subprocess.Popen(command, stdin=other, stdout=other, stderr=subprocess.PIPE) as child:
        os.close(other)
        text = b""
        while b"SAL 3.0" not in text:
            text += os.read(main, 1 << 16)
        child.communicate()
    os.close(main)
    assert b"earlycon: " in text
    assert b"\r\n[" in text
    assert b"\r\r" not in text


KINDS = ["rfi", "cover", "bsw.1", "bsw.0", "ptc.l", "itc.d", "itc.i", "epc", "tpa", "itr.d", "ptc.e", "rsm", "ssm"]


def executed_on_ski() -> dict[str, int]:
    """Instructions that a boot on Ski executed, by mnemonic, those with a false predicate among them."""
    found: dict[str, int] = {}
    for line in (KERNELS / "executed-kinds-ski.txt").read_text().splitlines():
        text, count, *_ = re.split(r" {2,}", line)
        found[text.split()[0]] = found.get(text.split()[0], 0) + int(count)
    return found


@pytest.mark.exhaustive
def test_kinds_of_instructions_are_nearly_ski_s(kernels: Path, tmp_path: Path) -> None:
    """What a boot does to the processor, however much it computes: the memory, the clock and the interrupts differ. Ski
    halts in its idle loop by a simulator call, and has more timer interrupts, since its clock is the host's."""
    recording = str(tmp_path / "boot")
    options = ("--cmdline", "console=hvc0 loglevel=8", "--memory=272M", "--record", recording)
    ran = pfmon("--system", str(kernels / "vmlinux-ssc"), *options, *COUNTED)
    assert ran.returncode == 0, ran.stderr
    wanted, found = executed_on_ski(), {}
    for kind in KINDS:
        replayed = library.replay(
            recording, events=["IA64_TAGGED_INST_RETIRED_IBRP0_PMC8"], opc_match8=kind, levels="uk"
        )
        found[kind] = replayed.counts[0].value
    assert all(abs(found[kind] - wanted[kind]) <= max(0.15 * wanted[kind], 2) for kind in KINDS), (found, wanted)


@needs("real")
@pytest.mark.parametrize("times", [1, 2])
def test_interrupt_is_the_system_s_and_two_end_the_run(kernels: Path, tmp_path: Path, times: int) -> None:
    main, other = os.openpty()
    script = 'echo ready; while read line; do echo "<$line>"; done'
    command = ["--system", str(kernels / "vmlinux-plain"), "--initrd", initrd(tmp_path, script), "--exit-on", "<end>"]
    command += ["--session-timeout", "240"]  # it ends also if the test fails
    with subprocess.Popen(
        [sys.executable, "-m", "pfmon", *command, *COUNTED],
        stdin=other,
        stdout=other,
        stderr=subprocess.PIPE,
        preexec_fn=partial(own_terminal, other),
    ) as child:
        os.close(other)
        text = read_until(main, b"ready\r\n")
        os.write(main, b"some\n")
        text += read_until(main, b"<some>\r\n")
        for _ in range(times):
            os.write(main, b"\x03")
            time.sleep(0.2)  # two signals at once would be one
        if times == 1:
            text += read_until(main, b"^C")
            os.write(main, b"end\n")
        text += read_until(main, b"IA64_INST_RETIRED")
        said = child.communicate()[1]
    os.close(main)
    assert child.returncode == (0 if times == 1 else 130)
    assert (b"interrupted; the counts are those so far" in said) is (times == 2)


def own_terminal(descriptor: int) -> None:
    """Make a terminal that of the process."""
    os.setsid()
    fcntl.ioctl(descriptor, termios.TIOCSCTTY, 0)


def read_until(descriptor: int, text: bytes) -> bytes:
    """What comes from a terminal, up to a text."""
    found = b""
    while text not in found:
        found += os.read(descriptor, 1 << 16)
    return found
