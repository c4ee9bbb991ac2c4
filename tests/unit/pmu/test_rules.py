"""Every rule refuses with its name, the option that broke it and what would be legal, in one line."""

import ast
import re
from pathlib import Path

import pytest
from grids import each

from pfmon import pmu
from pfmon.errors import BadValueError, PfmonError, RuleError, UnknownNameError
from pfmon.pmu.model.request import (
    BranchBufferRequest,
    EarRequest,
    EventRequest,
    IpEarRequest,
    OpcodeMatch,
    RangeRequest,
    instruction_set_mask,
    privilege_mask,
)

SMALL = RangeRequest(((0x1000, 0x1100),))
WIDE = RangeRequest(((0x1000, 0x234560),))
MATCH = OpcodeMatch("mifb", 0, 0)
REFUSED = [
    ("itanium2", ["CPU_CYCLES"], {"irange": SMALL}, "event_must_support_instruction_ranges"),
    ("itanium2", ["NOPS_RETIRED"], {"drange": SMALL}, "event_must_support_data_ranges"),
    ("itanium2", ["CPU_CYCLES"], {"opcodes": (MATCH, None)}, "event_must_support_opcode_matching"),
    ("itanium2", [EventRequest("NOPS_RETIRED", plm=1)], {"irange": SMALL}, "range_allows_default_plm_only"),
    ("itanium2", ["LOADS_RETIRED", "STORES_RETIRED"], {}, "one_set_at_a_time"),
    ("itanium2", ["L2_REFERENCES", "L2_OZQ_RELEASE"], {}, "one_set_at_a_time"),
    ("itanium2", ["L2_OZQ_CANCELS0_ANY", "L2_OZQ_CANCELS1_REL"], {}, "one_l2_ozq_cancels_event_at_a_time"),
    ("itanium2", ["LOADS_RETIRED"], {"opcodes": (None, MATCH)}, "pmc9_constrains_tagged_instructions_only"),
    ("itanium2", ["NOPS_RETIRED"], {"opcodes": (None, MATCH), "irange": SMALL}, "pmc9_excludes_code_ranges"),
    (
        "itanium2",
        [f"IA64_TAGGED_INST_RETIRED_IBRP{n}_PMC{8 + n % 2}" for n in range(4)],
        {"opcodes": (MATCH, None), "irange": WIDE},
        "pmc8_excludes_several_code_channels",
    ),
    (
        "itanium2",
        ["NOPS_RETIRED"],
        {"irange": RangeRequest(((0x10000, 0x20000), (0x40000, 0x60000)))},
        "one_range_unless_retired_instructions_only",
    ),
    (
        "itanium2",
        ["NOPS_RETIRED"],
        {"irange": RangeRequest(((0x100, 0x200), (0x400, 0x600)))},
        "fine_mode_has_two_ranges",
    ),
    ("itanium2", ["IA64_INST_RETIRED"], {"irange": WIDE}, "ibr_pairs_in_use_have_their_event"),
    (
        "itanium",
        ["LOADS_RETIRED"],
        {"drange": RangeRequest(((0x1001, 0x2003), (0x3001, 0x4003)))},
        "ranges_need_no_more_pairs_than_there_are",
    ),
    (
        "itanium2",
        ["DATA_EAR_TLB_ALL", "BRANCH_EVENT"],
        {},
        "data_ear_excludes_branch_buffer",
    ),
    ("itanium2", ["CPU_CYCLES"], {"unavailable": [15]}, "pmc_must_be_available"),
    ("montecito", ["LOADS_RETIRED", "STORES_RETIRED"], {}, "one_l1d_set_at_a_time"),
    (
        "montecito",
        ["L2D_OZQ_RELEASE", "L2D_REFERENCES_ALL", "L2D_OZDB_FULL_THIS"],
        {},
        "two_l2d_sets_at_a_time",
    ),
    (
        "montecito",
        ["L2D_OZQ_CANCELS0_ACQ", "L2D_OZQ_CANCELS1_ANY"],
        {},
        "one_l2d_ozq_cancels_event_at_a_time",
    ),
    ("montecito", ["L3_READS_ALL_ALL"], {}, "mesi_mask_belongs_to_mesi_events"),
    ("montecito", ["NOPS_RETIRED:M"], {}, "mesi_mask_belongs_to_mesi_events"),
    ("montecito", [EventRequest("NOPS_RETIRED", all_threads=True)], {}, "all_threads_needs_capable_event"),
    ("montecito", [EventRequest("L2D_OZQ_RELEASE", all_threads=True)], {}, "all_threads_needs_capable_event"),
    ("montecito", [EventRequest("BUS_ALL_ANY", all_threads=True)], {}, "all_threads_needs_capable_event"),
    ("montecito", ["L1I_FILLS"], {"irange": SMALL}, "fetch_events_say_demand_or_prefetch"),
    (
        "montecito",
        ["BRANCH_EVENT"],
        {"ip_ear": IpEarRequest(100)},
        "ip_ear_excludes_trace_buffer",
    ),
    ("montecito", ["NOPS_RETIRED"] * 13, {}, "events_need_free_counters"),
    ("montecito", ["L3_MISSES"] * 7, {"two_threads": True}, "banked_counters_count_active_events_only"),
    ("montecito", [EventRequest("NOPS_RETIRED", ism=1)], {}, "montecito_monitors_ia64_code"),
    ("itanium2", ["NOPS_RETIRED"], {"irange": SMALL, "ism": "ia32"}, "ia32_only_excludes_ia64_features"),
    ("itanium2", ["BRANCH_EVENT"], {"ism": "ia32"}, "ia32_only_excludes_ia64_features"),
    (
        "itanium",
        ["NOPS_RETIRED"],
        {"iear": EarRequest("tlb", 1), "ip_ear": IpEarRequest(1)},
        "feature_must_exist",
    ),
    ("itanium", ["NOPS_RETIRED:M"], {}, "event_option_must_exist"),
    ("itanium", ["NOPS_RETIRED"], {"irange": SMALL._replace(inverse=True)}, "range_filters_exist"),
    ("itanium2", ["L1I_FILLS"], {"irange": SMALL._replace(demand_fetch=True)}, "range_filters_exist"),
    ("itanium2", ["L1I_FILLS"], {"irange": SMALL._replace(prefetch_match=True)}, "range_filters_exist"),
    ("montecito", ["LOADS_RETIRED"], {"drange": SMALL._replace(inverse=True)}, "range_filters_exist"),
]


@each(("name", "events", "options", "rule"), REFUSED)
def test_rule_refuses_by_name_in_one_line(name: str, events: list, options: dict, rule: str) -> None:
    with pytest.raises(RuleError) as caught:
        pmu.get(name).program(events, **options)
    assert caught.value.rule == rule
    said = str(caught.value)
    assert re.fullmatch(rf"\S.*\S \({rule}(; [^;]+)?\)", said)  # the sentence, then the rule's name and its source
    assert caught.value.exit_status == 2


OTHERS = {"itanium": ("Itanium 2", "Montecito"), "itanium2": ("Itanium manual", "Montecito"), "montecito": ("Itanium",)}
QUALIFIED = [
    (["CPU_CYCLES"], {"irange": SMALL}),
    (["CPU_CYCLES"], {"drange": SMALL}),
    (["CPU_CYCLES"], {"opcodes": (MATCH, None)}),
    ([EventRequest("NOPS_RETIRED", plm=1)], {"irange": SMALL}),
    (["NOPS_RETIRED"] * 20, {}),
    (["NOPS_RETIRED"], {"irange": RangeRequest(((0x100, 0x200), (0x400, 0x600), (0x800, 0x900)))}),
    (["NOPS_RETIRED"], {"drange": RangeRequest(tuple((at * 0x1000 + 1, at * 0x1000 + 0x801) for at in range(4)))}),
    (["DATA_EAR_TLB_ALL", "BRANCH_EVENT"], {}),
    (["DATA_EAR_CACHE_LAT8", "DATA_EAR_CACHE_LAT16"], {}),
    (["L1I_FILLS"], {"irange": SMALL._replace(inverse=True, demand_fetch=True, prefetch_match=True)}),
]


@pytest.mark.parametrize("name", pmu.IA64)
def test_a_refusal_cites_the_manual_of_the_pmu_in_use(name: str) -> None:
    refusals = []
    for events, options in [*QUALIFIED, *((events, options) for other, events, options, _ in REFUSED if other == name)]:
        there = [event for event in events if isinstance(event, EventRequest) or event in pmu.get(name).events]
        try:
            pmu.get(name).program(there, **options)
        except RuleError as error:
            refusals.append(error)
    assert len(refusals) >= 6
    assert [error for error in refusals if any(other in error.section for other in OTHERS[name])] == []


BAD_VALUES = [
    (["NOPS_RETIRED"], {"plm": "x"}, "bad privilege levels"),
    (["NOPS_RETIRED"], {"plm": 0}, "no privilege level"),
    (["NOPS_RETIRED"], {"plm": 16}, "not within 0-15"),
    (["NOPS_RETIRED"], {"ism": "arm"}, "bad instruction set"),
    ([EventRequest("NOPS_RETIRED", threshold=6)], {}, "legal are 0-5"),
    ([EventRequest("NOPS_RETIRED", threshold=-1)], {}, "legal are 0-5"),
    ([EventRequest("CPU_CYCLES", threshold=1)], {}, "only legal threshold is 0"),
    ([EventRequest("NOPS_RETIRED", threshold=8)], {"check_thresholds": False}, "too wide: 0-0x7"),
    (["NOPS_RETIRED"], {"irange": RangeRequest(((0x1001, 0x1100),))}, "bundles of 16"),
    (["NOPS_RETIRED"], {"irange": RangeRequest(((0x1100, 0x1000),))}, "start must be below"),
    (["NOPS_RETIRED"], {"irange": RangeRequest(())}, "no range"),
    (["LOADS_RETIRED"], {"drange": RangeRequest(((5, 5),))}, "start must be below"),
    (["NOPS_RETIRED"], {"iear": EarRequest("alat", 0)}, "legal are cache, tlb"),
    (["NOPS_RETIRED"], {"dear": EarRequest("cache", 16)}, "too wide"),
    (["NOPS_RETIRED"], {"branch_buffer": BranchBufferRequest({"tm": 4})}, "too wide"),
    (["NOPS_RETIRED"], {"opcodes": (OpcodeMatch("m", 1 << 27, 0), None)}, "too wide"),
]


@each(("events", "options", "text"), BAD_VALUES)
def test_bad_values_name_the_legal_ones(events: list, options: dict, text: str) -> None:
    with pytest.raises(BadValueError) as caught:
        pmu.get("itanium2").program(events, **options)
    assert text in str(caught.value) and "\n" not in str(caught.value)


def test_unknown_names_are_refused_everywhere() -> None:
    with pytest.raises(UnknownNameError, match="nearest"):
        pmu.get("itanium3")
    with pytest.raises(UnknownNameError):
        pmu.get("itanium").program(["NOPE"])
    with pytest.raises(UnknownNameError):
        pmu.get("itanium").registers["pmc99"]
    with pytest.raises(UnknownNameError):
        pmu.get("itanium").registers["pmc4"].field("nope")
    with pytest.raises(PfmonError):
        pmu.get("montecito").program(["L3_READS_ALL_ALL:X"])
    with pytest.raises(UnknownNameError, match="field of pmc12"):
        pmu.get("itanium2").program(["NOPS_RETIRED"], branch_buffer=BranchBufferRequest({"nope": 1}))


def test_no_qual_check_lets_unsupported_events_through() -> None:
    made = pmu.get("itanium2").program(["CPU_CYCLES"], irange=SMALL, check_qualifiers=False)
    assert made.irange and made.irange.fine


def test_masks_have_names() -> None:
    assert (privilege_mask("u"), privilege_mask("k"), privilege_mask("012u")) == (8, 1, 15)
    assert [instruction_set_mask(n) for n in ("both", "ia32", "ia64", 3)] == [0, 1, 2, 3]


def test_every_rule_is_a_function_of_that_name_with_its_source() -> None:
    named, functions = set(), {}
    for path in sorted(Path(pmu.__file__).parent.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        named |= set(re.findall(r'(?:Rule|Assignment)Error\(\s*"(\w+)"', text))
        named |= set(re.findall(r'rule, section = "(\w+)"', text))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                functions[node.name] = ast.get_docstring(node) or ""
    assert len(named) > 30
    assert named <= set(functions)
    assert [name for name in named if len(functions[name]) < 20] == []
