"""The manual sections, by PMU, of the rules that several PMUs share.

Such a rule is raised with one manual's section; the error shows that of the PMU in use. A rule that is not listed here
belongs to one PMU, or its source applies to all of them.
"""

from __future__ import annotations

from pfmon.errors import RuleError

IRANGE, OPCODES, DRANGE = "Itanium manual section 6.2.4", "Itanium manual section 6.2.5", "Itanium manual section 6.2.6"
TAGGING, LEVELS = "Itanium manual section 6.1.3.1", "Itanium manual section 6.1.3.2"
RANGES_2 = "pfmon on Itanium 2, section 8.2"
RANGES_M, FILTERS_M = "Montecito manual section 3.3.5", "Montecito manual section 3.3.10"

CITATIONS = {
    "event_must_support_instruction_ranges": {"itanium": IRANGE, "itanium2": RANGES_2},
    "event_must_support_data_ranges": {"itanium": DRANGE, "itanium2": RANGES_2},
    "event_must_support_opcode_matching": {"itanium": OPCODES, "itanium2": "pfmon on Itanium 2, section 4.5"},
    "range_allows_default_plm_only": {"itanium": LEVELS, "montecito": RANGES_M},
    "range_filters_exist": {"itanium": IRANGE, "itanium2": "pfmon on Itanium 2, section 8.4"},
    "fine_mode_has_two_ranges": {"itanium2": RANGES_2},
    "one_range_unless_retired_instructions_only": {"itanium2": RANGES_2},
    "ibr_pairs_in_use_have_their_event": {"itanium2": RANGES_2},
    "qualifications_bear_on_some_event": {"itanium": TAGGING, "itanium2": "pfmon on Itanium 2, section 4.5"},
    "inversion_is_of_tag_channel_0": {"itanium2": "pfmon on Itanium 2, section 8.4"},
    "events_agree_on_an_address_register": {
        "itanium": "Itanium manual section 6.2",
        "itanium2": "pfmon on Itanium 2, section 5",
    },
    "data_ear_excludes_branch_buffer": {"itanium2": "Itanium 2 manual, performance monitor state"},
    "branch_filters_of_a_kind_exclude_each_other": {"itanium": "Itanium manual section 6.2", "montecito": FILTERS_M},
    "ia32_only_excludes_ia64_features": {"itanium": TAGGING},
}
"""Rule -> PMU -> section."""


def of_the_pmu(error: RuleError, pmu: str) -> RuleError:
    """Return the error with the section of the PMU's own manual, if there is one."""
    section = CITATIONS.get(error.rule, {}).get(pmu)
    return error if section is None or section == error.section else error.cited(section)
