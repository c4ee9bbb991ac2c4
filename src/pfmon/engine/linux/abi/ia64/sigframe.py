"""The stack frame of a signal handler: struct sigframe with struct sigcontext (Linux for IA-64).

From the handler's stack pointer upwards: 16 bytes of scratch area, the handler's three arguments, the address
of its function descriptor, struct siginfo, struct sigcontext.
"""

from __future__ import annotations

from struct import Struct

from pfmon.engine.linux.abi.ia64.ia64_registers import Ia64Registers
from pfmon.engine.linux.abi.structures import SIGINFO_SIZE, U64
from pfmon.engine.linux.memory.user_memory import UserMemory

SCRATCH = 16
ARGUMENTS = Struct("<4Q")  # signal, address of siginfo, address of sigcontext, function descriptor
INFO_OFFSET = SCRATCH + ARGUMENTS.size
CONTEXT_OFFSET = INFO_OFFSET + SIGINFO_SIZE

FLAG_ONSTACK, FLAG_IN_SYSCALL, FLAG_HIGH_FP = 1, 2, 4

# Word numbers within struct sigcontext.
_NAMES = "flags nat stack_sp stack_flags stack_size ip cfm um rsc bsp rnat ccv unat fpsr pfs lc pr"
WORDS = {name: i for i, name in enumerate(_NAMES.split(" "))}
BR, GR = 17, 25
FR_OFFSET = 464  # 128 registers of 16 bytes, 16-byte aligned
RBS_BASE_OFFSET = FR_OFFSET + 128 * 16
LOADRS_OFFSET = RBS_BASE_OFFSET + 8
CSD_OFFSET = LOADRS_OFFSET + 8
SSD_OFFSET = CSD_OFFSET + 8
MASK_OFFSET = SSD_OFFSET + 8 + 12 * 8
CONTEXT_SIZE = MASK_OFFSET + 16  # padded to the alignment of the floating-point registers
FRAME_SIZE = CONTEXT_OFFSET + CONTEXT_SIZE

APPLICATION = ("rsc", "ccv", "unat", "fpsr", "pfs", "lc")
# Registers restored on return from a handler: the handler preserves the rest by the calling convention.
RESTORED_GR = (1, 2, 3, *range(8, 32))
RESTORED_BR = (0, 6, 7)
RESTORED_FR = (*range(6, 16), *range(32, 128))


def save(registers: Ia64Registers) -> bytearray:
    """The interrupted state as a struct sigcontext; the caller adds the register stack and the mask."""
    words = [0] * (FR_OFFSET // 8)
    words[WORDS["nat"]] = sum(1 << n for n in range(1, 32) if registers.nat(n))
    words[WORDS["ip"]] = registers.ip
    words[WORDS["cfm"]] = registers.cfm
    words[WORDS["um"]] = registers.um
    words[WORDS["pr"]] = registers.pr
    for name in APPLICATION:
        words[WORDS[name]] = registers.ar(name)
    words[BR : BR + 8] = [registers.br(n) for n in range(8)]
    words[GR + 1 : GR + 32] = [registers.gr(n) for n in range(1, 32)]
    context = bytearray(CONTEXT_SIZE)
    Struct(f"<{len(words)}Q").pack_into(context, 0, *words)
    for n in range(2, 128):
        context[FR_OFFSET + 16 * n : FR_OFFSET + 16 * n + 16] = registers.fr_spill(n)
    U64.pack_into(context, CSD_OFFSET, registers.ar("csd"))
    U64.pack_into(context, SSD_OFFSET, registers.ar("ssd"))
    return context


def put(context: bytearray, name: str, value: int) -> None:
    """Set a word of a struct sigcontext."""
    U64.pack_into(context, 8 * WORDS[name], value)


def get(context: bytes, name: str) -> int:
    """A word of a struct sigcontext."""
    return int(U64.unpack_from(context, 8 * WORDS[name])[0])


def restore(registers: Ia64Registers, context: bytes) -> None:
    """Restore the registers of a struct sigcontext, which the handler may have changed; not the register stack."""
    nat = get(context, "nat")
    for n in RESTORED_GR:
        registers.set_gr(n, U64.unpack_from(context, 8 * (GR + n))[0], bool(nat >> n & 1))
    for n in RESTORED_BR:
        registers.set_br(n, U64.unpack_from(context, 8 * (BR + n))[0])
    for n in RESTORED_FR:
        registers.set_fr_spill(n, context[FR_OFFSET + 16 * n : FR_OFFSET + 16 * n + 16])
    for name in APPLICATION:
        registers.set_ar(name, get(context, name))
    registers.set_ar("csd", U64.unpack_from(context, CSD_OFFSET)[0])
    registers.set_ar("ssd", U64.unpack_from(context, SSD_OFFSET)[0])
    registers.set_pr(get(context, "pr") | 1)
    registers.set_um(get(context, "um"))
    registers.set_ip(get(context, "ip"))


def write(user: UserMemory, pointer: int, arguments: tuple[int, int], info: bytes, context: bytes) -> None:
    """Write a frame; arguments are the signal's number and the address of the handler's descriptor."""
    number, handler = arguments
    head = ARGUMENTS.pack(number, pointer + INFO_OFFSET, pointer + CONTEXT_OFFSET, handler)
    user.write(pointer + SCRATCH, head + info.ljust(SIGINFO_SIZE, b"\0") + bytes(context))
