"""The table of options: a row has a field where its value is kept, and the command line and the library, which are both
made of the rows, keep the same."""

import pytest

from pfmon.cli.command_line import read
from pfmon.cli.output_options import OutputOptions
from pfmon.errors import PfmonError
from pfmon.library.keywords import KEYWORDS, options_of
from pfmon.library.options.needs import NEEDS, given
from pfmon.library.options.option_record import OptionRecord
from pfmon.library.options.run_options import Options
from pfmon.library.options.set_options import SetOptions
from pfmon.library.options.table import OPTIONS


def test_every_option_has_a_field_where_its_value_is_kept() -> None:
    options, output = Options(), OutputOptions()
    lacking = [name for name, one in OPTIONS.items() if not hasattr(one.owner(options, output), one.attribute)]
    assert lacking == []


def test_every_keyword_has_a_field_of_a_run() -> None:
    options = Options()
    lacking = [
        name for name, one in KEYWORDS.items() if not hasattr(SetOptions() if one.of_set else options, one.attribute)
    ]
    assert lacking == ["report"]  # the command's has a file, too


@pytest.mark.parametrize("record", [Options, SetOptions, OutputOptions])
def test_every_field_has_a_value_without_options(record: type[OptionRecord]) -> None:
    made = record()
    assert [name for name in record.__annotations__ if not hasattr(made, name)] == []


def test_what_rows_need_is_explained() -> None:
    assert {need for one in OPTIONS.values() for need in one.needs} == {*NEEDS}


@pytest.mark.parametrize(
    ("words", "need", "option"),
    [
        (["--smpl-skid=1"], "samples", "--smpl-skid"),
        (["--smpl-per-function"], "samples", "--smpl-per-function"),
        (["--smpl-data-view"], "samples", "--smpl-data-view"),
        (["--extra-smpl-pmds=4"], "samples of the set", "--extra-smpl-pmds"),
        (["--inverse-irange"], "a code range", "--inverse-irange"),
        (["-e", "none", "--print-interval=1"], "events", "--print-interval"),
        (["--true-values"], "event sets", "--true-values"),
        (["--replay=f", "--host-ids"], "a program", "--host-ids"),
        (["--partial"], "a recording", "--partial"),
        (["--tolerance=1%"], "a baseline", "--tolerance"),
        (["--aggregate-results"], "children", "--aggregate-results"),
        (["--no-smt-rules"], "two programs", "--no-smt-rules"),
    ],
)
def test_a_need_that_is_not_met_is_said(words: list[str], need: str, option: str) -> None:
    with pytest.raises(PfmonError) as error:
        read([*words, "program"])
    said = NEEDS[need].message.replace("{}", option)
    assert str(error.value).startswith(said) and {option, *NEEDS[need].others} <= {*error.value.subjects}


def test_given_options_are_those_with_another_value() -> None:
    line = read(["--host-clock", "--cores=1", "--memory-limit=1G", "--env=A=1", "program"])
    assert given("a program", line.options) == ["--env", "--host-clock", "--memory-limit"]


EVENTS = ("-e", "loads_retired,stores_retired")
SAME: list[tuple[tuple[str, ...], dict[str, object]]] = [
    (("--pmu=montecito", "--all-threads"), {"pmu": "montecito", "all_threads": True}),
    (("--set=l3.size=9M", "--set=l2.ways=4"), {"set": {"l3.size": "9M", "l2.ways": 4}}),
    (("-u", "-k"), {"levels": "uk"}),
    (("--ia32",), {"ia32": True}),
    (("--event-thresholds=1,2",), {"event_thresholds": [1, 2]}),
    (("--invert=y,n",), {"invert": "y,n"}),
    (("--controls=Enint=1",), {"controls": {"enint": 1}}),
    (("--irange=0x4000-0x4400", "--inverse-irange"), {"irange": (0x4000, 0x4400), "inverse_irange": True}),
    (("--checkpoint-func=0x4000",), {"checkpoint_func": 0x4000}),
    (("--opc-match8=br.cloop",), {"opc_match8": "br.cloop"}),
    (("--btb-tm-tk", "--btb-brt-ret"), {"btb": ["tm-tk", "brt-ret"]}),
    (("--trigger-code-start-addresses=main,0x4000",), {"trigger_code_start_addresses": ["main", 0x4000]}),
    (
        ("--trigger-data-start-addresses=table", "--trigger-data-ro"),
        {"trigger_data_start_addresses": "table", "trigger_data_ro": True},
    ),
    (("--trigger-event=loads_retired:5",), {"trigger_event": "loads_retired:5"}),
    (("--print-interval=0.5",), {"print_interval": 0.5}),
    (("--no-demangle", "--debug-dir=/"), {"no_demangle": True, "debug_dir": "/"}),
    (("--no-qual-check",), {"no_qual_check": True}),
    (("--long-smpl-periods=100,", "--smpl-entries=16"), {"long_smpl_periods": [100, None], "smpl_entries": "16"}),
    (
        ("--long-smpl-periods=100", "--reset-non-smpl-periods"),
        {"long_smpl_periods": 100, "reset_non_smpl_periods": True},
    ),
    (("--follow-exec",), {"follow_exec": True}),
    (("--follow-all", "--follow-exec-exclude=/bin/.*"), {"follow_all": True, "follow_exec_exclude": "/bin/.*"}),
    (("--session-timeout=1.5", "--env=A=1", "--env=B"), {"timeout": 1.5, "environment": {"A": 1, "B": None}}),
    (("--engine=ia64",), {"engine": "ia64"}),
    (("--memory-limit=1G", "--seed=0x10", "--quantum=5"), {"memory_limit": "1G", "seed": 16, "quantum": "5"}),
]


def everything(options: Options, fields: set[str]) -> tuple[dict[str, object], list[dict[str, object]]]:
    """The values of some fields, and those of the event sets."""
    return {name: getattr(options, name) for name in fields}, [vars(one) for one in options.sets]


@pytest.mark.parametrize(("words", "keywords"), SAME)
def test_the_command_line_and_the_library_keep_the_same(words: tuple[str, ...], keywords: dict[str, object]) -> None:
    plain, typed = read([*EVENTS, "program"]).options, read([*EVENTS, *words, "program"]).options
    named = options_of({"events": EVENTS[1], **keywords})
    fields = {*vars(named), *vars(typed)} & {*Options.__annotations__} - {"sets", "use_default_events"}
    assert everything(plain, fields) != everything(typed, fields) == everything(named, fields)
