"""Event-triggered counting against the disclosure's own example, and the 604e's controls."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pfmon import pmu
from pfmon.errors import PfmonError
from pfmon.pmu.model.powerpc import SprFile
from pfmon.pmu.model.request import EventRequest

NEGATIVE = 1 << 31


def loaded(name: str, events: list[str], plm: str = "uk", **controls: int) -> SprFile:
    model = pmu.get(name)
    file = model.register_file()
    assert isinstance(file, SprFile)
    made = model.program(events, plm=plm, controls=controls)
    for register, value in made.writes.items():
        file.write(register, value)
    assert made.counters == tuple(range(1, len(events) + 1))
    return file


def step(file: SprFile, **happened: int) -> None:
    """One cycle: what happened is added to the counters that are enabled at its start."""
    enabled = {name: file.enabled(int(name[-1])) for name in happened}
    for name, number in happened.items():
        if enabled[name]:
            file.add(int(name[-1]), number)


def test_the_disclosures_example_measures_from_the_thousandth_instruction_to_the_next_miss() -> None:
    file = loaded(
        "ibm1994",
        ["INSTRUCTIONS_COMPLETED", "DCACHE_MISSES", "PROCESSOR_CYCLES"],
        enint=1,
        discount=1,
        pmc1intcontrol=0,
        pmc2intcontrol=1,
        pmc3intcontrol=1,
        pmc2countctl=2,
        pmc3countctl=1,
    )
    file.write("pmc1", NEGATIVE - 1000)
    file.write("pmc2", NEGATIVE - 1)
    file.write("pmc3", 0)
    misses = {100, 640, 1057}  # one instruction a cycle
    for cycle in range(1, 1200):
        step(file, pmc1=1, pmc2=int(cycle in misses), pmc3=1)
        if cycle == 1000:
            assert file.negative(1) and not file.signalled
    assert file.interrupt and file.negative(2)
    assert file.count(3) == 1057 - 1000
    assert file.count(1) == NEGATIVE - 1000 + 1057
    assert file.field("mmcr0", "enint") == 0


def test_trigger_of_the_604e_holds_all_counters_but_the_first() -> None:
    events = ["INSTRUCTIONS_COMPLETED", "DCACHE_MISSES", "PROCESSOR_CYCLES"]
    file = loaded("ppc604e", events, enint=1, pmctrigger=1)
    file.write("pmc1", NEGATIVE - 10)
    for _ in range(25):
        step(file, pmc1=1, pmc2=1, pmc3=1)
    assert (file.count(2), file.count(3)) == (15, 15)
    assert not file.interrupt


def test_interrupt_of_the_first_counter_releases_the_trigger() -> None:
    file = loaded("ppc604e", ["INSTRUCTIONS_COMPLETED", "DCACHE_MISSES"], enint=1, pmctrigger=1, intonbittrans=1)
    step(file, pmc1=1, pmc2=1)
    assert file.count(2) == 0
    file.time_base_rise()
    file.sample(0x1234, 0x5678)
    step(file, pmc1=1, pmc2=1)
    assert file.count(2) == 1 and file.interrupt
    assert (file.read("sia"), file.read("sda")) == (0x1234, 0x5678)


@pytest.mark.slow
@given(st.booleans(), st.booleans(), *[st.integers(0, 1)] * 5)
def test_states_select_when_counters_count(
    user: bool, marked: bool, dis: int, dp: int, du: int, dms: int, dmr: int
) -> None:
    file = loaded("ppc604e", ["PROCESSOR_CYCLES"], dis=dis, dp=dp, du=du, dms=dms, dmr=dmr)
    file.set_field("msr", "pr", int(user))
    file.set_field("msr", "pm", int(marked))
    off = dis or (du if user else dp) or (dms if marked else dmr)
    assert file.enabled(1) == (not off)


def test_levels_become_dp_and_du() -> None:
    for plm, dp, du in (("u", 1, 0), ("k", 0, 1), ("uk", 0, 0)):
        file = loaded("ppc604e", ["PROCESSOR_CYCLES"], plm=plm)
        assert (file.field("mmcr0", "dp"), file.field("mmcr0", "du")) == (dp, du)


def test_negative_counter_signals_only_with_its_control_and_enint() -> None:
    for first, others, enint in ((1, 0, 1), (0, 1, 1), (1, 1, 0)):
        file = loaded(
            "ppc604e",
            ["PROCESSOR_CYCLES", "INSTRUCTIONS_COMPLETED"],
            enint=enint,
            pmc1intcontrol=first,
            pmcintcontrol=others,
        )
        file.write("pmc1", NEGATIVE - 1)
        file.write("pmc2", NEGATIVE - 1)
        assert file.add(1, 1)
        assert file.interrupt == bool(first and enint)
        file.interrupt = False
        file.add(2, 1)
        assert file.interrupt == bool(others and enint)


def test_fields_are_at_the_manuals_bits() -> None:
    registers = pmu.get("ppc604e").registers
    mmcr0 = registers["mmcr0"]
    for name, bit in (("dis", 0), ("enint", 5), ("discount", 6), ("pmc1intcontrol", 16), ("pmctrigger", 18)):
        assert mmcr0.encode(**{name: 1}) == 1 << (31 - bit)
    assert mmcr0.encode(threshold=63) == 0x003F0000
    assert mmcr0.encode(pmc1select=127) == 0x00001FC0
    assert mmcr0.encode(pmc2select=63) == 0x0000003F
    assert registers["mmcr1"].encode(pmc3select=31) == 0xF8000000
    assert registers["mmcr1"].encode(pmc4select=31) == 0x07C00000


@given(st.integers(0, (1 << 32) - 1), st.integers(0, (1 << 32) - 1))
def test_counters_wrap_at_32_bits_and_tell_a_change_of_sign(start: int, increment: int) -> None:
    file = loaded("ppc604e", ["PROCESSOR_CYCLES"])
    file.write("pmc1", start)
    limit = NEGATIVE if start < NEGATIVE else 1 << 32
    assert file.add(1, increment) == (start + increment >= limit)
    assert file.count(1) == (start + increment) % (1 << 32)


@pytest.mark.parametrize(
    ("events", "options", "text"),
    [
        (["PROCESSOR_CYCLES"], {"controls": {"nope": 1}}, "no control 'nope'"),
        (["PROCESSOR_CYCLES"], {"controls": {"threshold": 64}}, "too wide"),
        ([EventRequest("PROCESSOR_CYCLES", threshold=1)], {}, "threshold_is_a_control_of_mmcr0"),
        ([EventRequest("PROCESSOR_CYCLES", plm=1)], {}, "counters_share_their_privilege_levels"),
        (["ICACHE_MISSES", "DTLB_MISSES"], {}, "events_need_free_counters"),
    ],
)
def test_bad_requests_are_refused(events: list, options: dict, text: str) -> None:
    with pytest.raises(PfmonError, match=text):
        pmu.get("ppc604e").program(events, **options)


def test_registers_are_for_supervisor_state() -> None:
    file = loaded("ppc604e", ["PROCESSOR_CYCLES"])
    with pytest.raises(PfmonError, match="supervisor"):
        file.read("pmc1", cpl=3)
    with pytest.raises(PfmonError, match="32-bit"):
        file.write("pmc1", 1 << 32)
