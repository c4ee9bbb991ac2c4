"""The state of a processor as words: it goes on elsewhere as if nothing had been, and words that no processor can have
are refused."""

import struct
from collections.abc import Callable, Sequence

import pytest
from ia64_assembly import CODE, assemble

from pfmon.engine.ia64._ia64 import BREAK, AddressSpace, SystemProcessor
from pfmon.stream._stream import Consumer

MEMORY = 4 << 20
STORE = 0x180000
ITM, ITV = 1, 72
FIB = [
    "alloc r8=ar.pfs,2,0,0",
    f"addl r9={STORE},r0",
    "mov.m ar.bspstore=r9",
    "adds r20=3,r0",
    "setf.sig f33=r20",
    "adds r32=17,r0",
    "br.call.sptk.few b0=fib",
    "getf.sig r21=f33",
    "break.m 0x80001",
    "fib:",
    "alloc r34=ar.pfs,8,7,0",
    "mov r33=b0",
    "cmp4.lt p6,p7=2,r32",
    "(p7) adds r8=1,r0",
    "(p7) br.cond.sptk.few end",
    "adds r39=-1,r32",
    "br.call.sptk.few b0=fib",
    "adds r35=0,r8",
    "adds r39=-2,r32",
    "br.call.sptk.few b0=fib",
    "add r8=r35,r8",
    "end:",
    "mov.i ar.pfs=r34",
    "mov b0=r33",
    "br.ret.sptk.few b0",
]
"""The seventeenth number of Fibonacci: calls to a depth at which registers are spilled."""
RESULT = 1597


def processor(memory: bytes = b"") -> SystemProcessor:
    space = AddressSpace(MEMORY)
    space.map(0, MEMORY, 7)
    space.write(0, memory)
    made = SystemProcessor(space)
    made.set_reserved_breaks([0x80001])
    return made


def begun() -> SystemProcessor:
    made = processor()
    made.memory.write(CODE, assemble(FIB))
    made.set_ip(CODE)
    return made


def run_to(one: SystemProcessor, count: int | None) -> None:
    one.stop_exactly_at(count)
    assert (one.run(Consumer()) == BREAK) is (count is None)


def state_without_time(one: SystemProcessor) -> tuple[bytes, ...]:
    return (one.saved_state(), one.memory.read(0, MEMORY))


@pytest.fixture(scope="module")
def at_the_end() -> tuple[int, tuple[bytes, ...]]:
    one = begun()
    run_to(one, None)
    assert one.gr(8) == RESULT and one.gr(21) == 3
    return one.retired, state_without_time(one)


@pytest.mark.parametrize("part", [0, 0.0005, 0.003, 0.1, 0.5, 0.77777, 0.9999])
def test_processor_goes_on_elsewhere_as_if_nothing_had_been(
    at_the_end: tuple[int, tuple[bytes, ...]], part: float
) -> None:
    length, wanted = at_the_end
    one = begun()
    run_to(one, int(part * length))
    other = processor(one.memory.read(0, MEMORY))
    other.restore_state(one.saved_state())
    run_to(other, None)
    assert state_without_time(other) == wanted
    assert one.retired + other.retired == length


def test_timer_comes_at_its_time_elsewhere() -> None:
    """What is left to a match of ITM is kept: its interrupt pends when as many instructions have retired."""
    one = begun()
    one.set_cr(ITV, 0xEF)
    one.set_cr(ITM, 1000)
    run_to(one, 300)
    other = processor(one.memory.read(0, MEMORY))
    other.restore_state(one.saved_state())
    assert other.next_timer == 700
    run_to(other, 699)
    assert not other.interrupt_pending
    run_to(other, 702)
    assert other.interrupt_pending


WORD = struct.Struct("<Q")
GR, NAT, SOF, SOL, SOR, RRB_GR, RRB_FR, RRB_PR = 0, 128, *range(130, 136)
BOF, STORED, CLEAN, INCOMPLETE, PENDING, PR = range(266, 272)
IP, EC, PFS, FPSR, RSC, RNAT, BSPSTORE, UM, LEVEL = 280, 282, 283, *range(288, 294)
FR, PSR, CR, RR, PKR, BANK_NATS, ENTRY = 310, 694, 695, 777, 785, 833, 834
ENTRY_WORDS = 13
NEXT = ENTRY + (64 + 128) * ENTRY_WORDS
IRR = NEXT + (64 + 128) * ENTRY_WORDS + 2
"""Places of words (saved_state.pyx)."""
BAD = [
    ("GR0", GR, 1),
    ("a NaT bit of GR0", NAT, 1),
    ("a frame that is too large", SOF, 97),
    ("beyond 32 bits", SOF, 1 << 32),
    ("more locals than registers", SOL, 96),
    ("more rotating registers than there are", SOR, 96),
    ("rotating registers that are no multiple of 8", SOR, 1),
    ("a rotation beyond them", RRB_GR, 1),
    ("a rotation of predicates", RRB_PR, 48),
    ("a rotation of floating-point registers", RRB_FR, 96),
    ("a far frame", BOF, 1 << 61),
    ("a far frame below", BOF, (1 << 64) - (1 << 61)),
    ("registers below all", CLEAN, (1 << 64) - 200),
    ("registers above the frame", STORED, 1),
    ("clean ones above dirty ones", CLEAN, 1),
    ("a frame that waits for nothing", PENDING, 1),
    ("no bit", INCOMPLETE, 2),
    ("p0 is false", PR, 0),
    ("a slot that is none", IP, 3),
    ("EC", EC, 64),
    ("PFS", PFS, 1 << 38),
    ("FPSR", FPSR, 1 << 63),
    ("RSC", RSC, 1 << 5),
    ("RNAT", RNAT, 1 << 63),
    ("BSPSTORE", BSPSTORE, 4),
    ("the user mask", UM, 1),
    ("the privilege level", LEVEL, 4),
    ("f0", FR, 1),
    ("f1", FR + 3, 1),
    ("an exponent of 18 bits", FR + 3 * 40 + 1, 1 << 17),
    ("a sign", FR + 3 * 40 + 2, 2),
    ("PSR", PSR, 1 << 0),
    ("PSR with a level", PSR, 1 << 32),
    ("a control register that is not there", CR + 3, 1),
    ("DCR", CR, 1 << 3),
    ("the size of a VHPT", CR + 8, 1 << 2),
    ("the size of a region's pages", RR + 2, 11 << 2),
    ("a region", RR + 7, 1 << 40),
    ("a key", PKR, 1 << 5),
    ("NaT bits of the other bank", BANK_NATS, 1 << 16),
    ("the entry that is next", NEXT, 128),
    ("a reserved vector", IRR, 1 << 1),
]


def words_with(changes: Sequence[tuple[int, int]]) -> bytes:
    found = bytearray(processor().saved_state())
    for place, value in changes:
        WORD.pack_into(found, place * WORD.size, value)
    return bytes(found)


@pytest.mark.parametrize(("place", "value"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_words_of_no_processor_are_refused(place: int, value: int) -> None:
    with pytest.raises(ValueError, match="no state of such a processor"):
        processor().restore_state(words_with([(place, value)]))


def entry(first: int = 0, size: int = 1 << 12, physical: int = 0, **other: int) -> Sequence[tuple[int, int]]:
    """Words of the first translation register for instructions, which is valid and present."""
    values = [first, first + size - 1, physical, other.get("rid", 0), other.get("key", 0), 1, 1, 1, 1, 0]
    values += [other.get("level", 0), other.get("attribute", 0), 0]
    return [(ENTRY + other.get("number", 0) * ENTRY_WORDS + place, value) for place, value in enumerate(values)]


def test_translation_that_can_be_is_taken() -> None:
    one = processor()
    one.restore_state(words_with(entry(1 << 16, 1 << 14, 1 << 20, rid=7, key=3)))
    assert one.translation_register(False, 0) == (0x100061, 14 << 2 | 3 << 8, 1 << 16, 14 << 2 | 7 << 8)


ENTRIES: list[tuple[str, Callable[[], Sequence[tuple[int, int]]]]] = [
    ("no size", lambda: entry(size=3 << 12)),
    ("no size of pages", lambda: entry(size=1 << 15)),
    ("at no multiple of it", lambda: entry(1 << 12, 1 << 14)),
    ("of a frame at no multiple of it", lambda: entry(0, 1 << 14, 1 << 12)),
    ("beyond the region", lambda: entry(1 << 61)),
    ("of a frame beyond the physical addresses", lambda: entry(physical=1 << 50)),
    ("of a level that is none", lambda: entry(level=4)),
    ("of an attribute that is none", lambda: entry(attribute=8)),
    ("of a region that is none", lambda: entry(rid=1 << 24)),
]


@pytest.mark.parametrize("words", [row[1] for row in ENTRIES], ids=[row[0] for row in ENTRIES])
def test_translation_that_cannot_be_is_refused(words: Callable[[], Sequence[tuple[int, int]]]) -> None:
    with pytest.raises(ValueError, match="no state"):
        processor().restore_state(words_with(words()))


def test_translations_have_room_in_the_processor() -> None:
    one = processor()
    one.set_geometry(registers=(8, 48), cache=(128, 128))
    with pytest.raises(ValueError, match="no state"):
        one.restore_state(words_with(entry(number=8)))


@pytest.mark.parametrize("change", [-8, -1, 8])
def test_words_of_another_length_are_refused(change: int) -> None:
    state = processor().saved_state()
    with pytest.raises(ValueError, match="no state"):
        processor().restore_state((state + bytes(8))[: len(state) + change])


def test_processor_that_has_executed_takes_no_state() -> None:
    one = begun()
    state = one.saved_state()
    run_to(one, 1)
    with pytest.raises(ValueError, match="no state"):
        one.restore_state(state)
