"""Selection of the processor: the PMU, and the machine (prebuilt or a TOML file, with figures changed)."""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.errors import PfmonError
from pfmon.library.options.matcher_options import TWO_THREADS
from pfmon.library.options.run_options import Options
from pfmon.library.resolving.run_parts import Processor
from pfmon.pmu import get
from pfmon.pmu.targets import DEFAULT_PMU
from pfmon.session.run.supported import PROCESSORS, check_fits
from pfmon.stream._stream import InstructionSet

ONLY_32_BITS = ("604e",)
"""Models of qemu's that run no 64-bit programs."""


def processor_of(options: Options, instruction_set: InstructionSet | None = None) -> Processor:
    """Return the processor that options select for a program. PfmonError: the program's processors lack the selected
    PMU. ``instruction_set``: None if unknown, or without a program; loading the program reports the error."""
    pmu = _pmu(options, instruction_set)
    ia32 = instruction_set == InstructionSet.I386 and get(pmu).architecture == "ia64"
    return Processor(pmu, options.machine, _machine_settings(options, instruction_set), ia32)


def _machine_settings(options: Options, instruction_set: InstructionSet | None) -> Sequence[str]:
    """Return the changes of the machine's figures: those of --set, and --cores for the threads of a program."""
    cores = options.cores_of_threads
    if cores > 1:
        cores_are_of_threads(cores, instruction_set)
    if cores == 1 or instruction_set is None:
        return options.machine_settings
    return [*options.machine_settings, f"machine.cores={cores}"]


def cores_are_of_threads(cores: int, instruction_set: InstructionSet | None) -> None:
    """The threads of x86-64 programs have cores of their own; on an Itanium's two cores there are two programs."""
    if instruction_set == InstructionSet.IA64:
        raise PfmonError(
            f'--cores={cores}: the second program is missing: give --beside "PROGRAM ARGUMENT..." too'
        ).about("--cores", "--beside")
    if instruction_set not in (None, InstructionSet.X86_64):
        raise PfmonError(f"--cores={cores}: threads run on cores of their own in x86-64 programs alone").about(
            "--cores"
        )


def _pmu(options: Options, instruction_set: InstructionSet | None) -> str:
    named = pmu_named(options)
    if instruction_set is None:
        return named or DEFAULT_PMU
    masks_sets = options.gives("insn_sets") or options.insn_set != "both"
    if masks_sets and instruction_set == InstructionSet.I386 and not options.pmu:
        return named or DEFAULT_PMU  # only Itaniums distinguish instruction sets, and an Itanium is the default
    pmu = named or PROCESSORS[instruction_set].pmu
    check_fits(get(pmu), instruction_set)
    return pmu


def pmu_named(options: Options) -> str:
    """Return the PMU that options name: --pmu, that of --machine, or that of a core on which two programs run; "" if
    the program decides. PfmonError: --pmu is another than the machine's."""
    machine = options.machine
    if not machine:
        return options.pmu or (TWO_THREADS[0] if options.two_programs else "")
    own = str(Processor("", machine, options.machine_settings).figures()["machine.pmu"])
    if options.pmu and _names(options.pmu) <= _names(own):
        return options.pmu  # the machine has it, too: the architecture's
    if options.pmu and options.pmu != own:
        raise PfmonError(f"--pmu={options.pmu}: {machine} has the PMU of {own}; leave --pmu out or give --pmu={own}")
    return own


def _names(pmu: str) -> set[str]:
    return {event.name for event in get(pmu).events}


def cpu_model(processor: Processor, instruction_set: InstructionSet | None) -> str:
    """The model of processor that qemu gives a program: the machine's; empty: qemu's default, for a program that the
    machine's processor does not run (a 64-bit one on the 604e), or for none of qemu's."""
    if instruction_set in (None, InstructionSet.IA64):
        return ""
    model = str(processor.figures().get("qemu.cpu", ""))
    is_64 = instruction_set in (InstructionSet.PPC64, InstructionSet.PPC64LE)
    return "" if is_64 and model in ONLY_32_BITS else model
