"""Selection of the machine (prebuilt or a TOML file, with figures changed) and its PMU."""

from __future__ import annotations

from pfmon.errors import PfmonError
from pfmon.library.options.run_options import Options
from pfmon.machine.config.machine_figures import MachineFigures
from pfmon.pmu import get
from pfmon.session.run.supported import PROCESSORS, check_fits
from pfmon.stream._stream import InstructionSet

ONLY_32_BITS = ("604e",)
"""Models of qemu's that run no 64-bit programs."""


def take_pmu_of_program(options: Options, instruction_set: InstructionSet | None) -> None:
    """Set the PMU to the default of the program's processors, unless --pmu or a machine selects it. PfmonError: these
    processors lack the selected one. ``instruction_set``: None if unknown; loading the program reports the error."""
    if instruction_set is None:
        return
    masks_sets = options.gives("insn_sets") or options.insn_set != "both"
    if masks_sets and instruction_set == InstructionSet.I386 and not options.pmu_given:
        return  # only Itaniums distinguish instruction sets, and an Itanium is the default
    if not (options.pmu_given or options.machine):
        options.pmu = PROCESSORS[instruction_set].pmu
    check_fits(get(options.pmu), instruction_set)


def take_pmu_of_machine(options: Options) -> None:
    """Set the PMU to the machine's. PfmonError: --pmu selects another."""
    if not options.machine:
        return
    own = str(machine_of(options)["machine.pmu"])
    if options.pmu_given and options.pmu != own:
        raise PfmonError(
            f"--pmu={options.pmu}: {options.machine} has the PMU of {own}; leave --pmu out or give --pmu={own}"
        )
    options.pmu = own


def machine_of(options: Options, ia32: bool = False) -> MachineFigures:
    """Return the figures of the selected machine; ``ia32``: an Itanium's, for IA-32 code. PfmonError: they are
    wrong."""
    from pfmon.machine.config.machine_config import load

    return load(options.machine or get(options.pmu).target.machine(ia32), options.machine_settings)


def cpu_model(options: Options, instruction_set: InstructionSet | None) -> str:
    """The model of processor that qemu gives a program: the machine's; empty: qemu's default, for a program that the
    machine's processor does not run (a 64-bit one on the 604e), or for none of qemu's."""
    if instruction_set in (None, InstructionSet.IA64):
        return ""
    ia32 = instruction_set == InstructionSet.I386 and get(options.pmu).architecture == "ia64"
    model = str(machine_of(options, ia32).get("qemu.cpu", ""))
    is_64 = instruction_set in (InstructionSet.PPC64, InstructionSet.PPC64LE)
    return "" if is_64 and model in ONLY_32_BITS else model
