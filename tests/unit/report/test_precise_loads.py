"""Samples of precise loads in words and as a histogram."""

import pytest

from pfmon import pmu
from pfmon.engine.guest_pmu import PmuEvent
from pfmon.errors import PfmonError
from pfmon.machine.config.machine_config import load
from pfmon.pmu.capture.captures import captures_of
from pfmon.report.sampling.dear_hist import DearHist
from pfmon.report.sampling.detailed import Detailed
from pfmon.report.sampling.sampling_module import ModuleContext
from pfmon.session.run.event_codes import by_code
from pfmon.session.sampling.sampling_period import Sample

EVENT = "mem_trans_retired.load_latency_gt_4"
L1, L2, MEMORY, WALKED, LOCKED = 1, 3, 12, 16, 32
"""Data source encodings (SDM volume 3, table 18-24), and two bits above them."""


def sampled(event: str = EVENT, name: str = "skylake", **others: object) -> ModuleContext:
    model = pmu.get(name)
    made = model.program([event])
    context = ModuleContext(
        1000,
        model=model,
        captures=captures_of(model, made.writes),
        events=(made.monitors[0].event,),
        machine=lambda: load(name),
    )
    return context._replace(**others)


def sample(instruction: int, address: int, latency: int, source: int) -> Sample:
    return Sample(instruction, 1, (0,), 100, 0, ((0x98, address), (0xA0, source), (0xA8, latency), (0xB0, instruction)))


SAMPLES = [
    sample(0x401000, 0x5000, 12, L2),
    sample(0x401000, 0x5040, 230, MEMORY | WALKED),
    sample(0x401008, 0x5000, 12, L2 | LOCKED),
    Sample(0x401010, 1, (0,), 100, 0, ((0x98, 0), (0xA0, 0), (0xA8, 0), (0xB0, 0))),
]


def rows(**others: object) -> list[str]:
    module = DearHist(sampled(**others))
    module.take(SAMPLES)
    return [line for line in module.finish(None).splitlines() if not line.startswith("#")]


def test_loads_are_told_in_words() -> None:
    text = Detailed(sampled()).take(SAMPLES)
    assert [line.strip() for line in text.splitlines() if not line.startswith("entry")] == [
        "load: address=0x5000 latency=12 cycles level=L2 instr address=0x401000",
        "load: address=0x5040 latency=230 cycles level=RAM TLB:walk instr address=0x401000",
        "load: address=0x5000 latency=12 cycles level=L2 locked instr address=0x401008",
        "load: none",
    ]


def test_rows_are_instructions_data_or_latencies() -> None:
    assert rows() == [
        "       2  66.67%  66.67%   0.00%   0.00%  50.00%   0.00%  50.00% 0x401000",
        "       1  33.33% 100.00%   0.00%   0.00% 100.00%   0.00%   0.00% 0x401008",
    ]
    assert [row.split()[-1] for row in rows(view="data")] == ["0x5000", "0x5040"]
    assert [row.split()[-2] for row in rows(view="level")] == ["12", "230"]


def test_costs_order_rows_by_level() -> None:
    assert [row.split()[-1] for row in rows(view="data", sort="level")] == ["0x5040", "0x5000"]


@pytest.mark.parametrize(
    ("name", "event", "said"),
    [
        ("core2", "instructions", "core2 takes no samples of loads with address and latency"),
        ("intel_v2", "instructions", "Intel's processors do .PEBS load latency., from Nehalem on"),
        ("skylake", "instructions", r"it wants those of one event: MEM_TRANS_RETIRED.LOAD_LATENCY_GT_\*"),
        ("nehalem", "instructions", r"MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD_\*"),
    ],
)
def test_other_samples_are_refused(name: str, event: str, said: str) -> None:
    with pytest.raises(PfmonError, match=said):
        DearHist(sampled(event, name))


def test_registers_are_those_of_the_manual() -> None:
    """SDM volume 3, figures 18-18 and 18-24: IA32_PEBS_ENABLE has PEBS_EN from bit 0 on and LL_EN from bit 32 on."""
    writes = pmu.get("skylake").program(["mem_trans_retired.load_latency_gt_64"]).writes
    number = next(number for number in range(4) if f"ia32_perfevtsel{number}" in writes)
    assert writes["ia32_perfevtsel0"] & 0xFFFF == 0x01CD and number == 0
    assert (writes["msr_pebs_ld_lat_threshold"], writes["ia32_pebs_enable"]) == (64, 1 | 1 << 32)
    nehalem = pmu.get("nehalem").program(["mem_inst_retired.latency_above_threshold_16"]).writes
    assert nehalem["ia32_perfevtsel3"] & 0xFFFF == 0x100B
    assert (nehalem["msr_pebs_ld_lat_threshold"], nehalem["ia32_pebs_enable"]) == (16, 8 | 8 << 32)
    assert pmu.get("icelake").program([EVENT]).writes["ia32_pebs_enable"] == 1


def test_a_program_takes_no_precise_loads_itself() -> None:
    with pytest.raises(PfmonError, match="sampled by pfmon, not by the program"):
        by_code(pmu.get("skylake"), PmuEvent("", 0xCD, 1, 0, 8, extra=4), machine=True)
