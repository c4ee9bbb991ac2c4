"""The x86_64 engine counts the same on hosts with other processors, which qemu-system-x86_64 plays."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import played_hosts
import pytest
from host_programs import may_install, needs
from played_hosts import Kernel, Ran
from qemu_guests import EXAMPLES
from x86_64_host import MARKS, compiled

PYTHON = "/usr/bin/python3"
NOT_MAPPED = 1
"""SEGV_MAPERR (sigaction(2))."""
pytestmark = [
    *MARKS,
    pytest.mark.exhaustive,
    needs("qemu-system-x86_64"),
    pytest.mark.skipif(not Path(PYTHON).exists(), reason=f"there is no {PYTHON}"),
]

V3, NEHALEM, CONROE = "x86-64-v3", "Nehalem", "Conroe"
HOSTS = {
    **dict.fromkeys(("max", "max,-fsgsbase", "Haswell-noTSX", "EPYC"), V3),
    **dict.fromkeys(("max,-avx2", "Nehalem"), NEHALEM),
    "Conroe": CONROE,
}
"""Hosts' processors (-cpu of qemu), and the best of the engine's processors that they have. Nehalem and Conroe have no
xsave."""
OWN_PROCESSORS = {"Haswell-noTSX": "--set=qemu.cpu=x86-64-v3", "Nehalem": "--machine=nehalem"}
"""Hosts whose vector state is that of a processor of the engine, and the option for it."""

PROGRAMS = {
    "queens": [str(EXAMPLES / "x86_64" / "queens"), "6"],
    "hashmap": [str(EXAMPLES / "x86_64" / "hashmap"), "1000"],
    "python": [PYTHON, "-S", "-c", "print(sum(hash(str(n)) % 7 for n in range(200)))"],
}
INSTRUCTIONS = "-eINSTRUCTIONS_RETIRED"
MASKED = [INSTRUCTIONS, "--mask-cpuid"]
CYCLES = ["-eINSTRUCTIONS_RETIRED,UNHALTED_CORE_CYCLES", "--machine=nehalem"]


class Counted(NamedTuple):
    """What a run has printed and counted."""

    output: str
    events: dict[str, int]
    processor: str


def commands_with(*choices: Sequence[str]) -> list[list[str]]:
    """Each program with each choice of options."""
    pfmon = [sys.executable, "-m", "pfmon", "--json"]
    return [[*pfmon, *options, *program] for options in choices for program in PROGRAMS.values()]


def counted(done: Ran) -> Counted:
    """A run of pfmon that ends with 0."""
    assert done.status == 0, done
    *output, line = done.out.splitlines()
    result = json.loads(line)
    return Counted("\n".join(output), {one["name"]: one["count"] for one in result["events"]}, result["engine"]["cpu"])


def in_groups(runs: Sequence[Ran]) -> list[list[Ran]]:
    """The runs of each choice of options."""
    return [list(runs[at : at + len(PROGRAMS)]) for at in range(0, len(runs), len(PROGRAMS))]


def is_refusal(done: Ran, feature: str) -> bool:
    """Whether pfmon has refused since the host lacks this feature."""
    return done.status == 2 and f"lacks {feature}" in done.err and not done.out


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    """A kernel for the hosts: one of this host's, or a downloaded one."""
    found = played_hosts.kernel_in(Path("/"))
    if found is None and may_install():
        found = played_hosts.download_kernel(tmp_path_factory.mktemp("kernel"))
    if found is None:
        pytest.skip(f"no kernel with 9p is here (package {played_hosts.KERNEL_PACKAGE})")
    return found


class Here(NamedTuple):
    """The counts of this host: of each processor, and those of the machine nehalem."""

    instructions: dict[str, list[Counted]]
    cycles: list[Counted]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Here:
    """What is expected everywhere."""
    processors = [[INSTRUCTIONS, f"--set=qemu.cpu={cpu}"] for cpu in (V3, NEHALEM, CONROE)]
    runs = played_hosts.run_here(commands_with(*processors, CYCLES), tmp_path_factory.mktemp("here"))
    v3, nehalem, conroe, cycles = ([counted(one) for one in group] for group in in_groups(runs))
    return Here({V3: v3, NEHALEM: nehalem, CONROE: conroe}, cycles)


@pytest.mark.parametrize("cpu", HOSTS)
def test_counts_are_those_of_this_host(cpu: str, kernel: Kernel, here: Here, tmp_path: Path) -> None:
    """Or a refusal, where the host lacks features of the processor that the program is to see."""
    best = HOSTS[cpu]
    runs = played_hosts.play(cpu, commands_with([INSTRUCTIONS], MASKED, CYCLES), kernel, tmp_path)
    plain, masked, cycles = in_groups(runs)
    assert [counted(one) for one in masked] == here.instructions[best]
    if best == V3:
        assert [counted(one) for one in plain] == here.instructions[V3]
    else:
        assert all(is_refusal(one, "avx2") for one in plain)
    if best == CONROE:
        assert all(is_refusal(one, "sse4_2") for one in cycles)
    else:
        assert [counted(one) for one in cycles] == here.cycles


@pytest.mark.parametrize("cpu", OWN_PROCESSORS)
def test_frames_of_signals_are_those_of_the_processor(cpu: str, kernel: Kernel, tmp_path: Path) -> None:
    """The program prints natively what it prints under the engine, on its processor and on this host."""
    program = str(compiled(tmp_path, "frames"))
    engine = [sys.executable, "-m", "pfmon", "--engine=x86_64", INSTRUCTIONS, "--outfile=/dev/null"]
    commands = [[program], [*engine, OWN_PROCESSORS[cpu], program]]
    native, there = played_hosts.play(cpu, commands, kernel, tmp_path)
    (tmp_path / "here").mkdir()
    here = played_hosts.run_here(commands[1:], tmp_path / "here")[0]
    assert native.status == 0 and native.out.count("\n") == 3
    assert (there.status, there.out) == (here.status, here.out) == (0, native.out)


def test_protection_key_keeps_the_runtime_s_memory(kernel: Kernel, tmp_path: Path) -> None:
    """Where the host has keys, stores of the guest fault as if nothing were there; the counts are the same."""
    program = str(compiled(tmp_path, "kept_memory", "-static"))
    command = [sys.executable, "-m", "pfmon", "--engine=x86_64", INSTRUCTIONS, program]
    with_keys, queens = played_hosts.play("max", [command, commands_with([INSTRUCTIONS])[0]], kernel, tmp_path)
    *lines, count = with_keys.out.splitlines()
    assert with_keys.status == 0 and count.endswith("INSTRUCTIONS_RETIRED"), with_keys
    assert len(lines) == 9 and all(line.endswith(f"SIGSEGV {NOT_MAPPED}") for line in lines)
    (tmp_path / "here").mkdir()
    here = played_hosts.run_here([commands_with([INSTRUCTIONS])[0]], tmp_path / "here")[0]
    assert counted(queens) == counted(here)
