"""perfmonctl without a PMU behind it: structures and commands (Linux up to 5.9, perfmon.c)."""

import errno
import struct
from typing import Any

import perfmon_calls as calls
import pytest
from grids import each
from perfmon_calls import INST, NOPS, PID, Perfmon, counter, register
from stand_in_pmu import StandIn

from pfmon.engine.linux.abi.ia64.perfmon import perfmon_structures
from pfmon.engine.linux.abi.ia64.perfmon.kernel_registers import numbers, registers_of

# Sizes and offsets as GCC lays the kernel's header out.
SIZES = {
    "CONTEXT": 128, "BUFFER_ARGUMENT": 32, "REGISTER": 160, "DEBUG_REGISTER": 32, "LOAD": 32, "FEATURES": 40,
    "MESSAGE": 56, "BUFFER_HEADER": 128, "BUFFER_ENTRY": 40,
}  # fmt: skip


@each(("name", "size"), SIZES.items())
def test_structures_have_the_kernels_sizes(name: str, size: int) -> None:
    assert getattr(perfmon_structures, name).size == size


def test_register_arguments_have_their_fields_at_the_kernels_offsets() -> None:
    data = bytes(range(160))
    argument = perfmon_structures.RegisterArgument.unpack(data)
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
