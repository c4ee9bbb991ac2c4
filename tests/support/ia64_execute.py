"""Short pieces of code run by the whole engine: translation, predication, NaT bits, faults."""

from collections.abc import Collection, Iterable, Mapping

from pfmon.engine.ia64._ia64 import BREAK, FAULT, AddressSpace, Processor
from pfmon.isa.ia64.assemble import encode
from pfmon.stream._stream import Consumer

CODE = 0x2000000000010000
SIZE = 0x10000
READ, WRITE, EXECUTE = 1, 2, 4

NOPS = {"M": 1 << 27, "I": 1 << 27, "F": 1 << 27, "B": 2 << 37}
# Template with a slot for the unit, and that slot; its last stop is set.
TEMPLATES = {"M": (0x09, 0), "I": (0x01, 1), "F": (0x0D, 1), "B": (0x11, 2), "X": (0x05, 1)}
UNITS = {0x09: "MMI", 0x01: "MII", 0x0D: "MFI", 0x11: "MIB", 0x05: "MII"}

Slot = tuple[str, int, int]  # unit, encoding, L slot


def bundle(slot: Slot) -> bytes:
    """An instruction among nops, with a stop at the end."""
    unit, encoding, extension = slot
    template, place = TEMPLATES[unit]
    slots = [NOPS[name] for name in UNITS[template]]
    slots[place] = encoding
    if unit == "X":
        slots[1:] = [extension, encoding]
    return (template | slots[0] << 5 | slots[1] << 46 | slots[2] << 87).to_bytes(16, "little")


def execute(
    code: Iterable[Slot],
    *,
    gr: Mapping[int, int] | None = None,
    nat: Collection[int] = (),
    pr: int = 1,
    br: Mapping[int, int] | None = None,
    sof: int = 96,
    max_block: int = 96,
) -> tuple[bool, Processor]:
    """Run bundles with one instruction each and a break behind them. Whether they came to their end, and the
    processor then; if not, it stands at the fault."""
    memory = AddressSpace()
    memory.map(CODE, SIZE, READ | EXECUTE)
    text = b"".join(map(bundle, code)) + bundle(encode("break.i imm21", imm21=0x100000))
    memory.write_initial(CODE, text)
    processor = Processor(memory, max_block=max_block)
    processor.set_cfm(sof)
    processor.set_ip(CODE)
    processor.set_pr(pr)
    for number in {*(gr or {}), *nat}:
        processor.set_gr(number, (gr or {}).get(number, 0), number in nat)
    for number, value in (br or {}).items():
        processor.set_br(number, value)
    why = processor.run(Consumer())
    assert why in (BREAK, FAULT)
    return why == BREAK, processor
