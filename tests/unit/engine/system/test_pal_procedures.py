"""PAL's procedures: the layout of each result, written down from the manual (volume 2, 11.10.3), for Montecito's
figures."""

import pytest
from fake_processor import PROCESSOR

from pfmon.engine.ia64.system.firmware.pal_call import Pal, PalCall, PalResult
from pfmon.engine.ia64.system.firmware.pal_procedures import PROCEDURES, answer
from pfmon.engine.ia64.system.translation_sizes import SIZES
from pfmon.engine.system_settings import PmuDescription
from pfmon.machine.config.machine_config import load
from pfmon.pmu import get
from pfmon.session.run.system_description import described

ALL_ONES = (1 << 64) - 1
UNIMPLEMENTED, INVALID, FAILED, NO_INFORMATION, NO_SET = -1, -2, -3, -6, -8
CODE_BYTES = 96
MEMORY = 1 << 24


class Host:
    """Notes what PAL asks of it."""

    def __init__(self) -> None:
        self.done: list[object] = []
        self.translation: tuple[int, int, int, int] | None = None
        self.policy = 0

    def set_policy(self, policy: int) -> None:
        self.policy = policy

    def halt(self) -> None:
        self.done.append("halt")

    def shut_down(self) -> None:
        self.done.append("off")

    def flush_caches(self, kind: int, invalidates: bool) -> None:
        self.done.append((kind, invalidates))

    def copy_code(self, address: int) -> bool:
        self.done.append(address)
        return address + CODE_BYTES <= MEMORY

    def has_memory(self, address: int, length: int) -> bool:
        return address + length <= MEMORY

    def translation_register(self, is_data: bool, number: int) -> tuple[int, int, int, int] | None:
        self.done.append((is_data, number))
        return self.translation


@pytest.fixture
def host() -> Host:
    return Host()


@pytest.fixture
def pal(host: Host) -> Pal:
    return Pal(PROCESSOR, SIZES["montecito"], host, CODE_BYTES)


FIGURES = [
    ("CACHE_FLUSH", 1, (4, 3, 0), (0, 0, 0)),
    ("CACHE_SUMMARY", 4, (), (0, 3, 5)),
    # unified 0, write-through, 4 ways, lines of 64, stores undefined, loads 1 cycle, store hints 1001, load hints 1011
    ("CACHE_INFO L1D", 2, (0, 2), (0, 0x0B09_01FF_0606_0400, 16 << 10 | 12 << 40 | 49 << 48)),
    ("CACHE_INFO L1I", 2, (0, 1), (0, 0x0000_01FF_0606_0400, 16 << 10 | 12 << 40 | 49 << 48)),
    # write-back (1 in bits 2:1), 8 ways, lines of 128; 1 MB in 8 ways are 128 KB each: the tag begins at bit 17
    ("CACHE_INFO L2I", 2, (1, 1), (0, 0x0000_07FF_0707_0802, 1 << 20 | 17 << 40 | 49 << 48)),
    ("CACHE_INFO L2D", 2, (1, 2), (0, 0x0B09_05FF_0707_0802, 256 << 10 | 15 << 40 | 49 << 48)),
    ("CACHE_INFO L3", 2, (2, 2), (0, 0x0B09_0EFF_0707_0C03, 12 << 20 | 20 << 40 | 49 << 48)),
    ("CACHE_INIT", 3, (ALL_ONES, 3, 0), (0,)),
    ("CACHE_PROT_INFO", 38, (0, 1), (0, 0, 0, 0)),
    ("CACHE_SHARED_INFO", 43, (2, 2, 0), (0, 1, 0, 0)),
    ("PREFETCH_VISIBILITY", 41, (1,), (1,)),
    ("MEM_ATTRIB", 5, (), (0, 0b1111_0001)),
    ("PTCE_INFO", 6, (), (0, 0, 0x1_0000_0001, 0)),
    # one set of 32 ways
    ("VM_INFO first data", 7, (0, 2), (0, 1 | 32 << 8 | 32 << 16, 0x1_1555_7000)),
    ("VM_INFO last instructions", 7, (1, 1), (0, 1 | 128 << 8 | 128 << 16, 0x1_1555_7000)),
    # walker, 50 bits, keys of 24, 16 PKRs, hash 2, 32 DTRs and ITRs, 4 caches in 2 levels; bit 60, 24 region bits
    ("VM_SUMMARY", 8, (), (0, 0x0204_1F1F_020F_1865, 0x1183C)),
    ("VM_PAGE_SIZE", 34, (), (0, 0x1_1555_7000, 0x1_1555_7000)),
    ("BUS_GET_FEATURES", 9, (), (0, 0, 0, 0)),
    ("BUS_SET_FEATURES", 10, (ALL_ONES,), (0,)),
    ("DEBUG_INFO", 11, (), (0, 4, 4)),
    ("FIXED_ADDR", 12, (), (0, 0)),
    ("FREQ_BASE", 13, (), (0, 400_000_000)),
    ("FREQ_RATIOS", 14, (), (0, 0x4_0000_0001, 0x1_0000_0001, 0x4_0000_0001)),
    ("PROC_GET_FEATURES", 17, (0, 0), (0, 0x720_0000_0000, 0x720_0000_0000, 0)),
    ("PROC_GET_FEATURES of set 1", 17, (0, 1), (NO_SET,)),
    ("PROC_SET_FEATURES", 18, (ALL_ONES, 0), (0,)),
    ("PROC_SET_FEATURES of set 16", 18, (0, 16), (NO_SET,)),
    ("RSE_INFO", 19, (), (0, 96, 0)),
    ("VERSION", 20, (), (0, 0x0100_FF00_0100, 0x0100_FF00_0100)),
    ("REGISTER_INFO ARs", 39, (0,), (0, 0x0000_1111_7F2F_00FF, 0b111)),
    ("REGISTER_INFO ARs read", 39, (1,), (0, 0x0000_1111_7F2F_00FF, 0b111)),
    ("REGISTER_INFO CRs", 39, (2,), (0, 0x03FB_0107, 0x307FF)),
    ("REGISTER_INFO CRs read", 39, (3,), (0, 0x03FB_0107, 0x307FD)),
    ("LOGICAL_TO_PHYSICAL", 42, (ALL_ONES,), (0, 0x1_0001_0001, 0, 0)),
    ("GET_HW_POLICY", 48, (0,), (0, 0, 1, 0)),
    ("SET_HW_POLICY", 49, (3,), (0,)),
    ("MC_CLEAR_LOG", 21, (), (0, 0)),
    ("MC_DYNAMIC_STATE size", 24, (0, 0), (0, 0)),
    ("MC_DYNAMIC_STATE", 24, (1, 0x1000), (0, 0)),
    ("PLATFORM_ADDR of the interrupt block", 16, (0, 0xFEE0_0000), (0,)),
    ("PLATFORM_ADDR elsewhere", 16, (0, 0xFEC0_0000), (FAILED,)),
    ("PLATFORM_ADDR of the port space", 16, (1, 0xFFFF_FC00_0000), (0,)),
    ("MC_DRAIN", 22, (), (0,)),
    ("MC_ERROR_INFO", 25, (2, 0, 0), (NO_INFORMATION,)),
    ("MC_RESUME", 26, (0, 0, 0), (FAILED,)),
    ("MC_REGISTER_MEM", 27, (1 << 63 | 0x200,), (0, 4096)),
    ("COPY_INFO", 30, (0, 0, 0), (0, 96, 4096)),
]


@pytest.mark.parametrize(
    ("index", "arguments", "wanted"), [row[1:] for row in FIGURES], ids=[row[0] for row in FIGURES]
)
def test_result_has_the_manual_s_layout(
    pal: Pal, index: int, arguments: tuple[int, ...], wanted: tuple[int, ...]
) -> None:
    found = answer(pal, index, PalCall(*arguments))
    assert (found.status, *found.values) == wanted
    assert not found.buffer


@pytest.mark.parametrize("operation", range(4))
@pytest.mark.parametrize("kind", range(1, 5))
def test_flushes_reach_the_machine(pal: Pal, host: Host, kind: int, operation: int) -> None:
    assert answer(pal, 1, PalCall(kind, operation)).status == 0
    assert host.done == [(kind, bool(operation & 1))]


BAD = [
    ("CACHE_FLUSH of type 0", 1, (0,)),
    ("CACHE_FLUSH of type 5", 1, (5,)),
    ("CACHE_FLUSH with operation 4", 1, (1, 4)),
    ("MC_DYNAMIC_STATE of type 2", 24, (2, 0)),
    ("MC_DYNAMIC_STATE to an odd address", 24, (1, 0x1001)),
    ("PLATFORM_ADDR of type 2", 16, (2, 0)),
    ("PLATFORM_ADDR of half a block", 16, (0, 0xFEF0_0000)),
    ("CACHE_INFO of level 3", 2, (3, 2)),
    ("CACHE_INFO of type 0", 2, (0, 0)),
    ("CACHE_INFO of type 3", 2, (0, 3)),
    ("CACHE_INFO of instructions in a unified level", 2, (2, 1)),
    ("CACHE_INIT of level 3", 3, (3, 1)),
    ("CACHE_PROT_INFO of level 2^63", 38, (1 << 63, 2)),
    ("CACHE_SHARED_INFO of processor 1", 43, (0, 1, 1)),
    ("PREFETCH_VISIBILITY of type 2", 41, (2,)),
    ("CACHE_SUMMARY with an argument", 4, (0, 0, 1)),
    ("VM_INFO of level 2", 7, (2, 1)),
    ("VM_INFO of type 3", 7, (0, 3)),
    ("PERF_MON_INFO at an odd address", 15, (0x1001,)),
    ("REGISTER_INFO 4", 39, (4,)),
    ("LOGICAL_TO_PHYSICAL of processor 1", 42, (1,)),
    ("GET_HW_POLICY of processor 1", 48, (1,)),
    ("SET_HW_POLICY 4", 49, (4,)),
    ("BRAND_INFO 1", 274, (1, 0)),
    ("BRAND_INFO at an odd address", 274, (0, 4)),
    ("MC_EXPECTED 2", 23, (2,)),
    ("MC_ERROR_INFO 3", 25, (3,)),
    ("MC_REGISTER_MEM that is not aligned", 27, (0x100,)),
    ("MC_REGISTER_MEM beyond the memory", 27, (MEMORY - 0x200,)),
    ("MC_REGISTER_MEM at the last address", 27, (ALL_ONES & ~0x1FF,)),
    ("HALT of state 0", 28, (0,)),
    ("HALT of state 2", 28, (2,)),
    ("HALT with an access", 28, (1, 0x1000)),
    ("SHUTDOWN with an access", 40, (0x1000,)),
    ("HALT_INFO at an odd address", 257, (1,)),
    ("COPY_INFO 1", 30, (1,)),
    ("COPY_PAL that is not aligned", 256, (0x800, 96, 0)),
    ("COPY_PAL into too little", 256, (0x1000, 95, 0)),
    ("COPY_PAL with option 2", 256, (0x1000, 96, 2)),
    ("COPY_PAL beyond the memory", 256, (MEMORY, 96, 0)),
    ("VM_TR_READ of type 2", 261, (0, 2, 0x1000)),
    ("VM_TR_READ of DTR 32", 261, (32, 1, 0x1000)),
    ("VM_TR_READ of ITR 2^63", 261, (1 << 63, 0, 0x1000)),
    ("VM_TR_READ to an odd address", 261, (0, 0, 0x1004)),
]


@pytest.mark.parametrize(("index", "arguments"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_bad_arguments_are_invalid(pal: Pal, index: int, arguments: tuple[int, ...]) -> None:
    assert answer(pal, index, PalCall(*arguments)) == PalResult(INVALID)


@pytest.mark.parametrize("index", [0, 33, 50, 255, 258, 262, 1023, 1 << 63, ALL_ONES])
def test_other_procedures_are_unimplemented(pal: Pal, index: int) -> None:
    assert answer(pal, index, PalCall(1, 2, 3)) == PalResult(UNIMPLEMENTED)


@pytest.mark.parametrize("index", PROCEDURES)
def test_any_argument_gets_an_answer(pal: Pal, index: int) -> None:
    """Numbers of the guest's are hostile: each extreme one gets a status, and no exception."""
    extremes = (0, 1, 7, 8, 255, 1 << 32, 1 << 63, ALL_ONES)
    for first in extremes:
        for second in extremes:
            found = answer(pal, index, PalCall(first, second, ALL_ONES ^ first))
            assert -8 <= found.status <= 1
            assert len(found.values) <= 3
            assert all(0 <= value <= ALL_ONES for value in (*found.values, found.address))


def test_expected_machine_check_is_remembered(pal: Pal) -> None:
    seen = [answer(pal, 23, PalCall(value)).values for value in (1, 0, 0)]
    assert seen == [(0,), (1,), (0,)]


def test_policy_is_what_was_set(pal: Pal) -> None:
    answer(pal, 49, PalCall(2))
    assert answer(pal, 48, PalCall()).values == (2, 1, 0)


@pytest.mark.parametrize(
    ("threads", "cores", "number", "asked", "wanted"),
    [
        # thread in bits 15:0 and core in 47:32 behind the overview, then the address
        (2, 1, 0, ALL_ONES, (0x1_0002_0002, 0, 0)),
        (2, 1, 1, ALL_ONES, (0x1_0002_0002, 1, 1)),
        (2, 1, 1, 0, (0x1_0002_0002, 0, 0)),
        (1, 2, 1, ALL_ONES, (0x2_0001_0002, 1 << 32, 1)),
        (1, 1, 3, ALL_ONES, (3 << 48 | 0x1_0001_0001, 0, 3)),
        (2, 2, 7, ALL_ONES, (1 << 48 | 0x2_0002_0004, 1 | 1 << 32, 7)),
    ],
)
def test_logical_processors_are_threads_of_cores_of_packages(
    host: Host, threads: int, cores: int, number: int, asked: int, wanted: tuple[int, ...]
) -> None:
    pal = Pal(PROCESSOR._replace(threads=threads, cores=cores), SIZES["montecito"], host, CODE_BYTES, number)
    assert answer(pal, 42, PalCall(asked)).values == wanted
    assert answer(pal, 42, PalCall(threads * cores)).status == INVALID


def test_policy_is_of_both_threads_of_a_core(host: Host) -> None:
    pal = Pal(PROCESSOR._replace(threads=2), SIZES["montecito"], host, CODE_BYTES, 1)
    answer(pal, 49, PalCall(1))
    assert host.policy == 1
    assert answer(pal, 48, PalCall(0)).values == (1, 2, 0)
    assert answer(pal, 48, PalCall(1)).values == (1, 2, 1)


def test_processors_with_one_thread_have_no_policy(host: Host) -> None:
    pal = Pal(PROCESSOR._replace(shares_core=False), SIZES["itanium2"], host, CODE_BYTES)
    assert answer(pal, 48, PalCall()).status == answer(pal, 49, PalCall(1)).status == UNIMPLEMENTED


@pytest.mark.parametrize(("index", "arguments", "done"), [(28, (1,), "halt"), (29, (), "halt"), (40, (), "off")])
def test_halts_are_passed_on(pal: Pal, host: Host, index: int, arguments: tuple[int, ...], done: str) -> None:
    assert answer(pal, index, PalCall(*arguments)).status == 0
    assert host.done == [done]


def test_halt_info_has_eight_states(pal: Pal) -> None:
    """Bits 15:0 latency out, 31:16 in, 59:32 power, 60 implemented, 61 coherent."""
    found = answer(pal, 257, PalCall(0x1000))
    assert (found.status, found.address) == (0, 0x1000)
    words = [int.from_bytes(found.buffer[8 * state : 8 * state + 8], "little") for state in range(8)]
    assert words == [3 << 60, 3 << 60, 0, 0, 0, 0, 0, 0]


def test_code_is_copied_to_memory(pal: Pal, host: Host) -> None:
    assert answer(pal, 256, PalCall(1 << 63 | 0x4000, 96, 0)) == PalResult(0, (0,))
    assert host.done == [0x4000]


def test_code_is_not_copied_with_option_1(pal: Pal, host: Host) -> None:
    assert answer(pal, 256, PalCall(0x4000, 96, 1)) == PalResult(0, (0,))
    assert host.done == []


def test_translation_register_is_in_the_insertion_format(pal: Pal, host: Host) -> None:
    host.translation = (0x0010_0000_0000_0661, 24 << 2, 0xE000_0000_0100_0000, 0x738)
    found = answer(pal, 261, PalCall(5, 1, 0x2000))
    assert host.done == [(True, 5)]
    assert (found.status, found.values, found.address) == (0, (0b1111,), 0x2000)
    words = [int.from_bytes(found.buffer[at : at + 8], "little") for at in range(0, 32, 8)]
    assert words == [0x0010_0000_0000_0661, 24 << 2, 0xE000_0000_0100_0001, 0x738]


def test_invalid_translation_register_has_bit_0_clear(pal: Pal) -> None:
    assert answer(pal, 261, PalCall(31, 0, 0x2000)).buffer == bytes(32)


def test_brand_is_a_string_of_128_bytes(pal: Pal) -> None:
    found = answer(pal, 274, PalCall(0, 0x3000))
    assert found.buffer == b"A processor (1.6 GHz)" + bytes(128 - 21)
    assert (found.status, found.values, found.address) == (0, (21,), 0x3000)


@pytest.mark.parametrize(
    ("pmu", "pm_info", "masks"),
    [
        # retired 8, cycles 0x12, width, pairs; PMCs, PMDs, counters of cycles, of instructions
        ("itanium", 0x0812_2004, (0x3FFF, 0x3FFFF, 0xF0, 0x30)),
        ("itanium2", 0x0812_2F04, (0xFFFF, 0x3FFFF, 0xF0, 0xF0)),
        ("montecito", 0x0812_2F0C, (0x07FF_0000_FFFF, 0xFFFF_00DF_0000_FFF0, 0xFFF0, 0xFFF0)),
    ],
)
def test_monitors_are_those_of_the_model(host: Host, pmu: str, pm_info: int, masks: tuple[int, ...]) -> None:
    pal = Pal(described(load(pmu), get(pmu), True), SIZES[pmu], host, CODE_BYTES)
    found = answer(pal, 15, PalCall(0x1000))
    assert (found.status, found.values, found.address) == (0, (pm_info,), 0x1000)
    assert [int.from_bytes(found.buffer[at : at + 32], "little") for at in range(0, 128, 32)] == list(masks)


def test_without_a_pmu_there_are_no_monitors(pal: Pal) -> None:
    assert answer(pal, 15, PalCall(0x1000)) == PalResult(0, (0,), bytes(128), 0x1000)


def test_description_has_the_figures_of_the_machine() -> None:
    found = described(load("itanium"), get("itanium"), False)
    assert [(one.level, one.kind, one.size) for one in found.caches] == [
        (0, "instruction", 16 << 10),
        (0, "data", 16 << 10),
        (1, "unified", 96 << 10),
        (2, "unified", 4 << 20),
    ]
    assert [(one.level, one.kind, one.entries) for one in found.tlbs] == [
        (0, "instruction", 64),
        (0, "data", 32),
        (1, "data", 96),
    ]
    assert (found.frequency, found.bus_frequency, found.shares_core) == (800, 266, False)
    assert found.pmu == PmuDescription(0, bytes(128))
