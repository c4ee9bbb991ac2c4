"""The register stack around a signal handler, and the arithmetic of its backing store (SDM volume 1, 4.1 and volume 2,
chapter 6).

Registers are stored upwards, 8 bytes each; every 64th word (address bits 3-8 all ones) holds the NaT bits of
the 63 before it.
"""

from __future__ import annotations

from pfmon.engine.guest_memory import GuestMemoryFault
from pfmon.engine.linux.abi.ia64 import sigframe
from pfmon.engine.linux.abi.ia64.ia64_registers import Ia64Registers
from pfmon.engine.linux.abi.structures import U64
from pfmon.engine.linux.memory.user_memory import UserMemory

WORD = 8
GROUP = 64
COLLECTION = 63  # slot number of the NaT collection
MAX_STACKED = 1 << 11  # more than any processor's stacked registers
EAGER_RSE = 0xF


def slot(address: int) -> int:
    """Number of a word within its group of 64."""
    return address // WORD % GROUP


def skip(address: int, registers: int) -> int:
    """The address after storing ``registers`` registers from ``address`` on (before it, if negative)."""
    if registers >= 0:
        return address + WORD * (registers + (slot(address) + registers) // COLLECTION)
    before = slot(address) + registers
    return address + WORD * (registers + (before // COLLECTION if before < 0 else 0))


def count(low: int, high: int) -> int:
    """The number of registers in [low, high)."""
    words = (high - low) // WORD
    return words - (slot(low) + words) // GROUP


def check_room(registers: Ia64Registers, user: UserMemory, store: int) -> None:
    """GuestMemoryFault unless the dirty registers and the current frame fit into memory from store on."""
    dirty = count(registers.ar("bspstore"), registers.ar("bsp")) + (registers.cfm & 0x7F)
    user.check_writable(store, skip(store, dirty) + WORD - store)


def cover(registers: Ia64Registers, context: bytearray, new_base: int) -> None:
    """Flush the register stack: to its backing store, or to the alternate stack at new_base."""
    old_store, old_rnat = registers.ar("bspstore"), registers.ar("rnat")
    if new_base:
        registers.set_ar("bspstore", new_base)
    bsp = registers.cover_and_flush()
    assert bsp is not None
    registers.set_ar("rsc", EAGER_RSE)
    if new_base:
        dirty = count(new_base, bsp)
        sigframe.put(context, "bsp", skip(old_store, dirty))
        sigframe.put(context, "rnat", old_rnat)
        U64.pack_into(context, sigframe.RBS_BASE_OFFSET, new_base)
        U64.pack_into(context, sigframe.LOADRS_OFFSET, bsp - new_base << 16)
    else:
        sigframe.put(context, "bsp", bsp)
        sigframe.put(context, "rnat", registers.ar("rnat"))


def uncover(registers: Ia64Registers, user: UserMemory, context: bytes) -> None:
    """Restore the interrupted frame; copy registers from an alternate stack to their own backing store first."""
    bsp = sigframe.get(context, "bsp")
    (base,) = U64.unpack_from(context, sigframe.RBS_BASE_OFFSET)
    covered = registers.cover_and_flush()
    if covered is None:
        raise GuestMemoryFault(registers.ar("bspstore"))
    if base:
        (loadrs,) = U64.unpack_from(context, sigframe.LOADRS_OFFSET)
        end = base + (loadrs >> 16)
        _move_registers(registers, user, base, end, bsp, sigframe.get(context, "rnat"))
    elif covered != bsp:
        registers.set_ar("bspstore", bsp)
        registers.set_ar("rnat", sigframe.get(context, "rnat"))
    if not registers.restore_frame(bsp, sigframe.get(context, "cfm")):
        raise GuestMemoryFault(bsp)


def _move_registers(registers: Ia64Registers, user: UserMemory, base: int, end: int, bsp: int, rnat: int) -> None:
    """Copy registers and NaT bits in [base, end) so that they end at bsp; rnat has the NaT bits before them.

    The NaT bits of a last, unfinished group are in ar.rnat.
    """
    number = count(base, end)
    if number > MAX_STACKED:  # a damaged frame
        raise GuestMemoryFault(base)
    to = skip(bsp, -number)
    last = registers.ar("rnat")
    bits = rnat & (1 << slot(to)) - 1
    for i in range(number):
        source = skip(base, i)
        collection = source | COLLECTION * 8
        held = int(user.unpack(U64, collection)[0]) if collection < end else last
        nat = held >> slot(source) & 1
        target = skip(to, i)
        user.write(target, user.read(source, 8))
        bits |= nat << slot(target)
        if slot(target) == COLLECTION - 1:
            user.pack(U64, target + 8, bits)
            bits = 0
    registers.set_ar("bspstore", bsp)
    registers.set_ar("rnat", bits)
