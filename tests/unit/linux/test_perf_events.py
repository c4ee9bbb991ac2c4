"""perf_event_open without a PMU behind it: attributes, groups, times, rings, and how it fails (Linux 6.1)."""

import errno
import struct
from collections.abc import Iterator
from typing import Any

import perf_calls as calls
import pytest
from example_counts import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from perf_calls import EXCLUDE_KERNEL, PAGE, Perf, attribute, records
from perfmon_calls import PID, Perfmon
from stand_in_pmu import StandIn

from pfmon.engine.linux.perf.perf_attributes import LAYOUT
from pfmon.engine.linux.process import process_exit

IP, TID, TIME, READ, SAMPLE_ID, PERIOD, IDENTIFIER = 1, 2, 4, 16, 64, 256, 1 << 16
OFF = EXCLUDE_KERNEL | calls.DISABLED


@pytest.fixture
def perf(guest: Any, pmu: StandIn) -> Iterator[Perf]:
    guest.process.pmu = pmu
    yield Perf(guest)


def pass_time(guest: Any, nanoseconds: int) -> None:
    """That the process runs: perf's times are those."""
    guest.process.clock.account(nanoseconds)
    guest.process.used.before += nanoseconds


def test_the_attribute_is_that_of_linux_6_1() -> None:
    assert LAYOUT.size == 128


def test_an_event_counts_while_it_is_enabled(perf: Perf, guest: Any, pmu: StandIn) -> None:
    fd = perf.open(flags=OFF, read_format=calls.ENABLED | calls.RUNNING | calls.ID)
    assert fd == 3 and pmu.steered == (False, None)
    pass_time(guest, 1000)
    assert perf.words(fd) == (0, 0, 0, 1)
    assert perf.ioctl(fd, calls.ENABLE) == 0
    assert pmu.registers["pmc4"] == 0x08 << 8 | 8 | 1 << 5 and pmu.steered == (True, None) and not pmu.frozen
    assert not guest.registers.secure  # mov =pmd reads it
    pmu.count(4, 500)
    pass_time(guest, 70)
    assert perf.words(fd) == (500, 70, 70, 1)
    assert perf.ioctl(fd, calls.DISABLE) == 0
    assert pmu.steered == (False, None) and pmu.frozen and guest.registers.secure
    pass_time(guest, 70)
    assert perf.words(fd) == (500, 70, 70, 1)
    assert perf.ioctl(fd, calls.RESET) == 0
    assert perf.words(fd) == (0, 70, 70, 1)  # the times stay
    assert guest.call("close", fd) == 0


def test_events_of_a_group_are_read_and_switched_together(perf: Perf, guest: Any, pmu: StandIn) -> None:
    everything = calls.GROUP | calls.ENABLED | calls.RUNNING | calls.ID | calls.LOST
    leader = perf.open(flags=OFF, read_format=everything)
    member = perf.open(config=calls.CYCLES, group=leader, read_format=everything)
    third = perf.open(kind=calls.RAW, config=0x50, group=leader, read_format=everything)
    assert perf.ioctl(leader, calls.ENABLE) == 0
    for pmd, times in ((4, 10), (5, 20), (6, 30)):
        pmu.count(pmd, times)
    pass_time(guest, 9)
    wanted = (3, 9, 9, 10, 1, 0, 20, 2, 0, 30, 3, 0)
    assert perf.words(leader) == perf.words(member) == perf.words(third) == wanted
    assert perf.ioctl(leader, calls.RESET, 1) == 0
    assert perf.words(leader)[3::3] == (0, 0, 0)
    assert perf.ioctl(member, calls.DISABLE, 1) == 0
    pmu.count(4, 10)
    assert perf.words(leader)[3::3] == (0, 0, 0)
    assert perf.ioctl(leader, calls.ENABLE, 1) == 0
    assert guest.call("close", leader) == 0
    pmu.registers["pmd5"] = 7  # the members count on, each by itself
    assert perf.words(third)[0] == 1


def test_prctl_switches_all_events_of_the_task(perf: Perf, guest: Any, pmu: StandIn) -> None:
    assert guest.call("prctl", 31) == 0
    fds = [perf.open(), perf.open(config=calls.CYCLES)]
    pmu.count(4, 3)
    pmu.count(5, 4)
    assert guest.call("prctl", 31) == 0 and pmu.steered == (False, None)
    assert [perf.words(fd) for fd in fds] == [(3,), (4,)]
    assert guest.call("prctl", 32) == 0 and pmu.steered == (True, None)
    pmu.count(4, 3)
    assert perf.words(fds[0]) == (6,)


def test_ids_are_given_once(perf: Perf, guest: Any) -> None:
    first = perf.open()
    assert perf.ioctl(first, calls.GET_ID, guest.scratch) == 0 and guest.words(1) == (1,)
    guest.call("close", first)
    second = perf.open()
    assert perf.ioctl(second, calls.GET_ID, guest.scratch) == 0 and guest.words(1) == (2,)


def test_events_that_count_the_same_share_a_counter(perf: Perf, pmu: StandIn) -> None:
    first, second = perf.open(), perf.open(kind=calls.RAW, config=0x08)
    pmu.count(4, 11)
    assert perf.words(first) == perf.words(second) == (11,)
    assert "pmc5" not in {name for name, value in pmu.registers.items() if name == "pmc5" and value & 0xF}


def test_groups_that_do_not_fit_take_turns(perf: Perf, guest: Any, pmu: StandIn) -> None:
    times = calls.ENABLED | calls.RUNNING
    events = [perf.open(kind=calls.RAW, config=0x10 + n, read_format=times) for n in range(5)]
    assert pmu.alarmed is not None
    now = guest.process.registers.retired
    guest.process.clock._retired = lambda: now
    for _ in range(10):
        for pmd in pmu.counters:
            pmu.count(pmd, 100)
        now += 1_000_000
        pass_time(guest, 1_000_000)
        guest.process.owners.rotate_if_due()
    read = [perf.words(fd) for fd in events]
    assert {enabled for _, enabled, _ in read} == {10_000_000}
    # Each of the five is left out of two of the ten ticks.
    assert [running for _, _, running in read] == [8_000_000] * 5
    assert [count for count, _, _ in read] == [800] * 5


def test_pinned_events_are_always_there_or_fail(perf: Perf, guest: Any) -> None:
    pinned = [perf.open(kind=calls.RAW, config=0x10 + n, flags=EXCLUDE_KERNEL | calls.PINNED) for n in range(5)]
    assert [len(perf.words(fd)) for fd in pinned] == [1, 1, 1, 1, 0]


def test_the_kernels_own_events(perf: Perf, guest: Any) -> None:
    clock, switches, dummy = (perf.open(kind=calls.SOFTWARE, config=config) for config in (1, 3, 9))
    pass_time(guest, 1234)
    assert [perf.words(fd) for fd in (clock, switches, dummy)] == [(1234,), (0,), (0,)]
    guest.process.pmu = None  # they need no PMU
    assert perf.open(kind=calls.SOFTWARE, config=0) > 0


def test_what_excludes_all_levels_counts_nothing(perf: Perf, pmu: StandIn) -> None:
    fd = perf.open(flags=EXCLUDE_KERNEL | calls.EXCLUDE_USER)
    pmu.count(4, 5)
    assert perf.words(fd) == (0,)


# --- samples


def test_samples_go_into_the_ring(perf: Perf, guest: Any, pmu: StandIn) -> None:
    fd = perf.open(period=100, sample=IDENTIFIER | IP | TID | TIME | SAMPLE_ID | PERIOD | READ)
    ring = perf.map(fd, 1)
    assert (ring, ring + 2 * PAGE, 3) in guest.memory.regions_map()
    assert pmu.watched == [4]
    pass_time(guest, 77)
    start = guest.process.clock.monotonic()
    pmu.count(4, 100, address=0x4002)
    pmu.count(4, 100, address=0x4011)
    both = PID | PID << 32
    assert records(guest.memory, ring) == [
        (9, 2, (1, 0x4002, both, start, 1, 100, 100)), (9, 2, (1, 0x4011, both, start, 1, 100, 200)),
    ]  # fmt: skip
    assert records(guest.memory, ring) == []
    version, _, _, index = struct.unpack("<4I", guest.memory.read(ring, 16))
    assert (version, index) == (0, 5)  # PMD4 can be read at user level
    first, size = struct.unpack("<2Q", guest.memory.read(ring + 1040, 16))
    assert (first, size) == (PAGE, PAGE)


def test_the_first_page_says_how_to_read_the_counter(perf: Perf, guest: Any, pmu: StandIn) -> None:
    fd = perf.open()
    page = perf.map(fd, 0, protection=1)
    pmu.count(4, 40)
    perf.ioctl(fd, calls.DISABLE)
    perf.ioctl(fd, calls.ENABLE)
    pmu.count(4, 5)
    index, offset = struct.unpack("<Iq", guest.memory.read(page + 12, 12))
    capabilities, width = struct.unpack("<QH", guest.memory.read(page + 40, 10))
    assert capabilities >> 2 & 1 and width == 47
    assert pmu.registers[f"pmd{index - 1}"] + offset == 45 == perf.words(fd)[0]


def test_a_full_ring_loses_and_says_how_many(perf: Perf, guest: Any, pmu: StandIn) -> None:
    fd = perf.open(period=10, sample=IP, read_format=calls.LOST)
    ring = perf.map(fd, 1)
    room = PAGE // 16
    for n in range(room + 3):
        pmu.count(4, 10, address=16 * n)
    assert perf.words(fd) == (10 * (room + 3), 3)
    assert [one.words[0] for one in records(guest.memory, ring)] == [16 * n for n in range(room)]
    pmu.count(4, 10, address=0x7770)
    assert records(guest.memory, ring) == [(2, 0, (1, 3)), (9, 2, (0x7770,))]


def test_records_wrap_around_the_ring(perf: Perf, guest: Any, pmu: StandIn) -> None:
    fd = perf.open(period=10, sample=IP | TID)  # 24 bytes, which do not divide the page
    ring = perf.map(fd, 1)
    for n in range(2000):
        pmu.count(4, 10, address=16 * n)
        if n % 500 == 499:
            assert [one.words[0] for one in records(guest.memory, ring)] == [16 * m for m in range(n - 499, n + 1)]


def test_refresh_disables_after_so_many_overflows(perf: Perf, guest: Any, pmu: StandIn) -> None:
    fd = perf.open(period=10, flags=OFF)
    guest.call("fcntl", fd, 8, PID)
    guest.call("fcntl", fd, 10, 40)
    guest.call("fcntl", fd, 4, 0o20000)
    guest.process.signals.set_blocked((1 << 64) - 1)
    assert perf.ioctl(fd, calls.REFRESH, 2) == 0
    pmu.count(4, 10)
    pmu.count(4, 10)
    codes = [guest.process.signals.take().info[8:12] for _ in range(2)]
    assert codes == [struct.pack("<i", 1), struct.pack("<i", 6)]  # POLL_IN, POLL_HUP
    assert pmu.registers["pmc4"] & 0xF == 0
    assert perf.words(fd) == (20,)
    assert perf.ioctl(fd, calls.REFRESH, 1) == 0 and pmu.registers["pmc4"] & 0xF == 8
    assert perf.ioctl(perf.open(flags=OFF), calls.REFRESH, 1) == -errno.EINVAL


def test_poll_waits_for_as_many_samples_as_wake(perf: Perf, guest: Any, pmu: StandIn) -> None:
    fd = perf.open(period=10, sample=IP, wakeup=3)
    ring = perf.map(fd, 1)

    def ready() -> int:
        return guest.call("poll", guest.put(struct.pack("<ihh", fd, 1, 0)), 1, 0)

    for _ in range(2):
        pmu.count(4, 10)
    assert ready() == 0
    pmu.count(4, 10)
    assert ready() == 1
    assert len(records(guest.memory, ring)) == 3 and ready() == 0


def test_a_period_can_be_changed_and_a_frequency_finds_its_own(perf: Perf, guest: Any, pmu: StandIn) -> None:
    fd = perf.open(period=10, sample=PERIOD)
    ring = perf.map(fd, 1)
    assert perf.ioctl(fd, calls.PERIOD, guest.put(struct.pack("<Q", 25))) == 0
    pmu.count(4, 24)
    assert records(guest.memory, ring) == []
    pmu.count(4, 1)
    assert records(guest.memory, ring) == [(9, 2, (25,))]
    for wrong in (0, 1 << 63):
        assert perf.ioctl(fd, calls.PERIOD, guest.put(struct.pack("<Q", wrong))) == -errno.EINVAL
    often = perf.open(config=calls.CYCLES, period=1000, sample=PERIOD, flags=EXCLUDE_KERNEL | calls.FREQUENCY)
    other = perf.map(often, 8)
    for _ in range(200):  # an event each nanosecond: a sample is wanted every million
        left = (1 << 47) - pmu.registers["pmd5"]
        pass_time(guest, left)
        pmu.count(5, left)
    periods = [one.words[0] for one in records(guest.memory, other)]
    assert periods[0] == 1 and 900_000 < periods[-1] < 1_100_000


def test_records_go_to_the_output_that_is_set(perf: Perf, guest: Any, pmu: StandIn) -> None:
    first = perf.open(period=10, sample=IDENTIFIER)
    ring = perf.map(first, 1)
    second = perf.open(config=calls.CYCLES, period=10, sample=IDENTIFIER)
    assert perf.ioctl(second, calls.SET_OUTPUT, first) == 0
    pmu.count(5, 10)
    pmu.count(4, 10)
    assert [one.words for one in records(guest.memory, ring)] == [(2,), (1,)]
    assert perf.ioctl(second, calls.SET_OUTPUT, -1) == 0
    pmu.count(5, 10)
    assert records(guest.memory, ring) == []
    assert perf.ioctl(first, calls.SET_OUTPUT, second) == -errno.EINVAL
    assert perf.ioctl(second, calls.SET_OUTPUT, second) == -errno.EINVAL
    assert perf.ioctl(second, calls.SET_OUTPUT, 0) == -errno.EBADF


# --- how it fails


@pytest.mark.parametrize(("given", "error"), [
    ({"data": attribute(size=48)}, errno.E2BIG), ({"data": attribute(size=16385)}, errno.E2BIG),
    ({"data": attribute(size=136)[:-1] + b"\1"}, errno.E2BIG),
    ({"data": attribute(size=112)[:110] + b"\1\0"}, errno.EINVAL),
    ({"how": 0x10}, errno.EINVAL), ({"how": 4}, errno.EINVAL), ({"group": 99}, errno.EBADF),
    ({"group": 0}, errno.EBADF), ({"task": -1}, errno.EINVAL), ({"task": -1, "processor": 0}, errno.EACCES),
    ({"task": 4242}, errno.ESRCH), ({"processor": 1}, errno.EINVAL), ({"processor": -2}, errno.EINVAL),
    ({"data": attribute(flags=0)}, errno.EACCES),
    ({"data": attribute(flags=EXCLUDE_KERNEL | 1 << 40)}, errno.EINVAL),
    ({"data": attribute(read_format=32)}, errno.EINVAL), ({"data": attribute(sample=1 << 25)}, errno.EINVAL),
    ({"data": attribute(period=1 << 63)}, errno.EINVAL),
    ({"data": attribute(period=100_001, flags=EXCLUDE_KERNEL | calls.FREQUENCY)}, errno.EINVAL),
    ({"data": attribute(config=10)}, errno.EINVAL), ({"data": attribute(kind=calls.CACHE, config=7)}, errno.EINVAL),
    ({"data": attribute(kind=calls.CACHE, config=0x30000)}, errno.EINVAL),
    ({"data": attribute(kind=calls.TRACEPOINT)}, errno.ENOENT), ({"data": attribute(kind=77)}, errno.ENOENT),
    ({"data": attribute(kind=calls.SOFTWARE, config=2)}, errno.ENOENT),
    ({"data": attribute(kind=calls.SOFTWARE, config=0, period=9)}, errno.EOPNOTSUPP),
    ({"data": attribute(kind=calls.RAW, config=1 << 20)}, errno.EINVAL),
    ({"data": attribute(sample=1 << 11)}, errno.EOPNOTSUPP),
    ({"data": attribute(sample=READ, flags=EXCLUDE_KERNEL | calls.INHERIT)}, errno.EINVAL),
])  # fmt: skip
def test_events_that_there_cannot_be(perf: Perf, given: dict[str, Any], error: int) -> None:
    assert perf.open(**given) == -error


def test_sizes_that_are_not_known_are_answered_with_the_one_that_is(perf: Perf, guest: Any) -> None:
    assert perf.open(attribute(size=136)[:-1] + b"\1") == -errno.E2BIG
    assert struct.unpack("<I", guest.get(4, 4)) == (128,)
    assert perf.open(attribute(size=136)) > 0 and perf.open(attribute(size=64)) > 0
    assert perf.open(attribute(size=64).replace(struct.pack("<I", 64), bytes(4), 1)) > 0  # 0: the first version


def test_what_cannot_be_counted_is_not_there_and_said(perf: Perf, guest: Any) -> None:
    assert perf.open(config=5) == -errno.ENOENT
    assert guest.said == ["perf_event_open: this event is not modelled; it returns ENOENT"]


def test_groups_that_never_fit_are_refused(perf: Perf) -> None:
    leader = perf.open(kind=calls.RAW, config=1)
    for code in (2, 3, 4):
        assert perf.open(kind=calls.RAW, config=code, group=leader) > 0
    assert perf.open(kind=calls.RAW, config=5, group=leader) == -errno.EINVAL
    member = leader + 1
    assert perf.open(kind=calls.RAW, config=1, group=member) == -errno.EINVAL


def test_members_are_not_pinned(perf: Perf) -> None:
    leader = perf.open()
    assert perf.open(attribute(flags=EXCLUDE_KERNEL | calls.PINNED), group=leader) == -errno.EINVAL


def test_perf_and_perfmon_do_not_have_the_pmu_together(perf: Perf, guest: Any) -> None:
    perfmon = Perfmon(guest)
    fd = perf.open()
    context = perfmon.create()
    assert perfmon.load(context) == -errno.EBUSY
    assert guest.call("close", fd) == 0 and perfmon.load(context) == 0
    assert perf.open() == -errno.EBUSY
    assert perf.open(kind=calls.SOFTWARE, config=1) > 0
    assert guest.call("close", context) == 0 and perf.open() > 0


def test_pfmon_has_the_pmu_unless_it_gives_it_away(guest: Any) -> None:
    assert Perf(guest).open() == -errno.EBUSY
    assert len(guest.said) == 1 and guest.said[0].startswith("perf_event_open: pfmon has the PMU")


def test_reads_and_mappings_that_do_not_fit(perf: Perf, guest: Any) -> None:
    fd = perf.open(read_format=calls.ENABLED)
    assert guest.call("read", fd, guest.scratch, 15) == -errno.ENOSPC
    assert guest.call("write", fd, guest.scratch, 8) == -errno.EINVAL
    assert perf.ioctl(fd, 0x24FF) == -errno.ENOTTY
    assert perf.map(fd, 3) == -errno.EINVAL
    assert guest.call("mmap", 0, PAGE, 3, 2, fd, 0) == -errno.EINVAL  # private
    assert guest.call("mmap", 0, PAGE, 3, 1, fd, PAGE) == -errno.EINVAL
    assert perf.map(fd, 2) > 0 and perf.map(fd, 4) == -errno.EINVAL
    for request in (calls.GET_ID, calls.PERIOD):
        assert perf.ioctl(perf.open(period=9), request, 8) == -errno.EFAULT


def test_a_ring_that_was_unmapped_is_written_no_more(perf: Perf, guest: Any, pmu: StandIn) -> None:
    fd = perf.open(period=10, sample=IP)
    ring = perf.map(fd, 1)
    assert guest.call("munmap", ring, 2 * PAGE) == 0
    pmu.count(4, 10)
    assert perf.words(fd) == (10,)


def test_programs_see_what_unprivileged_users_may(guest: Any) -> None:
    fd = guest.open("/proc/sys/kernel/perf_event_paranoid")
    assert guest.call("read", fd, guest.scratch, 16) == 2 and guest.get(2) == b"2\n"


words = st.one_of(
    st.integers(0, 20), st.sampled_from([(1 << 64) - 1, 1 << 63, 0x2000000100000000]), st.integers(0, 1 << 64)
)


@pytest.mark.slow
@examples(150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.binary(min_size=64, max_size=140), st.integers(0, 4), st.lists(words, min_size=4, max_size=4))
    ),
    st.lists(
        st.tuples(st.integers(3, 8), st.sampled_from([*range(0x2400, 0x240C), calls.PERIOD, calls.GET_ID]), words)
    ),
)
def test_wild_arguments_never_raise(
    new_guest: Any, opened: list[tuple[bytes, int, list[int]]], asked: list[tuple[int, int, int]]
) -> None:
    guest, pmu = new_guest(), StandIn()
    guest.process.pmu = pmu
    perf = Perf(guest)
    try:
        assert perf.open(period=10, sample=IP) == 3 and perf.map(3, 1) > 0
        for data, kind, (task, processor, group, flags) in opened:
            wild = struct.pack("<II", kind, len(data)) + data[8:]
            tame = attribute(kind, data[8], period=data[9], sample=data[10], read_format=data[11] & 31)
            if data[0] & 1:
                value = guest.call("perf_event_open", guest.put(tame), 0, -1, -1, 0)
            else:
                value = guest.call("perf_event_open", guest.put(wild), task, processor, group, flags)
            assert -134 < value < 1024
        for fd, request, argument in asked:
            assert -134 < guest.call("ioctl", fd, request, argument) < 1 << 63
            for pmd in pmu.watched:
                pmu.count(pmd, 1)
            assert -134 < guest.call("read", fd, guest.scratch, 512) <= 512
    finally:
        process_exit.close(guest.process)
