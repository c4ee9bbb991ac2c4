"""The objects that a run returns: by name, as JSON, as tables of pandas; and what is refused."""

import json
import subprocess
import sys
from typing import Any

import pytest
from command import example, refused
from grids import each, sampled

import pfmon

FIB = [example("fib"), "8"]


@pytest.fixture(scope="module")
def full() -> pfmon.Run:
    """A run with every table but the cycle breakdown."""
    return pfmon.run(
        FIB,
        events=["ia64_inst_retired", "loads_retired"],
        per_function=True,
        per_block=True,
        annotate="main",
        print_interval=0.001,
        irange="main",
        stdout=pfmon.DEVNULL,
    )


def test_counts_are_found_by_place_and_by_any_spelling_of_the_name(full: pfmon.Run) -> None:
    count = full.counts["IA64_INST_RETIRED"]
    assert count is full.counts["ia64_inst_retired"] is full.counts[0]
    assert (count.name, count.formula, len(full.counts)) == ("IA64_INST_RETIRED", "", 2)
    assert "Loads_Retired" in full.counts and "cpu_cycles" not in full.counts
    with pytest.raises(pfmon.UnknownNameError, match="LOADS_RETIRED"):
        full.counts["load_retired"]


def test_tables_add_up_to_the_counts(full: pfmon.Run) -> None:
    totals = [count.value for count in full.counts]
    assert full.functions and full.blocks and full.annotated and full.intervals
    for table in (full.functions, full.blocks):
        assert [sum(row.values[place] for row in table) for place in range(2)] == totals
    assert [sum(one.counts[place] for one in full.intervals) for place in range(2)] == totals
    inside = [one.counts for one in full.annotated if one.counts]
    assert sum(values[0] for values in inside) == full.functions["main"].values[0]


def test_everything_is_json(full: pfmon.Run) -> None:
    report = pfmon.run(FIB, report="cpi", stdout=pfmon.DEVNULL)
    assert report.cpi and full.annotated and full.intervals and full.functions and full.blocks
    parts = [full, full.counts, full.counts[0], full.functions, full.functions[0], full.blocks, full.annotated]
    parts += [full.annotated[0], full.intervals, full.programming, report, report.cpi, report.cpi.functions[0]]
    for part in parts:
        data = part.to_dict()
        assert json.loads(json.dumps(data)) == data, part


def test_tables_of_pandas_hold_the_same_numbers(full: pfmon.Run) -> None:
    pytest.importorskip("pandas")
    report = pfmon.run(FIB, report="cpi", stdout=pfmon.DEVNULL)
    assert report.cpi and full.annotated and full.intervals and full.functions and full.blocks
    total = full.counts[0].value
    assert full.to_pandas().loc["IA64_INST_RETIRED", "count"] == total
    for table in (full.functions, full.blocks, full.intervals):
        assert table.to_pandas()["IA64_INST_RETIRED"].sum() == total
    assert len(full.annotated.to_pandas()) == len(full.annotated)
    assert list(full.programming.to_pandas()["event"]) == full.counts.names
    frame = report.cpi.to_pandas()
    assert frame.drop(columns="instructions").to_numpy().sum() == report.cpi.cycles


@pytest.mark.slow
def test_without_pandas_there_is_one_clear_line() -> None:
    code = (
        "import sys; sys.modules['pandas'] = None\nimport pfmon\n"
        f"run = pfmon.run({FIB!r}, events='loads_retired', capture=True)\n"
        "try: run.to_pandas()\nexcept pfmon.PfmonError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "to_pandas() needs pandas, which is not installed: pip install pandas\n"


REFUSED: list[tuple[list[str], dict[str, Any]]] = [
    (["-e", "no_such_event"], {"events": "no_such_event"}),
    (["--pmu=pentium"], {"pmu": "pentium"}),
    (["-e", "loads_retired", "--irange=nowhere"], {"events": "loads_retired", "irange": "nowhere"}),
    (["-e", "loads_retired", "--inverse-irange"], {"events": "loads_retired", "inverse_irange": True}),
    (["--irange=main"], {"irange": "main"}),
    (["-e", "loads_retired", "-e", "nops_retired"], {"events": [["loads_retired"], ["nops_retired"]]}),
    (["-e", "loads_retired", "--switch-timeout=1"], {"events": ["loads_retired"], "switch_timeout": 1}),
    (["--report=top"], {"report": "top"}),
    (["--report=cpi", "-e", "loads_retired"], {"report": "cpi", "events": "loads_retired"}),
    (["-e", "loads_retired,stores_retired"], {"events": ["loads_retired", "stores_retired"]}),
    (["--machine=abacus"], {"machine": "abacus"}),
    (["--set=l3.size=tall"], {"set": {"l3.size": "tall"}}),
    (["--session-timeout=-1"], {"timeout": -1}),
    (["-e", "loads_retired", "--opc-match32=br.ret"], {"events": "loads_retired", "opc_match32": "br.ret"}),
    (["-e", "loads_retired", "--event-thresholds=1,2"], {"events": "loads_retired", "event_thresholds": [1, 2]}),
    (["-e", "l*"], {"events": "l*"}),
    (["--env=PFMON_NO_SUCH"], {"environment": ["PFMON_NO_SUCH"]}),
    (["--memory-limit=much"], {"memory_limit": "much"}),
    (["--memory-limit=16777216T"], {"memory_limit": "16777216T"}),
    ([f"--memory-limit={1 << 64}"], {"memory_limit": 1 << 64}),
]


@sampled(8)
@each(("words", "options"), REFUSED, ids=lambda one: one[0] if isinstance(one, list) else "")
def test_mistakes_are_told_in_the_commands_words(words: list[str], options: dict[str, Any]) -> None:
    said = refused(*words, *FIB).removeprefix("pfmon: ").rstrip("\n")
    with pytest.raises(pfmon.PfmonError) as caught:
        pfmon.run(FIB, **options)
    assert str(caught.value).replace("--timeout", "--session-timeout").replace("--environment", "--env") == said


@each(
    ("options", "said"),
    [
        ({"evnts": "x"}, "unknown option 'evnts'; nearest: events"),
        ({"per_function": "yes"}, "--per-function='yes': True or False is wanted"),
        ({"seed": True}, "--seed=True: a number is wanted"),
        ({"irange": (1, 2, 3)}, "--irange=(1, 2, 3): START-END, a symbol, or a pair of addresses is wanted"),
        ({"events": [1.5]}, "--events=1.5: a name, a number, or a sequence of them is wanted"),
        ({"levels": "x"}, "--levels='x': letters of u k 0 1 2 3 is wanted"),
    ],
)
def test_values_of_a_wrong_kind_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(pfmon.PfmonError) as caught:
        pfmon.run(FIB, **options)
    assert str(caught.value) == said


@pytest.mark.parametrize("command", [[], [1], 5])
def test_a_command_is_a_program_and_its_arguments(command: Any) -> None:
    with pytest.raises((pfmon.PfmonError, TypeError)):
        pfmon.run(command)


def test_a_callback_gets_intervals_and_its_error_ends_the_run() -> None:
    got: list[Any] = []
    done = pfmon.run(FIB, events="loads_retired", print_interval=0.001, on_interval=got.append, capture=True)
    assert done.intervals and [tuple(one.counts) for one in done.intervals] == [tuple(values) for _, values in got]

    def fail(_: object) -> None:
        raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        pfmon.run([example("noploop"), "100000000000"], events="loads_retired", print_interval=0.001, on_interval=fail)


def test_how_a_program_died_is_told(tmp_path: Any) -> None:
    from ia64_program import write_program

    done = pfmon.run(write_program(tmp_path / "dies", ["ld8 r8=[r0]"]))
    assert (done.status, done.signal) == (139, 11)
    assert done.death and done.death.text and "0x" in done.death.where


def test_importing_loads_nothing_but_what_is_used() -> None:
    code = "import sys, pfmon; print(sorted(name for name in sys.modules if name.startswith('pfmon')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['pfmon', 'pfmon.errors']\n"
    assert set(pfmon.__all__) <= set(dir(pfmon))
    assert all(getattr(pfmon, name) is not None for name in pfmon.__all__)
