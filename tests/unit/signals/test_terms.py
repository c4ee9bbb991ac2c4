"""The table of what architecture adds to signals: every row says something, once."""

import csv
from collections import Counter
from pathlib import Path

from grids import each

from pfmon.signals import signal_terms
from pfmon.signals.signal_names import signals
from pfmon.stream._stream import Ia64Kind, Kind, PpcKind, X86Kind
from pfmon.stream.marks import Mark

TABLE = Path(signal_terms.__file__).with_name("retired.csv")


def rows() -> list[dict[str, str]]:
    with TABLE.open(newline="", encoding="utf-8") as table:
        return list(csv.DictReader(table))


def test_every_signal_of_the_table_has_a_name_that_says_what_it_is() -> None:
    known = set(signals())
    assert {row["signal"] for row in rows()} <= known


def test_no_row_is_there_twice() -> None:
    twice = [row for row, count in Counter(tuple(row.values()) for row in rows()).items() if count > 1]
    assert twice == []


@each("row", rows(), ids=lambda row: f"{row['signal']} {row['source']}")
def test_every_row_says_what_it_looks_at_and_what_it_adds(row: dict[str, str]) -> None:
    source, of, adds = row["source"], row["of"], row["adds"]
    if source == "never":
        assert len(of) > 10 and not adds
        return
    factor, _, what = adds.rpartition(" ")
    assert factor == "" or int(factor) > 1
    if source.startswith("mark "):
        assert source.removeprefix("mark ") in Mark.__members__
        values = [int(value) for value in of.split()]
        assert values == sorted(set(values)) and set(values) <= {0, 1, 2, 3}  # what a tally tells apart
        assert what in ("count", "low")
        return
    assert source in ("instruction", "failed check") and what in ("retired", "executed", "unexecuted")
    names = [word.lstrip("!") for word in of.split()]
    assert all(any(name in kinds.__members__ for kinds in (Kind, Ia64Kind, PpcKind, X86Kind)) for name in names)
    assert len(set(names)) == len(names), "a kind that is wanted and unwanted"


def test_what_never_happens_has_no_other_terms() -> None:
    never = {row["signal"] for row in rows() if row["source"] == "never"}
    assert all(signal_terms.terms()[signal] == () for signal in never)
    assert not never & {row["signal"] for row in rows() if row["source"] != "never"}
    assert set(signal_terms.terms()) == signal_terms.available() == {row["signal"] for row in rows()}


def test_terms_hold_for_the_kinds_that_they_name() -> None:
    """A check load that reads floating-point registers, and the same without the check."""
    load, check, float_ = int(Kind.LOAD), int(Ia64Kind.LOAD_CHECK), int(Kind.FLOAT)
    (loads,) = [
        term for term in signal_terms.terms()["loads_retired.integer"] if term.source == signal_terms.INSTRUCTION
    ]
    assert loads.kinds == signal_terms.Kinds(load, float_, 0, check)
    assert [loads.kinds.match(kind, isa) for kind in (load, load | float_, 0) for isa in (0, check, 1 << 30)] == [
        True, False, True, False, False, False, False, False, False,
    ]  # fmt: skip
    assert (loads.retired, loads.executed) == (0, 1)


def test_what_marks_add_is_their_number_or_the_low_half_of_their_values() -> None:
    fill, checks = signal_terms.terms()["rse_references.load"], signal_terms.terms()["inst_failed_chka_ldc.int"]
    assert fill == (signal_terms.Term(signal_terms.MARK, mark=Mark.FILL, low=1),)
    assert checks == (signal_terms.Term(signal_terms.MARK, mark=Mark.ALAT_MISS, values=(0, 2), each=1),)


def test_what_is_squashed_is_what_retires_and_does_not_execute() -> None:
    (squashed,) = signal_terms.terms()["predicate_squashed"]
    assert (squashed.retired, squashed.executed) == (1, -1)
    assert squashed.kinds.isa_wanted == Ia64Kind.PREDICATED and squashed.kinds.isa_unwanted == Ia64Kind.SLOT_B
