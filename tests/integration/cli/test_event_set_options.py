"""Options of event sets: each belongs to the last -e before it, and a set counts as in a run with it alone."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from answers import said
from command import example, pfmon, refused
from grids import each, first_quick, sampled

import pfmon as library
from pfmon.cli.command_line import read
from pfmon.errors import PfmonError
from pfmon.library.options.table import OPTIONS as TABLE
from pfmon.library.options.table import TOPICS

HASHMAP = [example("hashmap"), "300"]
PAGE = Path(__file__).resolve().parents[3] / "docs" / "options.md"


def results(*words: str) -> dict[str, Any]:
    done = pfmon("--json", "--no-cmd-output", *words, *HASHMAP)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def alone(event: str, *options: str) -> list[int]:
    return [one["count"] for one in results("-e", event, *options)["events"]]


def trues(*words: str) -> list[int]:
    """The count of each event in the whole run, set by set."""
    found = results("--switch-timeout=0.003", "--true-values", *words)["events"]
    return [one["estimate"]["true"] for one in found]


OPTIONS = [
    ("loads_retired", "--event-thresholds=1"),
    ("cpu_cycles", "--priv-levels=uk"),
    ("ia64_inst_retired", "--insn-sets=ia32"),
    ("nops_retired", "--irange=lookup"),
    ("nops_retired", "--irange=lookup --inverse-irange"),
    ("ia64_inst_retired", "--checkpoint-func=lookup"),
    ("IA64_TAGGED_INST_RETIRED_IBRP0_PMC8", "--opc-match8=br.ret"),
    ("branch_event", "--btb-tm-tk"),
]


@pytest.mark.parametrize(("event", "option"), first_quick(OPTIONS), ids=[option for _, option in OPTIONS])
def test_a_set_with_an_option_counts_as_a_run_with_it(event: str, option: str) -> None:
    plain, qualified = alone(event), alone(event, *option.split())
    assert plain != qualified
    words = option.split()
    assert trues("-e", event, "-e", event, *words) == [*plain, *qualified]
    assert trues("-e", event, *words, "-e", event) == [*qualified, *plain]
    assert trues(*words, "-e", event, "-e", event) == [*qualified, *plain]


@pytest.mark.slow
def test_values_are_those_of_the_events_of_their_set() -> None:
    words = ("-e", "nops_retired,loads_retired", "--event-thresholds=0,1")
    more = ("-e", "ia64_inst_retired,nops_retired", "--event-thresholds=,2")
    assert trues(*words, *more) == [
        *alone("nops_retired"),
        *alone("loads_retired", "--event-thresholds=1"),
        *alone("ia64_inst_retired"),
        *alone("nops_retired", "--event-thresholds=2"),
    ]


RANGE = "--irange=0x4000000000000100-0x4000000000000140"
PROGRAMMED = {
    "itanium2": {
        "event-thresholds": "--event-thresholds=1",
        "priv-levels": "--priv-levels=uk",
        "insn-sets": "--insn-sets=ia64",
        "irange": RANGE,
        "inverse-irange": f"{RANGE} --inverse-irange",
        "checkpoint-func": "--checkpoint-func=0x4000000000000100",
        **{f"opc-match{number}": f"--opc-match{number}=:0x2000140:0x7ffe3f" for number in (8, 9)},
    },
    "montecito": {
        **{f"opc-match{number}": f"--opc-match{number}=:0x8000000140:0x1fffffffe3f" for number in (32, 34)},
        **{f"irange-{what}": f"{RANGE} --irange-{what} --no-qual-check" for what in ("demand-fetch", "prefetch-match")},
        "ip-ear": "--ip-ear=5",
    },
    "intel_v2": {"invert": "--event-thresholds=1 --invert=y", "edge": "--edge=y"},
}
DATA = {"drange": "--drange=0x6000000000001000-0x6000000000001100"}
OF_MATCHERS = {
    "opc-match9": "ia64_tagged_inst_retired_ibrp1_pmc9",
    "opc-match34": "ia64_tagged_inst_retired_ibrp1_pmc34_35",
}
EVENTS = {"itanium2": "nops_retired", "montecito": "nops_retired", "intel_v2": "llc_misses"}


def registers(pmu: str, *words: str) -> str:
    """The registers, as --check-events-only has them."""
    status, out, err = said(f"--pmu={pmu}", "--check-events-only", "--verbose", *words)
    assert status == 0, err
    return out


@pytest.mark.slow
def test_every_option_of_a_set_programs_that_set() -> None:
    """Each set has the registers that it has alone; the table of options says which there are."""
    tried = [
        (pmu, OF_MATCHERS.get(name, event), name, words)
        for pmu, event in EVENTS.items()
        for name, words in PROGRAMMED[pmu].items()
    ]
    tried += [("itanium2", "loads_retired", name, words) for name, words in DATA.items()]
    branches = {"itanium": "branch_event", "itanium2": "branch_event", "montecito": "etb_event"}
    for option in TABLE.values():
        if option.long.startswith(("btb-", "etb-")) and option.long != "btb-ds":
            pmu = next(pmu for pmu in ("itanium2", "montecito", "itanium") if pmu in option.pmus)
            tried.append((pmu, branches[pmu], option.long, f"--{option.long}"))
    for pmu, event, name, words in tried:
        plain, qualified = registers(pmu, "-e", event), registers(pmu, "-e", event, *words.split())
        assert plain != qualified, name
        sets = "-e", event, "-e", event, *words.split(), "--switch-timeout=1"
        assert registers(pmu, *sets) == plain + qualified, name
        assert registers(pmu, *words.split(), *sets[:4], "--switch-timeout=1") == qualified + plain, name
    of_set = {option.long for option in TABLE.values() if option.of_set}
    of_samples = {name for name in of_set if "smpl" in name} | {"branch-filter", "branch-any"}
    of_interrupts = {"excl-intr", "intr-only", "incl-intr", "exclude-idle"}
    assert {name for _, _, name, _ in tried} | of_samples | of_interrupts | {"btb-ds"} == of_set


def raws(*words: str) -> list[int]:
    return [one["estimate"]["raw"] for one in results("--switch-timeout=0.003", *words)["events"]]


@pytest.mark.parametrize("event", first_quick(["loads_retired", "data_references_set1"]))
def test_data_ranges_are_in_force_while_their_set_counts(event: str) -> None:
    """Counts of a set's turns and, in a run with the sets exchanged, of the other ones add up to those of the run."""
    first, second = (f"--drange={limits}" for limits in ranges_of_data())
    one, other = ("-e", event, first), ("-e", event, second)
    whole = [*alone(event, first), *alone(event, second)]
    turns, exchanged = raws(*one, *other), raws(*other, *one)
    assert 0 < whole[0] != whole[1] > 0
    assert [turns[0] + exchanged[1], turns[1] + exchanged[0]] == whole


def ranges_of_data() -> tuple[str, str]:
    """Two ranges of the stack and the data of the program."""
    data = [one for one in samples_of_data() if one]
    middle = sorted(data)[len(data) // 2] & -64
    return f"{middle:#x}-{middle + 64:#x}", f"{min(data) & -4096:#x}-{(max(data) | 4095) + 1:#x}"


def samples_of_data() -> list[int]:
    run = library.run(HASHMAP, events="data_ear_cache_lat4", long_smpl_periods=1, stdout=library.DEVNULL)
    return [dict(sample.pmds)[2] for sample in run.samples]


def test_the_echo_has_the_options_of_each_set() -> None:
    sets = results(
        *("--switch-timeout=1", "-e", "loads_retired", "--event-thresholds=1", "--irange=lookup"),
        *("-e", "nops_retired", "--priv-levels=uk", "--opc-match8=br.ret"),
    )["programming"]
    first, second = (one["pmus"][0] for one in sets)
    assert [first["monitors"][0]["threshold"], second["monitors"][0]["threshold"]] == [1, 0]
    assert [first["monitors"][0]["plm"], second["monitors"][0]["plm"]] == ["u", "ku"]
    assert first["code_range"] and second["code_range"] is None
    assert first["opcode_matchers"][0] is None and second["opcode_matchers"][0]["slots"]


def test_the_command_and_the_library_program_the_same() -> None:
    words = ("-e", "nops_retired,loads_retired", "--event-thresholds=,1", "--irange=lookup")
    command = results(*words, "-e", "nops_retired", "--opc-match8=nop.i", "--inverse-irange", "--irange=main",
                      "--switch-timeout=0.01")  # fmt: skip
    run = library.run(
        HASHMAP,
        events=[["nops_retired", "loads_retired"], ["nops_retired"]],
        event_thresholds=[[None, 1], None],
        irange=["lookup", "main"],
        inverse_irange=[False, True],
        opc_match8=[None, "nop.i"],
        switch_timeout=0.01,
        capture=True,
    )
    echo = run.to_dict()
    assert echo["programming"] == command["programming"] and echo["events"] == command["events"]


def test_a_plain_value_of_the_library_is_the_first_sets() -> None:
    events = [["nops_retired"], ["nops_retired"]]
    run = library.run(HASHMAP, events=events, switch_timeout=0.01, irange="lookup", capture=True)
    ranges = [one["pmus"][0]["code_range"] for one in run.to_dict()["programming"]]
    assert ranges[0] and ranges[1] is None


def test_more_values_than_event_sets_are_refused() -> None:
    with pytest.raises(PfmonError, match="2 values for 1 event set"):
        library.run(HASHMAP, events="nops_retired", irange=["lookup", "main"])


def stamps(*words: str) -> list[tuple[int, int]]:
    """STAMP and SET of each sample."""
    samples = results("--switch-timeout=0.003", *words)["samples"]
    return [(one["stamp"], one["set"]) for one in samples]


@pytest.mark.slow
def test_periods_are_those_of_the_set_before_them() -> None:
    count = "ia64_inst_retired"
    assert {number for _, number in stamps("-e", count, "-e", count, "--long-smpl-periods=100")} == {1}
    assert {number for _, number in stamps("--long-smpl-periods=100", "-e", count, "-e", count)} == {0}
    both = stamps("-e", count, "--long-smpl-periods=70", "-e", count, "--long-smpl-periods=110")
    for number, period in ((0, 70), (1, 110)):
        # Turns are 3,000 instructions: what a set has counted is the run's without the other one's turns.
        own = [at - 3000 * ((at - 1) // 6000 + number) for at, one in both if one == number]
        assert own == [period * nth for nth in range(1, len(own) + 1)] and len(own) > 20


def test_registers_in_samples_are_those_of_their_set() -> None:
    words = ("-e", "ia64_inst_retired", "--long-smpl-periods=500", "--extra-smpl-pmds=8-9,12")
    found = results(*words, "-e", "ia64_inst_retired", "--long-smpl-periods=500", "--switch-timeout=0.003")
    registers = {(one["set"], tuple(sorted(map(int, one["pmds"])))) for one in found["samples"]}
    assert registers == {(0, (8, 9, 12)), (1, ())}


TWICE = [
    *("--event-thresholds=1", "--priv-levels=u", "--insn-sets=ia64", "--irange=main", "--drange=0x6000-0x7000"),
    *("--checkpoint-func=main", "--opc-match8=br.ret", "--long-smpl-periods=7", "--short-smpl-periods=7"),
    *("--smpl-periods-random=1:1", "--extra-smpl-pmds=8", "--reset-non-smpl-periods", "--reset-non-smpl-periods=4"),
]


@sampled(6)
@each("option", TWICE)
def test_an_option_is_given_once_for_a_set(option: str) -> None:
    name = option.partition("=")[0]
    for words in (("-e", "nops_retired", option, option), (option, "-e", "nops_retired", option)):
        assert f"{name} is given twice" in refused(*words, *HASHMAP)
    words = ("-e", "nops_retired", "-e", "nops_retired", option, option, "--switch-timeout=1")
    assert f"{name} is given twice for one event set (-e)" in refused(*words, *HASHMAP)
    of_each = ["-e", "nops_retired", "--long-smpl-periods=9"]
    line = read([*of_each, *of_each, "--switch-timeout=1", "prog"])
    assert [one.long_smpl_periods for one in line.options.sets] == ["9", "9"]


@each(
    ("words", "reason"),
    [
        (("-e", "nops_retired", "-e", "loads_retired", "--event-thresholds=0,1"), "2 values for 1 event"),
        (("-e", "nops_retired", "-e", "nops_retired", "--inverse-irange", "--irange=main"), ""),
        (("-e", "nops_retired", "--irange=main", "-e", "nops_retired", "--inverse-irange"), "give --irange too"),
        (("-e", "nops_retired", "--irange=main", "--priv-levels=u", "-e", "nops_retired"), "does not go with a range"),
        (
            ("-e", "nops_retired", "--long-smpl-periods=9", "-e", "nops_retired", "--extra-smpl-pmds=8"),
            "same event set",
        ),
        (("-e", "nops_retired", "--excl-intr", "-e", "nops_retired", "--intr-only"), ""),
        (("-e", "nops_retired", "-e", "nops_retired", "--excl-intr", "--intr-only"), "exclude each other"),
    ],
)
def test_rules_are_of_one_set(words: tuple[str, ...], reason: str) -> None:
    words = (*words, "--switch-timeout=1", *HASHMAP)
    if reason:
        assert reason in refused(*words)
    else:
        assert pfmon("--no-cmd-output", *words).returncode == 0


def test_a_range_of_some_sets_alone_is_said() -> None:
    words = ("-e", "nops_retired", "--irange=main", "-e", "nops_retired", "--switch-timeout=1", *HASHMAP)
    lines = pfmon("--no-cmd-output", *words).stderr
    assert "--irange is of the event set (-e) before it; without one counts set 1" in lines


def test_true_values_want_one_data_range() -> None:
    words = ("-e", "loads_retired", "--drange=0x6000-0x7000", "-e", "loads_retired", "--switch-timeout=1")
    assert "give all sets the same one" in refused(*words, "--true-values", *HASHMAP)


@pytest.mark.slow
def test_levels_and_instruction_sets_are_of_all_sets() -> None:
    """Pfmon on Itanium 2, sections 7.2 and 8.3: -u and -k are global, --ia32 and --ia64 apply to all events."""
    assert trues("-e", "ia64_inst_retired", "-e", "ia64_inst_retired", "--ia32") == [0, 0]
    assert trues("-e", "cpu_cycles", "-e", "cpu_cycles", "-u", "-k") == [*alone("cpu_cycles", "-uk")] * 2


@pytest.mark.slow
def test_both_instruction_sets_are_both() -> None:
    event = "ia64_inst_retired"
    assert alone(event, "--ia32", "--ia64") == alone(event, "--ia64", "--ia32") == alone(event) > [0]
    run = library.run(HASHMAP, events=event, ia32=True, ia64=True, capture=True)
    assert [run.counts[0].value] == alone(event)


@pytest.mark.parametrize("levels", ["u,k,uk", "k,u,u", "u,u,1", "u,2,u"])
def test_a_level_that_a_run_does_not_honour_is_refused(levels: str) -> None:
    """Also where the same event stands there at another level."""
    for events in ("nops_retired,nops_retired,nops_retired", "nops_retired,loads_retired,ia64_inst_retired"):
        assert "privilege mask without level 3" in refused("-e", events, f"--priv-levels={levels}", *HASHMAP)


def page_names(heading: str) -> list[str]:
    section = PAGE.read_text().partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"`--([\w-]+)`", section)


def test_the_page_lists_which_options_belong_to_a_set() -> None:
    topics = [one for one in TOPICS if any(option.of_set for option in one.options)]
    options = [option for topic in topics for option in topic.options]
    of_set = [option.long for option in options if option.of_set]
    of_run = [option.long for option in options if not option.of_set]
    assert sorted(page_names("Options of an event set")) == sorted(of_set)
    assert sorted(set(page_names("Options of the run")) - {"help"}) == sorted(of_run)


def test_help_marks_the_options_of_an_event_set() -> None:
    blocks = re.split(r"\n {2}(?:-\w, | {4})--", pfmon("--help-all", "--pmu=montecito").stdout)[1:]
    marked = {re.split(r"[=\[\s]", block)[0]: "[set]" in block.partition("\n\n")[0] for block in blocks}
    assert len(marked) > 100
    assert marked == {name: TABLE[name].of_set for name in marked}


def test_options_without_a_value_may_be_repeated() -> None:
    assert alone("nops_retired", "--irange=lookup", "--inverse-irange", "--inverse-irange") == alone(
        "nops_retired", "--irange=lookup", "--inverse-irange"
    )
