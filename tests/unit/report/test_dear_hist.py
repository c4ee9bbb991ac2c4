"""dear-hist prints what pfmon's page does (pfmon on Itanium 2, section 11), from samples with these misses."""

from collections.abc import Mapping, Sequence

import pytest
from grids import each

from pfmon import pmu
from pfmon.errors import PfmonError
from pfmon.machine.config.machine_config import load
from pfmon.pmu.capture.captures import captures_of
from pfmon.program.loaded_objects import LoadedObjects
from pfmon.report.sampling.dear_hist import DearHist
from pfmon.report.sampling.sampling_module import ModuleContext
from pfmon.session.profile.code_profile import Function, FunctionNames
from pfmon.session.sampling.sampling_period import Sample

ITANIUM2 = pmu.get("itanium2")
L2, L3, RAM = 5, 14, 250
"""Latencies that the levels have on the page's machine; the last is of memory."""


def machine(name: str = "itanium2") -> ModuleContext:
    """A context with the page's machine: 14 cycles for L3 and 1.4 GHz, which its nanoseconds come from."""
    settings = ["l3.latency=14", "l3.float_latency=15", "l3.fetch_latency=16", "machine.frequency=1400 MHz"]
    return ModuleContext(1000, model=pmu.get(name), machine=lambda: load(name, settings))


def sampled(event: str, name: str = "itanium2", **others: object) -> ModuleContext:
    """The context of a run with one event that has a period."""
    made = pmu.get(name).program([event])
    captures = captures_of(pmu.get(name), made.writes)
    return machine(name)._replace(captures=captures, events=(made.monitors[0].event,), **others)


class Names(FunctionNames):
    """Functions by their first address."""

    def __init__(self, starts: Mapping[int, str]) -> None:
        super().__init__(LoadedObjects(None))
        self._starts = starts

    def function(self, address: int, of_code: bool = False, file: int | None = None) -> Function:
        start = max((start for start in self._starts if start <= address), default=0)
        return Function(self._starts.get(start, "[no symbol]"), start)


PLACES = Names(
    {
        0x4000000000001380: "f2",
        0x4000000000001EC0: "f1",
        0x4000000000002240: "verify",
        0x4000000000003660: "memcpy",
    }
)


def miss(instruction: int, latency: int, data: int = 0x6000) -> Sample:
    """A sample of a data cache miss on Itanium 2."""
    bundle, slot = instruction & ~15, instruction & 15
    pmds = ((2, data), (3, 1 << 14 | latency), (17, bundle | 8 | slot))
    return Sample(0x4000, 1, (4,), 10000, 0, pmds)


def misses(instruction: int, l2: int, l3: int, ram: int, data: int = 0x6000) -> list[Sample]:
    counts = ((L2, l2), (L3, l3), (RAM, ram))
    return [miss(instruction, latency, data) for latency, count in counts for _ in range(count)]


def lines(context: ModuleContext, samples: Sequence[Sample]) -> list[str]:
    """What the module prints."""
    module = DearHist(context)
    half = len(samples) // 2
    assert module.take(samples[:half]) == module.take(samples[half:]) == ""
    return module.finish(None).splitlines()


HEADER = [
    "# L2   :  5 cycles load latency",
    "# L3   : 14 cycles load latency",
    "# %L2  : percentage of L1 misses that hit L2",
    "# %L3  : percentage of L1 misses that hit L3",
    "# %RAM : percentage of L1 misses that hit memory",
]


def test_instructions_are_printed_as_on_the_page() -> None:
    # The first rows of the page's example that have such counts: 98.49% of 1657 are 1632.
    samples = [
        *misses(0x4000000000001ED0, 1632, 25, 0),
        *misses(0x4000000000001ED1, 0, 1602, 0),
        *misses(0x4000000000002000, 1226, 0, 0),
        *misses(0x4000000000002340, 13, 221, 169),
    ]
    found = lines(sampled("DATA_EAR_CACHE_LAT4", names=PLACES), samples)
    assert found[:4] == [
        f"# total_samples {1657 + 1602 + 1226 + 403}",
        "# instruction addr view",
        "# sorted by count",
        "# showing per distinct value",
    ]
    assert found[4:9] == HEADER
    assert found[9] == "#count   %self    %cum     %L2     %L3    %RAM   instruction addr"
    assert found[10:] == [
        "    1657  33.90%  33.90%  98.49%   1.51%   0.00% 0x4000000000001ed0 f1+0x10",
        "    1602  32.77%  66.67%   0.00% 100.00%   0.00% 0x4000000000001ed1 f1+0x11",
        "    1226  25.08%  91.76% 100.00%   0.00%   0.00% 0x4000000000002000 f1+0x140",
        "     403   8.24% 100.00%   3.23%  54.84%  41.94% 0x4000000000002340 verify+0x100",
    ]


def test_functions_are_printed_as_on_the_page() -> None:
    samples = [
        *misses(0x4000000000001ED0, 4000, 38, 0),
        *misses(0x4000000000001ED1, 106, 4100, 0),
        *misses(0x4000000000001611, 191, 665, 144),
        *misses(0x4000000000002340, 10, 289, 167),
        *misses(0x4000000000003A71, 55, 28, 1),
    ]
    assert lines(sampled("DATA_EAR_CACHE_LAT4", names=PLACES, by_function=True, top=10), samples) == [
        "# total_samples 9794",
        "# function addr view",
        "# sorted by count",
        "# showing per function histogram",
        *HEADER,
        "#count   %self    %cum     %L2     %L3    %RAM      function addr",
        "    8244  84.17%  84.17%  49.81%  50.19%   0.00% 0x4000000000001ec0 f1",
        "    1000  10.21%  94.38%  19.10%  66.50%  14.40% 0x4000000000001380 f2",
        "     466   4.76%  99.14%   2.15%  62.02%  35.84% 0x4000000000002240 verify",
        "      84   0.86% 100.00%  65.48%  33.33%   1.19% 0x4000000000003660 memcpy",
    ]


def test_data_are_printed_as_on_the_page() -> None:
    samples = [
        *misses(0x4000, 0, 1703, 1, 0x60000FFFFE4C7620),
        *misses(0x4000, 1633, 36, 0, 0x60000FFFFE4C7628),
        *misses(0x4001, 0, 1258, 0, 0x6000000000005698),
        *misses(0x4002, 1212, 0, 0, 0x6000000000005690),
        *misses(0x4002, 1201, 0, 0, 0x60000000000056A0),
        *misses(0x4002, 0, 1198, 0, 0x60000000000056A8),
        *(miss(0x4000, L3, 0x7000 + 8 * number) for number in range(9790 - 8242)),
    ]
    found = lines(sampled("DATA_EAR_CACHE_LAT4", view="data", top=6, names=PLACES), samples)
    assert found == [
        "# total_samples 9790",
        "# data addr view",
        "# sorted by count",
        "# showing per distinct value",
        *HEADER,
        "# #count   %self    %cum     %L2     %L3    %RAM          data addr",
        "    1704  17.41%  17.41%   0.00%  99.94%   0.06% 0x60000ffffe4c7620",
        "    1669  17.05%  34.45%  97.84%   2.16%   0.00% 0x60000ffffe4c7628",
        "    1258  12.85%  47.30%   0.00% 100.00%   0.00% 0x6000000000005698",
        "    1212  12.38%  59.68% 100.00%   0.00%   0.00% 0x6000000000005690",
        "    1201  12.27%  71.95% 100.00%   0.00%   0.00% 0x60000000000056a0",
        "    1198  12.24%  84.19%   0.00% 100.00%   0.00% 0x60000000000056a8",
    ]


PAGE_LEVELS = """\
    4355  44.47%  44.47%           5       4
    4176  42.64%  87.11%          11       8
     732   7.47%  94.59%          14      10
     146   1.49%  96.08%           7       5
      64   0.65%  96.73%          17      12
      47   0.48%  97.21%          18      13
      45   0.46%  97.67%          16      11
      42   0.43%  98.10%          15      11
      34   0.35%  98.45%           9       6
      15   0.15%  98.60%          19      14
"""


@pytest.mark.slow
def test_levels_are_printed_as_on_the_page() -> None:
    rows = [line.split() for line in PAGE_LEVELS.splitlines()]
    samples = [miss(0x4000, int(row[3])) for row in rows for _ in range(int(row[0]))]
    samples += [miss(0x4000, 1000 + number) for number in range(9793 - len(samples))]
    assert lines(sampled("DATA_EAR_CACHE_LAT4", view="level", by_function=True, top=10, names=PLACES), samples) == [
        "# total_samples 9793",
        "# level view",
        "# sorted by count",
        "# showing per function histogram",
        *HEADER[:2],
        "# #count   %self    %cum lat(cycles) lat(ns)",
        *PAGE_LEVELS.splitlines(),
    ]


@each(
    ("latency", "served"),
    [(4, "L2"), (5, "L2"), (13, "L2"), (14, "L3"), (207, "L3"), (208, "RAM"), (8191, "RAM")],
)
def test_the_least_latency_of_the_next_level_is_the_limit(latency: int, served: str) -> None:
    row = lines(sampled("DATA_EAR_CACHE_LAT4"), [miss(0x4001, latency)])[-1]
    shares = dict(zip(("L2", "L3", "RAM"), row.split()[3:6], strict=True))
    assert shares == {level: "100.00%" if level == served else "0.00%" for level in shares}


def test_data_tlb_misses_have_the_levels_of_the_tlb() -> None:
    def tlb(level: int, count: int) -> list[Sample]:
        return [Sample(1, 1, (4,), 1, 0, ((2, 0x6000), (3, level << 14), (17, 0x4009)))] * count

    samples = [*tlb(1, 1), *tlb(2, 6), *tlb(3, 3)]
    assert lines(sampled("DATA_EAR_TLB_ALL"), samples)[4:] == [
        "# %L2   : percentage of L1 TLB misses that hit the L2 TLB",
        "# %VHPT : percentage of L1 TLB misses that the VHPT walker served",
        "# %FAULT: percentage of L1 TLB misses that software served",
        "#count   %self    %cum     %L2   %VHPT  %FAULT   instruction addr",
        "      10 100.00% 100.00%  10.00%  60.00%  30.00% 0x4001",
    ]
    assert lines(sampled("DATA_EAR_TLB_ALL", view="level"), samples)[1:] == [
        "# level view",
        "# sorted by count",
        "# showing per distinct value",
        "# #count   %self    %cum  level",
        "       6  60.00%  60.00%   VHPT",
        "       3  30.00%  90.00%  FAULT",
        "       1  10.00% 100.00%     L2",
    ]


def test_itanium_serves_tlb_misses_by_software() -> None:
    sample = Sample(1, 1, (4,), 1, 0, ((2, 0x6000), (3, 3 << 62), (17, 0x4005)))
    found = lines(sampled("DATA_EAR_TLB_SW", "itanium"), [sample])
    assert found[-2:] == [
        "#count   %self    %cum     %L2   %VHPT     %SW   instruction addr",
        "       1 100.00% 100.00%   0.00%   0.00% 100.00% 0x4001",
    ]
    code = lines(sampled("INSTRUCTION_EAR_TLB_SW", "itanium"), [Sample(1, 1, (4,), 1, 0, ((0, 0x4043), (1, 0)))])
    assert code[-2:] == [
        "#count   %self    %cum   %VHPT     %SW    cache line addr",
        "       1 100.00% 100.00%   0.00% 100.00% 0x4040",
    ]


def test_code_misses_are_by_cache_line_and_fetch_latency() -> None:
    def fetch(line: int, latency: int) -> Sample:
        return Sample(1, 1, (4,), 1, 0, ((34, line | 1), (35, latency)))

    samples = [fetch(0x4000000000001EC0, 7), fetch(0x4000000000001EC0, 16), fetch(0x4000000000001380, 208)]
    assert lines(sampled("L1I_EAR_CACHE_LAT0", "montecito", names=PLACES), samples)[1:] == [
        "# cache line addr view",
        "# sorted by count",
        "# showing per distinct value",
        "# L2   :  7 cycles fetch latency",
        "# L3   : 16 cycles fetch latency",
        *HEADER[2:],
        "#count   %self    %cum     %L2     %L3    %RAM    cache line addr",
        "       2  66.67%  66.67%  50.00%  50.00%   0.00% 0x4000000000001ec0 f1+0x0",
        "       1  33.33% 100.00%   0.00%   0.00% 100.00% 0x4000000000001380 f2+0x0",
    ]


def test_samples_without_a_capture_are_counted_apart() -> None:
    empty = Sample(1, 1, (4,), 1, 0, ((2, 0), (3, 0), (17, 0)))
    stack = Sample(1, 1, (4,), 1, 0, ((2, 0x6000), (3, 1 << 14 | 5), (17, 0)))  # of the RSE: no instruction
    found = lines(sampled("DATA_EAR_CACHE_LAT4", names=PLACES), [empty, stack])
    assert found[0] == "# total_samples 2"
    assert "# samples without a capture, which no row has: 1" in found
    assert found[-1] == "       1 100.00% 100.00% 100.00%   0.00%   0.00% 0x0 [no instruction]"


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("itanium", "DATA_EAR_CACHE_*, DATA_EAR_TLB_*, INSTRUCTION_EAR_CACHE_*, INSTRUCTION_EAR_TLB_*"),
        ("itanium2", "DATA_EAR_CACHE_*, DATA_EAR_TLB_*, L1I_EAR_CACHE_*, L1I_EAR_TLB_*"),
        ("montecito", "DATA_EAR_CACHE_*, DATA_EAR_TLB_*, L1I_EAR_CACHE_*, L1I_EAR_TLB_*"),
    ],
)
def test_other_events_are_refused_with_those_that_are_wanted(name: str, wanted: str) -> None:
    with pytest.raises(PfmonError) as caught:
        DearHist(sampled("NOPS_RETIRED", name))
    assert (
        str(caught.value) == f"--smpl-module=dear-hist: samples of NOPS_RETIRED; it wants those of one event: {wanted}"
    )


def test_several_events_and_alat_misses_are_refused() -> None:
    one = sampled("DATA_EAR_CACHE_LAT4")
    with pytest.raises(PfmonError, match="samples of DATA_EAR_CACHE_LAT4, NOPS_RETIRED; it wants"):
        DearHist(one._replace(events=(*one.events, ITANIUM2.events["NOPS_RETIRED"])))
    with pytest.raises(PfmonError, match="samples of DATA_EAR_ALAT; it wants"):
        DearHist(sampled("DATA_EAR_ALAT"))


def test_views_of_what_is_not_there_are_refused() -> None:
    with pytest.raises(PfmonError, match="--smpl-data-view: L1I_EAR_CACHE_LAT4 captures no addresses of data"):
        DearHist(sampled("L1I_EAR_CACHE_LAT4", view="data"))
    with pytest.raises(PfmonError, match="--smpl-data-view is of data, which no function has"):
        DearHist(sampled("DATA_EAR_CACHE_LAT4", view="data", by_function=True, names=PLACES))


def test_rows_are_sorted_by_what_their_misses_cost() -> None:
    samples = [
        *misses(0x4000000000001ED0, 40, 0, 0),
        *misses(0x4000000000002000, 0, 20, 0),
        *misses(0x4000000000002340, 0, 0, 3),
    ]
    costs = {0x1ED0: 40 * 5, 0x2000: 20 * 14, 0x2340: 3 * 208}  # the machine's least latencies
    found = lines(sampled("DATA_EAR_CACHE_LAT4", sort="level"), samples)
    assert found[2] == "# sorted by level"
    addresses = [int(line.split()[6], 16) & 0xFFFF for line in found[10:]]
    assert addresses == sorted(costs, key=lambda address: -costs[address])
    by_count = lines(sampled("DATA_EAR_CACHE_LAT4"), samples)
    assert [int(line.split()[6], 16) & 0xFFFF for line in by_count[10:]] == list(costs)


@pytest.mark.parametrize(("name", "l2", "l3"), [("itanium", 6, 21), ("itanium2", 5, 12)])
def test_fetches_of_ia32_code_have_the_latencies_of_data(name: str, l2: int, l3: int) -> None:
    """The machine files for IA-32 code have one latency for each level."""
    event = {"itanium": "INSTRUCTION_EAR_CACHE_LAT4", "itanium2": "L1I_EAR_CACHE_LAT4"}[name]
    context = sampled(event, name)._replace(machine=lambda: load(f"{name}_ia32", []))
    assert lines(context, [])[4:6] == [f"# L2   : {l2:2} cycles fetch latency", f"# L3   : {l3:2} cycles fetch latency"]
