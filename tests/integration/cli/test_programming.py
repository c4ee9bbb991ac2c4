"""The examples of pfmon's page on Itanium 2, sections 3, 4, 5 and 8, through the command line.

Symbols are replaced by the addresses that the page shows for them. Register values are put together here from
the fields that the manuals give, not taken from the program.
"""

import re

import pytest
from answers import answer, declined, said
from command import example
from grids import each

CHECK = "--check-events-only"
PLM_USER, PLM_KERNEL, OI = 8, 1, 1 << 5


def programmed(*words: str) -> str:
    """What --check-events-only -v says."""
    return answer(CHECK, "--verbose", *words)


def registers(text: str) -> dict[str, int]:
    """The PMC values in the output."""
    return {name: int(value, 16) for name, value in re.findall(r"^\[(pmc\d+)=(0x[0-9a-f]+)", text, re.M)}


def written(name: str, text: str) -> int:
    """The value of one register in the output."""
    found = re.search(rf"\b{name}=(0x[0-9a-f]+)", text)
    assert found, text
    return int(found[1], 16)


def counter(code: int, umask: int = 0, plm: int = PLM_USER, threshold: int = 0, ism: int = 0) -> int:
    """A counter's configuration on Itanium 2: plm 3:0, oi 5, es 15:8, umask 19:16, threshold 22:20, ism 25:24."""
    return plm | OI | code << 8 | umask << 16 | threshold << 20 | ism << 24


# Section 3: thresholds.


def test_threshold_of_five_selects_cycles_with_six_nops() -> None:
    text = programmed("--event-threshold=5", "-e", "nops_retired")
    assert registers(text)["pmc4"] == counter(0x50, threshold=5)


def test_thresholds_apply_in_the_order_of_the_events() -> None:
    text = programmed("--event-thresholds=,3", "-e", "ia64_inst_retired,nops_retired")
    assert registers(text)["pmc4"] == counter(0x08)
    assert registers(text)["pmc5"] == counter(0x50, threshold=3)


def test_threshold_beyond_the_largest_increment_names_the_legal_ones() -> None:
    assert "0-5" in declined(CHECK, "--event-threshold=6", "-e", "nops_retired")
    assert "threshold is 0" in declined(CHECK, "--event-threshold=1", "-e", "cpu_cycles")


# Section 4: opcode matching.


def test_opcode_match_for_br_cloop_goes_to_pmc8() -> None:
    text = programmed("--opc-match8=:0x2000140:0x7ffe3f", "-e", "IA64_TAGGED_INST_RETIRED_IBRP0_PMC8")
    # match 59:33, mask 29:3, slot types m i f b 63:60, ig_ad 0, bit 2 one (Itanium 2 manual, PMC8)
    assert registers(text)["pmc8"] == 0xF << 60 | 0x2000140 << 33 | 0x7FFE3F << 3 | 1 << 2 | 1
    assert registers(text)["pmc15"] == 0xFFFFFFFF & ~1  # ibrp0 takes PMC8


def test_opcode_match_takes_slot_types() -> None:
    text = programmed("--opc-match9=mb:0x1:0x2", "-e", "IA64_TAGGED_INST_RETIRED_IBRP1_PMC9")
    assert registers(text)["pmc9"] >> 60 == 0b1001  # m i f b


def test_opcode_match_is_refused_for_an_event_without_it_unless_unchecked() -> None:
    matcher = "--opc-match8=:0x2000140:0x7ffe3f"
    line = declined(CHECK, matcher, "-e", "cpu_cycles")
    assert line.startswith("pfmon: CPU_CYCLES cannot be ") and "(event_must_support_opcode_matching; " in line
    status, text, line = said(CHECK, "-v", matcher, "--no-qual-check", "-e", "cpu_cycles")
    assert (status, "CPU_CYCLES" in text) == (0, True)
    assert line == "pfmon: CPU_CYCLES: the opcode matcher of PMC8 does not constrain it: it has no opcode check\n"
    assert "NOPS_RETIRED" in programmed(matcher, "-e", "nops_retired")


def test_montecito_matches_all_41_bits() -> None:
    everything = (1 << 41) - 1
    text = programmed(
        "--pmu=montecito",
        f"--opc-match32=i:{everything:#x}:0",
        f"--opc-match34=:0:{everything:#x}",
        "-e",
        "IA64_TAGGED_INST_RETIRED_IBRP0_PMC32_33",
    )
    made = registers(text)
    assert (made["pmc33"], made["pmc35"]) == (everything, 0)
    assert (made["pmc32"] & everything, made["pmc34"] & everything) == (0, everything)


# Section 5: event address registers.


@pytest.mark.parametrize(
    ("event", "register", "words"),
    [
        ("DATA_EAR_CACHE_LAT64", "pmc11", {"umask": 4, "mode": 0}),
        ("DATA_EAR_CACHE_LAT4", "pmc11", {"umask": 0, "mode": 0}),
        ("DATA_EAR_TLB_VHPT", "pmc11", {"umask": 4, "mode": 1}),
        ("L1I_EAR_TLB_VHPT", "pmc10", {"umask": 2, "ct": 0}),
        ("L1I_EAR_CACHE_LAT8", "pmc10", {"umask": 0xFE, "ct": 1}),
    ],
)
def test_an_events_name_sets_the_event_address_register(event: str, register: str, words: dict[str, int]) -> None:
    value = registers(programmed("-e", event))[register]
    text = answer("--decode", f"{register}={value:#x}")
    fields = {name: int(content, 16) for name, content in re.findall(r"^ +\S+ (\w+) +(0x[0-9a-f]+)", text, re.M)}
    assert fields["plm"] == PLM_USER
    assert words.items() <= fields.items()


# Section 6 and the branch buffers of the other processors.


def test_branch_filters_are_combined() -> None:
    made = registers(programmed("--btb-tm-tk", "--btb-ppm-incorrect", "--btb-brt-ret", "-e", "branch_event"))
    # plm 3:0, tm 9:8 taken = 2, ptm 11:10 all = 3, ppm 13:12 wrong = 1, brt 15:14 returns = 2
    assert made["pmc12"] == PLM_USER | 2 << 8 | 3 << 10 | 1 << 12 | 2 << 14


def test_montecito_and_itanium_have_filters_of_their_own() -> None:
    made = registers(programmed("--pmu=montecito", "--etb-tm-ntk", "-e", "etb_event"))
    assert made["pmc39"] == PLM_USER | 1 << 8 | 3 << 10 | 3 << 12
    made = registers(programmed("--pmu=itanium", "--btb-no-tar", "-e", "branch_event"))
    assert made["pmc12"] == PLM_USER | 0 << 7 | 3 << 8 | 3 << 10 | 3 << 12 | 1 << 14 | 1 << 15
    made = registers(programmed("--pmu=montecito", "--ip-ear=5", "-e", "nops_retired"))
    assert "delay" in answer("--pmu=montecito", "--decode", f"pmc42={made['pmc42']:#x}")


# Section 7: instruction sets.


def test_instruction_sets_apply_in_the_order_of_the_events() -> None:
    made = registers(programmed("--insn-sets=,ia64", "-e", "l2_misses,l2_misses"))
    assert {made["pmc4"] >> 24, made["pmc5"] >> 24} == {0, 2}
    made = registers(programmed("--insn-sets=ia32", "-e", "l2_misses,l2_misses"))
    assert {made["pmc4"] >> 24, made["pmc5"] >> 24} == {0, 1}
    assert registers(programmed("--ia64", "-e", "nops_retired"))["pmc4"] == counter(0x50, ism=2)


# Section 8: address ranges.

RANGES = [
    (
        ["--irange=0x1000-0x1590", "-e", "ia64_inst_retired"],
        "irange is [0x1000-0x1590)=1424 bytes\n",
        """\
[0x1000-0x1590): 2 register pair(s), fine_mode
start offset: -0x0 end_offset: +0x10
brp0:  db0: 0x0000000000001000 db1: plm=0x8 mask=0x00000000fffff000
brp2:  db4: 0x0000000000001590 db5: plm=0x8 mask=0x00000000fffff000
""",
    ),
    (
        [
            "--irange=0x40000000000004c0-0x4000000000000690",
            "-eloads_retired,nops_retired,loads_retired",
        ],
        "irange is [0x40000000000004c0-0x4000000000000690)=464 bytes\n",
        """\
[0x40000000000004c0-0x4000000000000690): 2 register pair(s), fine_mode
start offset: -0x0 end_offset: +0x10
brp0:  db0: 0x40000000000004c0 db1: plm=0x8 mask=0x00fffffffffff000
brp2:  db4: 0x4000000000000690 db5: plm=0x8 mask=0x00fffffffffff000
""",
    ),
    (
        ["-eloads_retired", "--drange=0x6000000000001800-0x6000000000003800"],
        "drange is [0x6000000000001800-0x6000000000003800)=8192 bytes\n",
        """\
[0x6000000000001800-0x6000000000003800): 3 register pair(s)
start offset: -0x0 end_offset: +0x0
brp0:  db0: 0x6000000000002000 db1: plm=0x8 mask=0x00fffffffffff000 end=0x6000000000002fff
brp1:  db2: 0x6000000000001800 db3: plm=0x8 mask=0x00fffffffffff800 end=0x6000000000001fff
brp2:  db4: 0x6000000000003000 db5: plm=0x8 mask=0x00fffffffffff800 end=0x60000000000037ff
""",
    ),
    (
        [
            "--irange=0x4000000000003000-0x40000000000030d0",
            "--drange=0x600000000001c000-0x6000000000024000",
            "-eloads_retired",
        ],
        "irange is [0x4000000000003000-0x40000000000030d0)=208 bytes\n"
        "drange is [0x600000000001c000-0x6000000000024000)=32768 bytes\n",
        """\
[0x4000000000003000-0x40000000000030d0): 2 register pair(s), fine_mode
start offset: -0x0 end_offset: +0x10
brp0:  db0: 0x4000000000003000 db1: plm=0x8 mask=0x00fffffffffff000
brp2:  db4: 0x40000000000030d0 db5: plm=0x8 mask=0x00fffffffffff000
[0x600000000001c000-0x6000000000024000): 2 register pair(s)
start offset: -0x0 end_offset: +0x0
brp0:  db0: 0x6000000000020000 db1: plm=0x8 mask=0x00ffffffffffc000 end=0x6000000000023fff
brp1:  db2: 0x600000000001c000 db3: plm=0x8 mask=0x00ffffffffffc000 end=0x600000000001ffff
""",
    ),
    (
        ["-k", "--checkpoint-func=0xa00000010011f7c0", "-eia64_inst_retired"],
        "checkpoint function at 0xa00000010011f7c0\n",
        """\
[0xa00000010011f7c0-0xa00000010011f7d0): 1 register pair(s)
start offset: -0x0 end_offset: +0x0
brp0:  db0: 0xa00000010011f7c0 db1: plm=0x1 mask=0x00fffffffffffff0 end=0xa00000010011f7cf
""",
    ),
]


@pytest.mark.parametrize(("words", "first", "last"), RANGES)
def test_ranges_print_as_on_the_page(words: list[str], first: str, last: str) -> None:
    text = programmed(*words)
    assert text.startswith(first)
    assert text.endswith(last)


def test_decimal_limits_are_the_same_range() -> None:
    words = ("-e", "ia64_inst_retired")
    assert programmed("--irange=4096-5520", *words) == programmed("--irange=0x1000-0x1590", *words)


def test_inverse_changes_one_bit_of_pmc8() -> None:
    words = ("--irange=0x1000-0x1590", "-enops_retired")
    plain, inverse = registers(programmed(*words)), registers(programmed("--inverse", *words))
    assert inverse["pmc8"] ^ plain["pmc8"] == 1 << 1
    assert {**inverse, "pmc8": 0} == {**plain, "pmc8": 0}


# Section 8.6: a symbol without a size. `ia64-linux-gnu-nm -S examples/ia64/noploop` shows none for __bss_start, and
# heap, which follows 16 bytes on, with one.


def test_size_that_the_symbol_table_lacks_is_said_to_be_an_approximation() -> None:
    text = programmed("--drange=__bss_start", "-eloads_retired", "--", example("noploop"))
    assert text.startswith(
        "using approximation for size of symbol __bss_start\n"
        "symbol __bss_start (data): [0x6000000000001410-0x6000000000001420)=16 bytes\n"
        "drange is [0x6000000000001410-0x6000000000001420)=16 bytes\n"
    )
    assert "approximation" not in programmed("--drange=heap", "-eloads_retired", "--", example("noploop"))


def test_start_of_a_symbol_needs_no_approximation() -> None:
    assert "approximation" not in programmed("--drange=__bss_start-heap", "-eloads_retired", "--", example("noploop"))


# Section 8.3 and PMC.plm, PMC.pm.


@each(("options", "plm"), [([], 8), (["-u"], 8), (["-k"], 1), (["-uk"], 9), (["-0", "-1"], 3), (["-123"], 14)])
def test_levels_add_up(options: list[str], plm: int) -> None:
    assert registers(programmed(*options, "-e", "nops_retired"))["pmc4"] == counter(0x50, plm=plm)


def test_levels_of_events_override_those_of_all() -> None:
    made = registers(programmed("-k", "--priv-levels=,u", "-e", "nops_retired,cpu_cycles"))
    assert made == {**made, "pmc4": counter(0x50, plm=PLM_KERNEL), "pmc5": counter(0x12, plm=PLM_USER)}


def test_levels_of_events_and_ranges_exclude_each_other() -> None:
    line = declined(CHECK, "--priv-levels=k", "--irange=0x1000-0x1590", "-e", "nops_retired")
    assert "ranges_exclude_levels_of_events" in line


def test_system_wide_makes_monitors_privileged() -> None:
    assert registers(programmed("--system-wide", "-e", "nops_retired"))["pmc4"] == counter(0x50) | 1 << 6


# Montecito's own, and other architectures.


def test_montecito_takes_line_states_and_all_threads() -> None:
    (value,) = registers(programmed("--pmu=montecito", "-e", "l3_reads_all_hit:me")).values()
    assert value >> 26 & 31 == 0b11000  # M 30, E 29, S 28, I 27, all 26 (Montecito manual table 3-6)
    (value,) = registers(programmed("--pmu=montecito", "--all-threads", "-e", "l2d_bypass_l3_data1")).values()
    assert value >> 26 & 31 == 0b00001


def test_intel_counters_take_threshold_inversion_and_edges() -> None:
    text = programmed("--pmu=intel_v2", "-uk", "-e", "llc_misses", "--event-thresholds=2", "--invert=y", "--edge=y")
    # event 0x2e umask 0x41, USR 16, OS 17, E 18, EN 22, INV 23, CMASK 31:24 (Intel SDM 3, figure 30-6)
    wanted = 0x2E | 0x41 << 8 | 1 << 16 | 1 << 17 | 1 << 18 | 1 << 22 | 1 << 23 | 2 << 24
    value = written("ia32_perfevtsel0", text)
    assert value & ~(1 << 20) == wanted  # INT is not asked for here


def test_powerpc_controls_are_fields_of_mmcr0() -> None:
    words = ("--pmu=ppc604e", "-e", "processor_cycles")
    plain, more = (
        written("mmcr0", programmed(*words, *extra)) for extra in ((), ("--controls=pmctrigger=1,threshold=20",))
    )
    # Bits are numbered from the left: THRESHOLD 10:15, PMCTRIGGER 18 (PowerPC 604 manual, table 9-1).
    assert plain ^ more == 20 << 16 | 1 << 13


def test_decoding_explains_a_dump() -> None:
    text = answer("--decode", "pmc4=0x5028 pmd4=0x11")
    assert "PMD4 counts NOPS_RETIRED at user" in text and "holds 17" in text


@pytest.mark.parametrize("pmu", ["intel_v1", "intel_v2", "ppc604e", "ibm1994"])
def test_pmus_of_other_architectures_answer_questions(pmu: str) -> None:
    names = answer(f"--pmu={pmu}", "-l").split()
    assert names
    assert names[0] in answer(f"--pmu={pmu}", "-i", names[0])
    assert pmu in answer(f"--pmu={pmu}", "-I")
    assert answer(f"--pmu={pmu}", CHECK, "-e", names[0]).startswith(f"{pmu} can count this:\n")
