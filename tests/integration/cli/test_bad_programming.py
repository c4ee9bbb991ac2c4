"""Mistakes in programming a PMU: one line with the rule and what is legal, exit status 2, nothing programmed."""

import pytest
from answers import answer, declined
from command import EXAMPLES, example
from grids import each, sampled

CHECK = "--check-events-only"
NOPS = ("-e", "nops_retired")
RANGE = "--irange=0x1000-0x1590"
X86 = str(EXAMPLES / "x86_64" / "fib")
MISTAKES = [
    # names
    ([CHECK, "-e", "nops_retird"], ["nops_retird", "NOPS_RETIRED"]),
    ([CHECK, "-e", "ia64_ip"], ["IA64_IPC"]),
    ([CHECK, "-e", "l3_reads_all_hitt"], ["L3_READS_ALL_HIT"]),
    ([CHECK, *NOPS, "--pmu=pentium"], ["itanium2"]),
    (["--decode", "pmc99=1"], ["pmc99", "pmc9"]),
    (["--decode", "pmc8"], ["pmc8=0x1234"]),
    (["--decode", "pmc8=0x10000000000000000"], ["64 bits"]),
    (["--decode", "pmc8=-1"], ["64 bits"]),
    (["--decode", ""], ["pmc8=0x1234"]),
    ([CHECK, "--pmu=intel_v2", "-e", "llc_misses", "--controls=nofield=1"], ["nofield"]),
    ([CHECK, "--pmu=intel_v2", "-e", "llc_misses", "--controls=freeze_perfmon_on_pmi=2"], ["0-0x1"]),
    (
        [CHECK, "--pmu=ppc604e", "-e", "bpu_results", "--controls=nofield=1"],
        ["controls_are_fields_of_mmcr0_and_mmcr1", "pmctrigger"],
    ),
    ([CHECK, "--pmu=ppc604e", "-e", "bpu_results", "--controls=dis"], ["FIELD=VALUE"]),
    ([CHECK, *NOPS, "--controls=pmctrigger=1"], ["feature_must_exist", "irange"]),
    # line states
    ([CHECK, "--pmu=montecito", "-e", "l3_reads_all_hit"], ["mesi_mask_belongs_to_mesi_events", ":MESI"]),
    ([CHECK, "--pmu=montecito", "-e", "l3_reads_all_hit:x"], ["M, E, S, I"]),
    ([CHECK, *NOPS[:1], "nops_retired:m"], ["event_option_must_exist"]),
    # ranges
    ([CHECK, *NOPS, "--irange=0x1000"], ["--irange", "start-end"]),
    ([CHECK, *NOPS, "--irange=0x1000-"], ["--irange", "start-end"]),
    ([CHECK, *NOPS, "--irange="], ["--irange", "START-END"]),
    ([CHECK, *NOPS, "--irange=0x10zz-0x1590"], ["--irange", "0x10zz", "4096"]),
    ([CHECK, *NOPS, "--irange=0x1590-0x1000"], ["range_start_is_below_end", "--irange"]),
    ([CHECK, *NOPS, "--irange=0x1000-0x20000000000000000"], ["--irange", "2**64"]),
    ([CHECK, *NOPS, "--irange=0x1001-0x1590"], ["code_ranges_are_bundle_aligned", "--irange", "16 bytes"]),
    ([CHECK, *NOPS, "--irange=main"], ["main", "numbers"]),
    ([CHECK, *NOPS, RANGE, RANGE], ["--irange", "twice"]),
    ([CHECK, *NOPS, RANGE, "--checkpoint-func=0x1000"], ["checkpoint_excludes_irange"]),
    ([CHECK, *NOPS, "--inverse", "--checkpoint-func=0x1000"], ["checkpoint_excludes_irange"]),
    ([CHECK, *NOPS, "--checkpoint-func=0x1001"], ["checkpoint_is_the_address_of_a_bundle", "16"]),
    ([CHECK, *NOPS, "--checkpoint-func=12x"], ["--checkpoint-func", "address"]),
    ([CHECK, *NOPS, "--inverse-irange"], ["range_modifiers_need_irange", "--irange"]),
    ([CHECK, "-e", "loads_retired", "--drange=0x10-0x10"], ["--drange", "below end"]),
    ([CHECK, *NOPS, "--drange=0x10-0x20"], ["event_must_support_data_ranges", "--no-qual-check"]),
    ([CHECK, "-e", "cpu_cycles", RANGE], ["event_must_support_instruction_ranges", "--no-qual-check"]),
    ([CHECK, *NOPS, "--pmu=itanium", RANGE, "--inverse-irange"], ["range_filters_exist", "--inverse-irange"]),
    ([CHECK, *NOPS, RANGE, "--irange-demand-fetch"], ["range_filters_exist", "--inverse-irange"]),
    (
        [CHECK, "--pmu=montecito", "-e", "l1i_fills", RANGE],
        ["fetch_events_say_demand_or_prefetch", "--irange-prefetch-match"],
    ),
    ([CHECK, "--pmu=intel_v1", "-e", "llc_misses", RANGE], ["feature_must_exist", "irange"]),
    # opcode matchers
    ([CHECK, *NOPS, "--opc-match8=1:2"], ["--opc-match8", "[mifb]:match:mask"]),
    ([CHECK, *NOPS, "--opc-match8="], ["--opc-match8", "[mifb]:match:mask"]),
    ([CHECK, *NOPS, "--opc-match8=x:1:2"], ["--opc-match8", "mifb"]),
    ([CHECK, *NOPS, "--opc-match8=m:0x8000000:2"], ["opcode_bits_fit_their_width", "--opc-match8", "27 bits"]),
    ([CHECK, *NOPS, "--opc-match8=m:1:-1"], ["--opc-match8", "27 bits"]),
    ([CHECK, *NOPS, "--opc-match8=:1:2", "--opc-match8=:1:2"], ["twice"]),
    ([CHECK, *NOPS, "--opc-match32=:1:2"], ["option_belongs_to_the_pmu", "--opc-match8"]),
    ([CHECK, *NOPS, "--opc-match9=:1:2"], ["pmc9_constrains_tagged_instructions_only"]),
    ([CHECK, *NOPS, "--pmu=montecito", "--opc-match8=:1:2"], ["option_belongs_to_the_pmu", "--opc-match32"]),
    ([CHECK, *NOPS, "--pmu=montecito", "--opc-match34=:0:0x20000000000"], ["--opc-match34", "41 bits"]),
    # thresholds
    ([CHECK, *NOPS, "--event-thresholds=6"], ["NOPS_RETIRED", "0-5"]),
    ([CHECK, *NOPS, "--event-thresholds=-1"], ["NOPS_RETIRED", "0-5"]),
    ([CHECK, *NOPS, "--event-thresholds=x"], ["numbers"]),
    ([CHECK, *NOPS, "--event-thresholds=1,2"], ["--event-thresholds", "2 values for 1"]),
    ([CHECK, "-e", "cpu_cycles", "--event-thresholds=1"], ["CPU_CYCLES", "only legal threshold is 0"]),
    ([CHECK, "--pmu=intel_v2", "-e", "llc_misses", "--event-thresholds=256"], ["cmask", "0-0xff"]),
    (
        [CHECK, "--pmu=ppc604e", "-e", "bpu_results", "--event-thresholds=2"],
        ["threshold_is_a_control_of_mmcr0", "0-63"],
    ),
    # levels and instruction sets
    ([CHECK, *NOPS, "--priv-levels=z"], ["k or 0, 1, 2, u or 3"]),
    ([CHECK, *NOPS, "--priv-levels=u,k"], ["--priv-levels", "2 values for 1"]),
    ([CHECK, *NOPS, "--priv-levels=u", "--priv-levels=u"], ["twice"]),
    ([CHECK, *NOPS, "--priv-levels=k", RANGE], ["ranges_exclude_levels_of_events"]),
    ([CHECK, *NOPS, "--priv-levels=u", RANGE], ["ranges_exclude_levels_of_events", "-u"]),
    ([CHECK, *NOPS, "--insn-sets=arm"], ["both, ia32, ia64"]),
    ([CHECK, *NOPS, "--ia32", RANGE], ["ia32_only_excludes_ia64_features"]),
    ([CHECK, *NOPS, "--ia32", "--checkpoint-func=0x1000"], ["ia32_only_excludes_ia64_features"]),
    ([CHECK, "-e", "branch_event", "--ia32"], ["ia32_only_excludes_ia64_features"]),
    ([CHECK, *NOPS, "--ia32", "--pmu=montecito"], ["montecito_monitors_ia64_code", "both or ia64"]),
    ([CHECK, "--pmu=intel_v2", "-e", "llc_misses", "--ia64"], ["instruction_sets_are_itaniums"]),
    ([CHECK, *NOPS, "--all-threads"], ["event_option_must_exist"]),
    ([CHECK, *NOPS, "--edge=q"], ["--edge", "y or n"]),
    ([CHECK, *NOPS, "--invert=y"], ["event_option_must_exist"]),
    # branch buffers, event address registers
    ([CHECK, "-e", "branch_event", "--btb-tm-tk", "--btb-tm-ntk"], ["branch_filters_of_a_kind_exclude_each_other"]),
    ([CHECK, "-e", "branch_event", "--etb-tm-tk"], ["option_belongs_to_the_pmu", "--btb-tm-tk"]),
    ([CHECK, "-e", "etb_event", "--pmu=montecito", "--btb-ds"], ["option_belongs_to_the_pmu", "--etb-"]),
    ([CHECK, "-e", "branch_event", "--pmu=itanium", "--btb-brt-ret"], ["branch_filters_exist_on_the_pmu", "ptm"]),
    ([CHECK, "-e", "branch_event,data_ear_alat"], ["data_ear_excludes_branch_buffer"]),
    ([CHECK, *NOPS, "--pmu=montecito", "--ip-ear=256"], ["--ip-ear", "0 to 255"]),
    ([CHECK, "-e", "etb_event", "--pmu=montecito", "--ip-ear=3"], ["ip_ear_excludes_trace_buffer"]),
    ([CHECK, *NOPS, "--ip-ear=3"], ["feature_must_exist"]),
    # sets and counters
    ([CHECK, "-e", "loads_retired,stores_retired"], ["one_set_at_a_time", "LOADS_RETIRED", "STORES_RETIRED"]),
    ([CHECK, "-e", ",".join(["nops_retired"] * 5)], ["events_need_free_counters", "4 5 6 7"]),
    # derived events
    ([CHECK, "-e", "ia64_ipc:m"], ["states_filter_measured_events"]),
    ([CHECK, "-e", "ctrl_spec_miss_ratio", "--opc-match8=:1:2"], ["opcode_formulas_set_the_matchers_themselves"]),
    ([CHECK, "-e", "ctrl_spec_miss_ratio", RANGE], ["opcode_formulas_set_the_matchers_themselves"]),
    ([CHECK, "-e", "ctrl_spec_miss_ratio,nops_retired"], ["opcode_formulas_stand_alone", "nops_retired"]),
    ([CHECK, "-e", "rse_avg_invalid_regs"], ["events_need_free_counters", "7 event(s)"]),
    # nothing to do, or something else
    (["-L", "ratio"], ["-Lratio"]),
    ([CHECK], ["-e EVENT"]),
    ([RANGE, example("fib")], ["-e EVENT"]),
    (["--pmu=ppc604e", "-e", "bpu_results", example("fib")], ["PowerPC", "itanium2"]),
    (["--pmu=intel_v2", "-e", "llc_misses", example("fib")], ["x86", "itanium2"]),
    (["--pmu=intel_v1", example("fib")], ["x86", "itanium2"]),
    (["--pmu=itanium2", "-e", "nops_retired", X86], ["x86-64 program", "intel_v1, intel_v2, core2, nehalem, skylake"]),
    (["--pmu=ppc604e", "-e", "bpu_results", X86], ["x86-64 program", "intel_v1, intel_v2, core2, nehalem, skylake"]),
]


@sampled(54)
@each(("words", "said"), MISTAKES, ids=[" ".join(words)[:60] for words, _ in MISTAKES])
def test_a_mistake_gets_its_rule_and_what_is_legal(words: list[str], said: list[str]) -> None:
    line = declined(*words)
    for text in said:
        assert text in line


NOT_HONOURED = [
    (["--event-thresholds=1", "-e", "misaligned_loads_retired"], "--event-thresholds"),
    (["--event-thresholds=1", "-e", "fe_lost_bw_all"], "--event-thresholds"),
    (["--system-wide", *NOPS], "--system-wide"),
    (["--slow", "-e", "cpu_cycles"], "--slow"),
    (["--btb-ds", "-e", "branch_event"], "--btb-ds"),
]


@pytest.mark.parametrize(("words", "said"), NOT_HONOURED)
def test_what_a_run_does_not_honour_is_refused_and_still_checked(words: list[str], said: str) -> None:
    assert said in declined(*words, example("fib"))
    assert answer(CHECK, *words).startswith("itanium2 can count this:\n")
