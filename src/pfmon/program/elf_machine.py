"""Names of ELF machines (System V ABI, e_machine) for messages."""

from __future__ import annotations

EM_386 = 3
EM_PPC = 20
EM_PPC64 = 21
EM_IA_64 = 50
EM_X86_64 = 62

MACHINES = {
    2: "a SPARC",
    EM_386: "an i386",
    4: "an m68k",
    8: "a MIPS",
    15: "a PA-RISC",
    EM_PPC: "a PowerPC",
    EM_PPC64: "a PowerPC64",
    22: "an S/390",
    40: "an ARM",
    42: "a SuperH",
    43: "a SPARC64",
    EM_IA_64: "an IA-64",
    EM_X86_64: "an x86-64",
    183: "an AArch64",
    243: "a RISC-V",
    258: "a LoongArch",
}


def machine_name(number: int) -> str:
    """Return the machine with its article, such as "an x86-64"."""
    return MACHINES.get(number, f"a machine-{number}")
