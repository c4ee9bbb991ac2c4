"""How commands of perfmonctl fail (Linux up to 5.9, perfmon.c), and that wild ones do no harm."""

import errno
import struct
from typing import Any

import perfmon_calls as calls
import pytest
from example_counts import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from perfmon_calls import EINVAL_FLAG, INST, NOPS, Perfmon, debug_register, register
from stand_in_pmu import StandIn

from pfmon.engine.linux.abi.ia64.perfmon.perfmonctl import COMMANDS
from pfmon.engine.linux.process import process_exit


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


@pytest.mark.slow
@examples(200, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
        process_exit.close(guest.process)
