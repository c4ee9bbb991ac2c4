"""Counts by calls, beside the samples of every single instruction with its calls, which are taken another way."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from command import example
from grids import first_quick
from ia64_tasks import Data, call, threads

import pfmon
from pfmon.session.profile.call_rows import SMALL, CallRow, _without_the_least, call_rows
from pfmon.session.profile.code_profile import Function

PROGRAMS = [("queens", "4"), ("fib", "9"), ("strings", "20"), ("epic",)]


def paths(rows: list[CallRow] | tuple[CallRow, ...]) -> Counter[tuple[str, ...]]:
    """Retired instructions by the names of the functions that the program was in."""
    names: list[tuple[str, ...]] = []
    found: Counter[tuple[str, ...]] = Counter()
    for row in rows:
        names.append((*(names[row.parent] if row.parent >= 0 else ()), row.name))
        found[names[-1]] += row.counts[-1]
    return +found


@pytest.mark.parametrize("program", first_quick(PROGRAMS, single=True), ids=lambda program: program[0])
def test_instructions_by_calls_are_those_of_all_samples(program: tuple[str, ...]) -> None:
    command = [example(program[0]), *program[1:]]
    surveyed = pfmon.run(command, report="html", capture=True).surveyed
    run = pfmon.run(command, events="ia64_inst_retired", long_smpl_periods=1, smpl_stacks=True, capture=True)
    assert surveyed and run.samples
    table = pfmon.run(command, events="ia64_inst_retired", per_function=True, capture=True).functions
    assert table
    starts = sorted((row.address, row.name) for row in table)

    def name(address: int) -> str:
        return [name for start, name in starts if start <= address][-1]

    sampled = Counter(tuple(name(place) for place in (*reversed(one.calls), one.iip)) for one in run.samples)
    assert paths(tuple(surveyed.calls)) == sampled


def test_calls_are_counted() -> None:
    surveyed = pfmon.run([example("hashmap"), "300"], report="html", capture=True).surveyed
    assert surveyed
    calls = {row.name: row.calls for row in surveyed.calls}
    assert (calls["insert"], calls["lookup"], calls["main"]) == (300, 600, 1)  # examples/src/hashmap.c


@pytest.mark.slow
@pytest.mark.parametrize("machine", ["itanium", "itanium2", "montecito"])
def test_cycles_by_calls_are_those_of_the_run(machine: str) -> None:
    surveyed = pfmon.run([example("sort"), "200"], pmu=machine, report="html", capture=True).surveyed
    assert surveyed
    parts = [sum(row.counts[part] for row in surveyed.calls) for part in range(len(surveyed.cpi.parts))]
    assert parts == [surveyed.cpi.total(part) for part in surveyed.cpi.parts]
    by_function: Counter[str] = Counter()
    for row in surveyed.calls:
        by_function[row.name] += sum(row.counts[:-1])
    assert by_function["quicksort"] == sum(*(row.cycles for row in surveyed.cpi.functions if row.name == "quicksort"))


class Names:
    """Names of functions by address."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def row(self, address: int, file: int) -> Function:
        return Function(self._names[address], address)


def test_nodes_of_one_name_are_one_row_and_stubs_none() -> None:
    names = Names("main", "f", "f", "[no symbol]")
    nodes = [
        (0, 0, 0, 0, (1, 1)),
        (0, 1, 0, 2, (10, 3)),
        (0, 2, 0, 1, (5, 4)),
        (2, 3, 0, 7, (2, 2)),
        (1, 1, 0, 1, (1, 0)),
    ]
    assert call_rows(nodes, names) == [  # type: ignore[arg-type]  # names are all that is asked for
        CallRow(-1, "main", 0, (1, 1)),
        CallRow(0, "f", 3, (17, 9)),
        CallRow(1, "f", 1, (1, 0)),
    ]


def test_the_least_rows_are_put_together_and_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pfmon.session.profile.call_rows.MAX_CALL_ROWS", 4)
    rows = [CallRow(-1, "main", 0, (1, 1))]
    rows += [CallRow(0, f"f{n}", 1, (n, 1)) for n in range(1, 9)]
    rows += [CallRow(1, "below a small one", 3, (0, 5)), CallRow(8, "g", 2, (50, 5))]
    kept = _without_the_least(rows)
    assert [sum(row.counts[place] for row in kept) for place in (0, 1)] == [87, 19]
    assert {"main", "f8", "g", SMALL} <= {row.name for row in kept} and len(kept) <= 6
    assert all(row.parent < number for number, row in enumerate(kept))


def test_each_thread_has_calls_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thread n calls a function of six instructions n + 1 times; others run in the middle of each call."""
    data = Data()
    word = data.add("word", bytes(8))
    worker = ["adds r5=1,r4", "again:", "br.call.sptk.few b1=leaf", "adds r5=-1,r5", "cmp.eq p6,p7=r5,r0"]
    worker += ["(p7) br.cond.sptk.few again", *call("exit", 0), "leaf:", "nop.m 0", "br.ret.sptk.few b1"]
    path = threads(tmp_path / "calls", 4, worker, word, data)
    kept: list[Any] = []
    monkeypatch.setattr("pfmon.session.run.report_collector.call_rows", lambda nodes, names: kept.extend(nodes) or [])
    run = pfmon.run(path, report="html", capture=True, quantum=5, schedule_seed=1)
    leaves = [node for node in kept if node[0]]
    assert sorted((calls, counts[-1]) for _, _, _, calls, counts in leaves) == [(1, 6), (2, 12), (3, 18), (4, 24)]
    begun = [kept[leaf[0]] for leaf in leaves]
    assert len({entry for _, entry, _, _, _ in begun}) == 4  # behind its own clone
    assert all((parent, calls) == (0, 1) for parent, _, _, calls, _ in begun)
    assert sum(node[4][-1] for node in kept) == run.retired
