"""Samples of Intel's counters: the sampler against the plain one, which reads and writes the registers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_sampler import PlainSampler
from x86_blocks import CALL, JUMP, PLAIN, RETURN, block, table_of

from pfmon.counting._counting import SampleBuffer, Sampler
from pfmon.counting.live.live_unit import LiveUnit
from pfmon.pmu import get
from pfmon.pmu.model.request import EventRequest, Request
from pfmon.report.sampling.detailed import Detailed
from pfmon.report.sampling.sampling_module import ModuleContext
from pfmon.session.run.programmed_pmu import ProgrammedPmu
from pfmon.session.sampling.sampling_period import Period, Sample
from pfmon.stream._stream import Recorder

TAKEN = 1 << 32
BLOCKS = [
    block(0x401000, [PLAIN, PLAIN, JUMP], conditional=True),
    block(0x401009, [CALL]),
    block(0x402000, [PLAIN, PLAIN, PLAIN, RETURN]),
]
EVENTS = ["INST_RETIRED.ANY", "BR_INST_RETIRED.ALL_BRANCHES"]
PERIODS = st.builds(Period, st.integers(1, 40), st.integers(1, 40), st.sampled_from((0, 7)), st.integers(1, 1000))


@pytest.mark.slow
@pytest.mark.parametrize("controls", [{}, {"freeze_perfmon_on_pmi": 1}], ids=["runs on", "frozen on PMI"])
@pytest.mark.parametrize("name", ["intel_v1", "intel_v2"])
@given(
    st.lists(st.sampled_from((0, TAKEN, 1, 2)), min_size=1, max_size=200),
    PERIODS,
    st.none() | PERIODS,
    st.sampled_from((1, 3, 2048)),
    st.booleans(),
    st.booleans(),
)
def test_samplers_agree(
    name: str,
    controls: dict[str, int],
    words: list[int],
    first: Period,
    second: Period | None,
    entries: int,
    saturate: bool,
    reset: bool,
) -> None:
    model = get(name)
    if name == "intel_v1" and controls:
        return
    recorder = Recorder()
    recorder.load(words)
    table = table_of(BLOCKS)
    found: list[list[Sample]] = []
    for plain in (True, False):
        counting = ProgrammedPmu(model, Request(tuple(map(EventRequest, EVENTS)), controls=controls))
        registers = counting.counters.registers
        periods = dict(zip(counting.programming.counters, (first, second), strict=True))
        samples: list[Sample] = []
        if plain:
            driver = PlainSampler(registers, periods, entries=entries, saturate=saturate, reset=reset)
            unit = LiveUnit(model, registers, table, False, driver)
            samples = driver.samples
        else:
            buffer = SampleBuffer(
                lambda fields, retired: Sample(*fields, retired=retired), samples.extend, entries, saturate
            )
            order = [(monitor.pmd, periods[monitor.pmd]) for monitor in counting.unit.monitors]
            only_count = [pmd for pmd, period in order if period is None]
            sampler = Sampler(buffer, order, registers.bank.width, only_count if reset else (), 0)
            unit = LiveUnit(model, registers, table, False, sampler)
        recorder.replay(unit.consumer)
        unit.finish()
        if not plain:
            buffer.flush()
        found.append(samples)
    assert found[0] == found[1]


def test_detailed_entries_name_the_counters() -> None:
    samples = [
        Sample(0x401006, 3, (32,), 3, 0, ((0, 5), (33, 7))),
        Sample(0x401006, 6, (0, 34), 3, 0, ()),
    ]
    assert Detailed(ModuleContext(4123, model=get("intel_v2"))).take(samples) == (
        "entry 0 PID:4123 TID:4123 CPU:0 STAMP:0x3 IIP:0x401006 OVFL:IA32_FIXED_CTR0 LAST_VAL:3 SET:0\n"
        "        IA32_PMC0: 0x0000000000000005\n"
        "        IA32_FIXED_CTR1: 0x0000000000000007\n"
        "entry 1 PID:4123 TID:4123 CPU:0 STAMP:0x6 IIP:0x401006 OVFL:IA32_PMC0 IA32_FIXED_CTR2 LAST_VAL:3 SET:0\n"
    )
