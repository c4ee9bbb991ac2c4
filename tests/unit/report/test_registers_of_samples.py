"""Samples of several events may have different registers: no value gets into the column of another."""

from pfmon.library.results.samples import Samples
from pfmon.report.sampling.compact import Compact
from pfmon.report.sampling.sampling_module import ModuleContext
from pfmon.session.sampling.sampling_period import Sample

MIXED = [
    Sample(0x4000, 1, (4,), 100, 0, ((2, 22), (3, 33))),
    Sample(0x4001, 2, (5,), 100, 0, ()),
    Sample(0x4002, 3, (6,), 100, 0, ((8, 88), (2, 23))),
]


def test_columns_have_each_registers_values() -> None:
    frame = Samples(MIXED).to_pandas()
    assert {name: list(frame[name]) for name in ("pmd2", "pmd3", "pmd8")} == {
        "pmd2": [22, 0, 23],
        "pmd3": [33, 0, 0],
        "pmd8": [0, 0, 88],
    }
    array = Samples(MIXED).to_numpy()
    assert array.dtype.names == ("iip", "stamp", "overflowed", "last_val", "set", "pmd2", "pmd3", "pmd8")
    assert [list(row)[5:] for row in array.tolist()] == [[22, 33, 0], [0, 0, 0], [23, 0, 88]]


def test_samples_without_any_have_no_columns_of_registers() -> None:
    assert Samples([]).to_numpy().dtype.names == ("iip", "stamp", "overflowed", "last_val", "set")


def test_compact_names_its_columns_again_when_they_change() -> None:
    lines = Compact(ModuleContext(1000)).take([MIXED[0], MIXED[0], *MIXED[1:]]).splitlines()
    assert [line.split()[9:] for line in lines] == [
        ["pmd2", "pmd3"], ["22", "33"], ["22", "33"], [], [], ["pmd8", "pmd2"], ["88", "23"]
    ]  # fmt: skip
    assert [line.startswith("entry ") for line in lines] == [True, False, False, True, False, True, False]
