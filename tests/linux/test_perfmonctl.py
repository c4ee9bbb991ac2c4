"""perfmonctl without a PMU behind it: structures, commands, and how they fail (Linux up to 5.9, perfmon.c)."""

import errno
import struct
from collections.abc import Iterator
from typing import Any

import perfmon_calls as calls
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from perfmon_calls import EINVAL_FLAG, PID, Perfmon, counter, debug_register, register
from stand_in_pmu import StandIn

from pfmon.engine.ia64.linux.perfmon import structures
from pfmon.engine.ia64.linux.perfmon.commands import COMMANDS
from pfmon.engine.ia64.linux.perfmon.registers import numbers, registers_of

# Sizes and offsets as GCC lays the kernel's header out.
SIZES = {
    "CONTEXT": 128, "BUFFER_ARGUMENT": 32, "REGISTER": 160, "DEBUG_REGISTER": 32, "LOAD": 32, "FEATURES": 40,
    "MESSAGE": 56, "BUFFER_HEADER": 128, "BUFFER_ENTRY": 40,
}  # fmt: skip
INST, NOPS = 0x808, 0x5008
"""PMC values of Itanium 2: IA64_INST_RETIRED, NOPS_RETIRED, at level 3."""


@pytest.fixture
def pmu() -> StandIn:
    return StandIn()


@pytest.fixture
def perfmon(guest: Any, pmu: StandIn) -> Iterator[Perfmon]:
    guest.process.pmu = pmu
    yield Perfmon(guest)


@pytest.fixture
def loaded(perfmon: Perfmon) -> int:
    """A context that counts in PMD4, with a notification."""
    fd = perfmon.create()
    assert perfmon.write_pmcs(fd, register(4, INST, flags=calls.NOTIFY)) == 0
    assert perfmon.write_pmds(fd, counter(4, 100)) == 0
    assert perfmon.load(fd) == 0
    return fd


@pytest.mark.parametrize(("name", "size"), SIZES.items())
def test_structures_have_the_kernels_sizes(name: str, size: int) -> None:
    assert getattr(structures, name).size == size


def test_register_arguments_have_their_fields_at_the_kernels_offsets() -> None:
    data = bytes(range(160))
    argument = structures.RegisterArgument.unpack(data)
    assert argument.pack() == data

    def at(offset: int) -> int:
        return int.from_bytes(data[offset : offset + 8], "little")

    assert argument.number == int.from_bytes(data[:4], "little") and argument.value == at(8)
    assert (argument.flags, argument.long_reset, argument.short_reset) == (at(16), at(24), at(32))
    assert argument.reset_pmds == (at(40), at(48), at(56), at(64))
    assert (argument.random_seed, argument.random_mask, argument.last_reset) == (at(72), at(80), at(88))
    assert argument.smpl_pmds == (at(96), at(104), at(112), at(120)) and argument.event_id == at(128)


@pytest.mark.parametrize(("pmu", "pmcs", "pmds", "counting"), [
    ("itanium", {*range(14)}, {*range(18)}, {4, 5, 6, 7}),
    ("itanium2", {*range(16)}, {*range(18)}, {4, 5, 6, 7}),
    ("montecito", {*range(16), *range(32, 43)}, {*range(4, 16), *range(32, 37), 38, 39, *range(48, 64)},
     {*range(4, 16)}),
])  # fmt: skip
def test_the_kernel_has_the_registers_of_each_processor(
    pmu: str, pmcs: set[int], pmds: set[int], counting: set[int]
) -> None:
    there = registers_of(pmu)
    assert set(there.pmcs) == pmcs and set(there.pmds) == pmds
    assert {n for n, one in there.pmds.items() if one.counts} == counting
    assert {n for n, one in there.pmcs.items() if one.counts} == counting
    for one in (*there.pmcs.values(), *there.pmds.values()):
        assert set(numbers(one.pmds)) <= pmds


def test_a_context_goes_through_its_life(perfmon: Perfmon, guest: Any, pmu: StandIn) -> None:
    fd = perfmon.create()
    assert fd == 3
    assert perfmon.write_pmcs(fd, register(4, INST)) == perfmon.write_pmds(fd, register(4, 7)) == 0
    assert guest.registers.secure and perfmon.load(fd) == 0 and not guest.registers.secure
    # PMC.oi, and PMC4.enable, are the kernel's to set.
    assert pmu.registers["pmc4"] == INST | 1 << 5 | 1 << 23 and pmu.registers["pmd4"] == 7
    assert pmu.steered == (True, False)
    assert perfmon.command(fd, calls.START) == 0 and guest.registers.um & 4
    pmu.registers["pmd4"] = 1 << 40
    assert perfmon.read(fd, 4) == [1 << 40]
    assert perfmon.command(fd, calls.STOP) == 0 and not guest.registers.um & 4
    assert perfmon.command(fd, calls.UNLOAD) == 0 and guest.registers.secure
    assert perfmon.read(fd, 4) == [1 << 40]
    assert pmu.frozen and pmu.steered == (False, None)
    assert guest.call("close", fd) == 0 and guest.call("close", fd) == -errno.EBADF


def test_counters_have_64_bits(perfmon: Perfmon, loaded: int, pmu: StandIn) -> None:
    low = (1 << 47) - 1
    for value in (0, 5, low, 1 << 47, (1 << 64) - 9, 0x123456789ABCDEF0):
        assert perfmon.write_pmds(loaded, register(4, value)) == 0
        assert pmu.registers["pmd4"] == value & low
        assert perfmon.read(loaded, 4) == [value]


def test_an_overflow_of_the_hardware_alone_carries_and_tells_nobody(
    perfmon: Perfmon, loaded: int, pmu: StandIn
) -> None:
    assert perfmon.write_pmds(loaded, register(4, (1 << 47) - 1)) == 0
    assert pmu.watched == []
    pmu.registers["pmd4"] = 3
    assert pmu.told
    pmu.told([4], 0x1000, 1)
    assert perfmon.read(loaded, 4) == [(1 << 47) + 3] and not pmu.frozen
    assert perfmon.command(loaded, calls.RESTART) == -errno.EBUSY


def test_an_overflow_with_notification_masks_until_the_restart(perfmon: Perfmon, loaded: int, pmu: StandIn) -> None:
    assert pmu.watched == [4] and pmu.told
    pmu.registers["pmd4"] = 2
    pmu.told([4], 0x1000, 1)
    assert pmu.frozen and pmu.watched == []
    assert perfmon.read(loaded, 4) == [2]
    assert perfmon.command(loaded, calls.START) == -errno.EINVAL
    assert perfmon.message(loaded) == (1, loaded, 1 << 4)
    assert perfmon.command(loaded, calls.RESTART) == 0
    assert not pmu.frozen and pmu.watched == [4]
    assert perfmon.read(loaded, 4) == [(1 << 64) - 100]


def test_a_restart_resets_what_was_not_written_meanwhile(perfmon: Perfmon, loaded: int, pmu: StandIn) -> None:
    assert pmu.told
    pmu.told([4], 0x1000, 1)
    assert perfmon.write_pmds(loaded, register(4, 77)) == 0
    assert perfmon.command(loaded, calls.RESTART) == 0 and perfmon.read(loaded, 4) == [77]


def test_an_overflow_resets_the_counters_that_were_named(perfmon: Perfmon, pmu: StandIn) -> None:
    fd = perfmon.create()
    assert perfmon.write_pmcs(fd, register(4, INST, reset=1 << 5), register(5, NOPS)) == 0
    assert perfmon.write_pmds(fd, counter(4, 100), register(5, 1, short=9, long=8)) == 0
    assert perfmon.load(fd) == 0 and pmu.told
    pmu.registers["pmd4"], pmu.registers["pmd5"] = 0, 55
    pmu.told([4], 0x1000, 1)
    assert perfmon.read(fd, 4, 5) == [(1 << 64) - 100, 9] and not pmu.frozen


def test_random_periods_are_longer_by_masked_bits_of_the_minimal_standard(perfmon: Perfmon, pmu: StandIn) -> None:
    fd = perfmon.create()
    assert perfmon.write_pmcs(fd, register(4, INST, flags=calls.RANDOM)) == 0
    assert perfmon.write_pmds(fd, counter(4, 1000, seed=5, mask=0xFF)) == 0
    assert perfmon.load(fd) == 0 and pmu.told
    seed = 5
    for _ in range(20):
        pmu.told([4], 0x1000, 1)
        assert perfmon.read(fd, 4) == [(1 << 64) - 1000 - (seed & 0xFF)]
        seed = seed * 16807 % ((1 << 31) - 1)
        pmu.registers["pmd4"] = 0


def test_a_context_of_the_processor_is_started_by_psr_pp(perfmon: Perfmon, guest: Any, pmu: StandIn) -> None:
    fd = perfmon.create(calls.SYSTEM_WIDE)
    assert perfmon.write_pmcs(fd, register(4, INST)) == -errno.EINVAL  # it wants privileged monitors
    assert perfmon.write_pmcs(fd, register(4, INST | 1 << 6)) == 0
    assert perfmon.load(fd) == 0 and pmu.steered == (False, None) and guest.registers.secure
    assert perfmon.command(fd, calls.START) == 0 and pmu.steered == (True, None) and not guest.registers.um & 4
    assert perfmon.command(fd, calls.STOP) == 0 and pmu.steered == (False, None)


def test_signals_go_to_the_owner_who_wants_them(perfmon: Perfmon, loaded: int, guest: Any, pmu: StandIn) -> None:
    assert pmu.told
    pmu.told([4], 0x1000, 1)
    assert guest.process.signals.pending == 0
    assert perfmon.command(loaded, calls.RESTART) == 0
    assert guest.call("fcntl", loaded, 8, PID) == 0 and guest.call("fcntl", loaded, 9) == PID
    flags = guest.call("fcntl", loaded, 3)
    assert guest.call("fcntl", loaded, 4, flags | 0o20000) == 0
    assert guest.call("fcntl", loaded, 3) == flags | 0o20000
    guest.process.signals.set_blocked((1 << 64) - 1)
    pmu.told([4], 0x1000, 1)
    assert guest.process.signals.pending == 1 << 28  # SIGIO
    assert guest.process.signals.take().info[8:12] == struct.pack("<i", 0x80)
    assert perfmon.command(loaded, calls.RESTART) == 0
    assert guest.call("fcntl", loaded, 10, 40) == 0 and guest.call("fcntl", loaded, 11) == 40
    pmu.told([4], 0x1000, 1)
    signal = guest.process.signals.take()
    # si_signo, si_code POLL_IN; si_band POLLIN | POLLRDNORM, si_fd.
    assert struct.unpack_from("<iiiiqi", signal.info) == (40, 0, 1, 0, 0x41, loaded)


def test_fcntl_refuses_other_owners_and_signals_that_there_are_not(loaded: int, guest: Any) -> None:
    assert guest.call("fcntl", loaded, 8, PID + 1) == -errno.ESRCH
    assert guest.call("fcntl", loaded, 10, 65) == -errno.EINVAL


def test_owners_can_be_said_in_a_structure(loaded: int, guest: Any) -> None:
    for kind, owner in ((1, PID), (2, PID)):
        assert guest.call("fcntl", loaded, 15, guest.put(struct.pack("<2i", kind, owner))) == 0
        assert guest.call("fcntl", loaded, 16, guest.put(bytes(8))) == 0
        assert struct.unpack("<2i", guest.get(8)) == (kind, owner)
    assert guest.call("fcntl", loaded, 15, guest.put(struct.pack("<2i", 3, PID))) == -errno.EINVAL
    assert guest.call("fcntl", loaded, 15, guest.put(struct.pack("<2i", 0, PID + 1))) == -errno.ESRCH


def test_tools_find_perfmon_where_the_kernel_shows_it(guest: Any) -> None:
    fd = guest.open("/proc/perfmon")
    text = guest.get(guest.call("read", fd, guest.scratch, 4096)).decode()
    assert "perfmon version           : 2.0\n" in text and "ovfl_mask                 : 0x7fffffffffff\n" in text


def test_messages_wait_to_be_read_up_to_31(perfmon: Perfmon, loaded: int, guest: Any, pmu: StandIn) -> None:
    guest.call("fcntl", loaded, 4, 0o4000)
    assert perfmon.message(loaded) == -errno.EAGAIN
    for _ in range(40):
        assert pmu.told
        pmu.told([4], 0x1000, 1)
        perfmon.command(loaded, calls.RESTART)
    pollfd = guest.put(struct.pack("<ihh", loaded, 1, 0))
    assert guest.call("poll", pollfd, 1, 0) == 1 and guest.get(8)[6] == 1
    assert [perfmon.message(loaded) for _ in range(31)] == [(1, loaded, 16)] * 31
    assert perfmon.message(loaded) == -errno.EAGAIN
    assert guest.call("poll", guest.put(struct.pack("<ihh", loaded, 1, 0)), 1, 0) == 0
    assert guest.call("read", loaded, guest.scratch, 55) == -errno.EINVAL
    assert guest.call("write", loaded, guest.scratch, 56) == -errno.EINVAL


def test_contexts_without_messages_send_none(perfmon: Perfmon, guest: Any, pmu: StandIn) -> None:
    fd = perfmon.create(calls.NO_MESSAGES)
    assert perfmon.write_pmcs(fd, register(4, INST, flags=calls.NOTIFY)) == 0
    assert perfmon.write_pmds(fd, counter(4, 10)) == perfmon.load(fd) == 0 and pmu.told
    pmu.told([4], 0x1000, 1)
    guest.call("fcntl", fd, 4, 0o4000)
    assert perfmon.message(fd) == -errno.EAGAIN and pmu.frozen


# --- the default sampling format


def entries(guest: Any, address: int) -> list[tuple[int, ...]]:
    """PMD, last reset value, ip, time and one value of each entry."""
    count, used = struct.unpack("<2Q", guest.memory.read(address, 16))
    data = guest.memory.read(address + 128, used - 128)
    assert len(data) == 48 * count
    return [struct.unpack_from("<i3xBQQQHHiQ", data, 48 * n) for n in range(count)]


def test_samples_go_into_a_buffer_that_the_program_may_only_read(perfmon: Perfmon, guest: Any, pmu: StandIn) -> None:
    fd = perfmon.create(size=872)
    buffer = perfmon.buffer()
    assert (buffer, buffer + 16384, 1) in guest.memory.regions_map()
    assert perfmon.write_pmcs(fd, register(4, INST, smpl=1 << 5), register(5, NOPS)) == 0
    assert perfmon.write_pmds(fd, counter(4, 100)) == perfmon.load(fd) == 0
    for n in range(7):
        pmu.registers["pmd4"], pmu.registers["pmd5"] = 0, 10 * n
        assert pmu.told
        if not pmu.frozen:
            pmu.told([4], 0x1000 + n, 100 * n)
    # An entry of 48 bytes has to find 552 left: 128 + 5 * 48 + 552 > 872 >= 128 + 4 * 48 + 552.
    wanted = [(PID, 4, (1 << 64) - 100, 0x1000 + n, 100 * n, 0, 0, PID, 10 * n) for n in range(5)]
    assert entries(guest, buffer) == wanted
    _, _, _, overflows, size, version = struct.unpack("<5QI", guest.memory.read(buffer, 44))
    assert (overflows, size, version) == (1, 872, 0x20000) and pmu.frozen
    assert perfmon.command(fd, calls.RESTART) == 0
    assert entries(guest, buffer) == [] and not pmu.frozen
    assert guest.call("close", fd) == 0
    assert not guest.memory.is_mapped(buffer, 16384)


def test_a_restart_at_any_time_empties_the_buffer(perfmon: Perfmon, guest: Any, pmu: StandIn) -> None:
    fd = perfmon.create(size=4096)
    buffer = perfmon.buffer()
    assert perfmon.write_pmcs(fd, register(4, INST, smpl=1 << 5), register(5, NOPS)) == 0
    assert perfmon.write_pmds(fd, counter(4, 100)) == perfmon.load(fd) == 0 and pmu.told
    pmu.told([4], 0x1000, 1)
    assert len(entries(guest, buffer)) == 1
    assert perfmon.command(fd, calls.RESTART) == 0 and entries(guest, buffer) == []


def test_a_buffer_that_the_program_unmapped_is_written_no_more(perfmon: Perfmon, guest: Any, pmu: StandIn) -> None:
    fd = perfmon.create(size=4096)
    buffer = perfmon.buffer()
    assert perfmon.write_pmcs(fd, register(4, INST)) == perfmon.load(fd) == 0 and pmu.told
    assert guest.call("munmap", buffer, 16384) == 0
    guest.memory.map(buffer, 16384, 3)
    pmu.told([4], 0x1000, 1)
    assert guest.memory.read(buffer, 256) == bytes(256) and guest.call("close", fd) == 0
    assert guest.memory.is_mapped(buffer, 16384)


# --- how commands fail


@pytest.mark.parametrize(("what", "count", "error"), [
    (0, 0, errno.EINVAL), (6, 1, errno.EINVAL), (9, 1, errno.EINVAL), (0x22, 1, errno.EINVAL), (-1, 1, errno.EINVAL),
    (calls.WRITE_PMCS, 0, errno.EINVAL), (calls.READ_PMDS, -1, errno.EINVAL), (calls.LOAD, 2, errno.EINVAL),
    (calls.CREATE, 0, errno.EINVAL), (calls.FEATURES, 2, errno.EINVAL), (calls.WRITE_PMDS, 26, errno.E2BIG),
    (calls.WRITE_IBRS, 129, errno.E2BIG),
])  # fmt: skip
def test_commands_that_there_are_not_and_wrong_counts(perfmon: Perfmon, what: int, count: int, error: int) -> None:
    assert perfmon.caller.call("perfmonctl", perfmon.create(), what, perfmon.caller.put(bytes(8192)), count) == -error


@pytest.mark.parametrize("what", sorted(COMMANDS))
def test_arguments_that_are_not_there_fault(perfmon: Perfmon, what: int) -> None:
    if COMMANDS[what].layout:
        assert perfmon.caller.call("perfmonctl", perfmon.create(), what, 8, 1) == -errno.EFAULT


@pytest.mark.parametrize("what", [what for what, command in sorted(COMMANDS.items()) if command.file])
def test_descriptors_of_nothing_and_of_other_files_are_bad(perfmon: Perfmon, guest: Any, what: int) -> None:
    other = guest.open("/dev/null")
    for fd in (99, other):
        items = [bytes(160)] if COMMANDS[what].layout else []
        assert perfmon.command(fd, what, items) == -errno.EBADF


def test_contexts_that_cannot_be(perfmon: Perfmon) -> None:
    assert perfmon.create(calls.SYSTEM_WIDE | calls.BLOCK) == -errno.EINVAL
    assert perfmon.create(size=4096, uuid=bytes(range(16))) == -errno.EINVAL
    assert perfmon.create(size=679) == -errno.EINVAL
    assert perfmon.create(size=(1 << 26) + 1) == -errno.ENOMEM  # RLIMIT_MEMLOCK
    assert perfmon.create(size=680) == 3


@pytest.mark.parametrize("item", [
    register(0, 1), register(3, 1), register(16, 1), register(64, 1), register(1 << 31, 1),
    register(4, INST | 1 << 6), register(11, 1 << 6), register(8, 1 << 3, flags=calls.NOTIFY),
    register(13, 1, flags=calls.RANDOM), register(4, INST, smpl=1 << 18), register(4, INST, reset=1 << 63),
])  # fmt: skip
def test_pmcs_that_must_not_be_written_so(perfmon: Perfmon, item: bytes) -> None:
    fd = perfmon.create()
    assert perfmon.write_pmcs(fd, register(5, NOPS), item) == -errno.EINVAL
    assert perfmon.flags(0) & 3 << 30 == 0 and perfmon.flags(1) & 3 << 30 == EINVAL_FLAG
    assert perfmon.command(fd, calls.READ_PMDS, [register(5)]) == 0  # what stood before it was written


def test_code_ranges_that_would_tag_inconsistently_are_refused(perfmon: Perfmon) -> None:
    fd = perfmon.create()
    # PMC14.ig_ibrp0 = 0 (bit 1) while PMC8.ig_ad = 0 and no PMC13.en_dbrp: perfmon_mckinley.h, check_case1.
    assert perfmon.write_pmcs(fd, register(8, 0), register(14, 0x2490)) == 0  # PMC13.en_dbrp0 is set at first
    assert perfmon.write_pmcs(fd, register(14, 0x2492), register(13, 0x18181818)) == 0
    assert perfmon.write_pmcs(fd, register(14, 0x2490)) == -errno.EINVAL
    assert perfmon.write_pmcs(fd, register(8, 1), register(14, 0x2490)) == 0
    assert perfmon.write_pmcs(fd, register(8, 0)) == -errno.EINVAL


def test_pmds_that_there_are_not_and_that_are_not_in_use(perfmon: Perfmon) -> None:
    fd = perfmon.create()
    assert perfmon.write_pmds(fd, register(18)) == -errno.EINVAL and perfmon.flags() & EINVAL_FLAG
    for number in (4, 18, 1 << 30):
        assert perfmon.command(fd, calls.READ_PMDS, [register(number)]) == -errno.EINVAL
    assert perfmon.write_pmcs(fd, register(4, INST, smpl=1 << 6, reset=1 << 7), register(11, 8)) == 0
    for number in (4, 6, 7, 2, 3, 17):
        assert perfmon.command(fd, calls.READ_PMDS, [register(number)]) == 0
    assert perfmon.command(fd, calls.READ_PMDS, [register(5)]) == -errno.EINVAL


def test_breakpoint_registers_are_ranges_and_never_breakpoints(perfmon: Perfmon, pmu: StandIn) -> None:
    fd = perfmon.create()
    all_ones = (1 << 64) - 1
    assert perfmon.command(fd, calls.WRITE_IBRS, [debug_register(n, all_ones) for n in (0, 1)]) == 0
    assert perfmon.command(fd, calls.WRITE_DBRS, [debug_register(n, all_ones) for n in (2, 3)]) == 0
    assert perfmon.load(fd) == 0
    assert pmu.registers["ibr0"] == all_ones and pmu.registers["ibr1"] == all_ones >> 1
    assert pmu.registers["dbr2"] == all_ones and pmu.registers["dbr3"] == all_ones >> 2
    assert perfmon.command(fd, calls.WRITE_DBRS, [debug_register(7, 4)]) == 0 and pmu.registers["dbr7"] == 4
    for what in (calls.WRITE_IBRS, calls.WRITE_DBRS):
        assert perfmon.command(fd, what, [debug_register(8, 1)]) == -errno.EINVAL


def test_loading_onto_what_cannot_be_monitored(perfmon: Perfmon, guest: Any) -> None:
    fd = perfmon.create()
    assert perfmon.load(fd, 1) == perfmon.load(fd, -5) == -errno.EPERM
    assert perfmon.load(fd, 4242) == -errno.ESRCH
    assert perfmon.load(perfmon.create(calls.BLOCK)) == -errno.EINVAL
    assert perfmon.load(fd) == 0 and perfmon.load(fd) == -errno.EBUSY
    second = perfmon.create()
    assert perfmon.load(second) == -errno.EBUSY
    assert perfmon.load(perfmon.create(calls.SYSTEM_WIDE)) == -errno.EBUSY
    assert guest.call("close", fd) == 0 and perfmon.load(second) == 0


def test_commands_in_states_that_they_are_not_for(perfmon: Perfmon) -> None:
    fd = perfmon.create()
    assert perfmon.command(fd, calls.START) == perfmon.command(fd, calls.STOP) == -errno.EINVAL
    assert perfmon.command(fd, calls.RESTART) == -errno.EBUSY
    assert perfmon.command(fd, calls.UNLOAD) == 0
    assert perfmon.load(fd) == 0
    assert perfmon.command(fd, calls.RESTART) == -errno.EBUSY


def test_features_and_reset_values(perfmon: Perfmon, guest: Any) -> None:
    assert perfmon.command(0, calls.FEATURES, [bytes(40)]) == 0 and guest.get(4) == struct.pack("<I", 0x20000)
    wanted = {0: 1, 4: 0x800000, 8: 0xFFFFFFFF3FFFFFFF, 14: 0x0DB60DB60DB60DB6, 15: 0xFFFFFFF0}
    assert perfmon.command(0, calls.RESET_VALUES, [register(n) for n in wanted]) == 0
    assert [perfmon.value(place) for place in range(len(wanted))] == list(wanted.values())
    assert perfmon.command(0, calls.RESET_VALUES, [register(16)]) == -errno.EINVAL
    assert perfmon.command(0, calls.DEBUG, [bytes(4)]) == 0


def test_what_cannot_be_counted_is_refused_and_said(perfmon: Perfmon, loaded: int, guest: Any, pmu: StandIn) -> None:
    pmu.refusal = "this event is not modelled"
    before = dict(pmu.registers)
    assert perfmon.write_pmcs(loaded, register(4, NOPS), register(5, NOPS)) == -errno.EINVAL
    assert pmu.registers == before
    assert guest.said == ["perfmonctl: this event is not modelled; it returns EINVAL"]
    assert perfmon.command(loaded, calls.UNLOAD) == 0
    assert perfmon.load(loaded) == -errno.EINVAL and guest.registers.secure
    pmu.refusal = ""
    assert perfmon.load(loaded) == 0


def test_pfmon_has_the_pmu_unless_it_gives_it_away(guest: Any) -> None:
    perfmon = Perfmon(guest)
    fd = perfmon.create()
    assert perfmon.write_pmcs(fd, register(4, INST)) == 0
    assert perfmon.load(fd) == -errno.EBUSY
    assert len(guest.said) == 1 and "--guest-pmu" in guest.said[0]
    assert guest.registers.secure


words = st.one_of(
    st.integers(0, 40),
    st.sampled_from([(1 << 64) - 1, 1 << 63, 1 << 31, 0x2000000100000000, 0x20000001000FFFF0, 1 << 61, INST, NOPS]),
    st.integers(0, (1 << 64) - 1),
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.sampled_from([*COMMANDS, 7, 99]),
            st.lists(words, max_size=45),
            st.one_of(st.just(None), words),
            st.integers(-1, 3),
        ),
        max_size=12,
    ),
    st.lists(st.integers(0, 7), max_size=3),
)
def test_wild_arguments_never_raise(
    new_guest: Any, made: list[tuple[int, list[int], int | None, int]], wrapped: list[int]
) -> None:
    guest, pmu = new_guest(), StandIn()
    guest.process.pmu = pmu
    perfmon = Perfmon(guest)
    try:
        first = perfmon.create(size=4096)
        assert perfmon.create() == first + 1
        for what, contents, address, count in made:
            place = guest.put(struct.pack(f"<{len(contents)}Q", *contents)) if address is None else address
            value = guest.call("perfmonctl", first + (what & 1), what, place, count)
            assert value == 0 or -134 < value < 0
            if pmu.told:
                pmu.told([pmd for pmd in wrapped if pmd >= 4], 0x1000, 1)
    finally:
        guest.process.close()
