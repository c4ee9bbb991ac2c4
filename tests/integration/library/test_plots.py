"""Pictures of runs and sweeps by matplotlib, and their tables in notebooks."""

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from command import EXAMPLES, example
from host_programs import RUNS_X86_64
from sweeps_here import swept_here

import pfmon
from pfmon.session.profile.notebook_tables import ROWS, html_table

SORT = [example("sort"), "50"]
BRANCHY = str(EXAMPLES / "x86_64" / "branchy")


@pytest.fixture(autouse=True)
def figures_are_closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MPLBACKEND", "agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    yield
    pyplot.close("all")


def lengths(axes: Any) -> list[float]:
    return [bar.get_width() for bar in axes.patches]


def names(axes: Any) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


def test_a_run_is_drawn_with_what_it_has() -> None:
    run = pfmon.run(SORT, events=["cpu_cycles", "loads_retired"], per_function=True, capture=True)
    assert run.functions
    counts = run.plot("counts")
    assert dict(zip(names(counts), lengths(counts), strict=True)) == {one.name: one.value for one in run.counts}
    default = run.plot()  # functions come before counts
    assert names(default) == [row.shown for row in run.functions[:12]]
    assert lengths(default) == [row.values[0] for row in run.functions[:12]]
    into = run.plot("counts", ax=default.figure.add_subplot())
    assert into.figure is default.figure


@RUNS_X86_64
def test_cycles_and_slots_are_drawn_by_cause() -> None:
    run = pfmon.run([BRANCHY, "500"], report="cpi", capture=True)
    cpi = run.cpi
    assert cpi and cpi.top_down
    bars = run.plot()
    assert dict(zip(names(bars), lengths(bars), strict=True)) == pytest.approx(
        {part: cpi.total(part) / cpi.instructions for part in cpi.parts}
    )
    assert sum(lengths(run.plot("slots"))) == pytest.approx(100)
    functions = run.plot("functions")
    assert sum(lengths(functions)) == sum(sum(row.cycles) for row in cpi.functions[:12])


def test_intervals_are_lines() -> None:
    run = pfmon.run([example("sort"), "200"], events=["loads_retired"], print_interval=0.01, capture=True)
    assert run.intervals and len(run.intervals) > 1
    (line,) = run.plot().lines
    assert list(line.get_ydata()) == [row.counts[0] for row in run.intervals]


def test_a_picture_that_a_run_has_no_data_for_is_refused() -> None:
    run = pfmon.run(SORT, events="loads_retired", capture=True)
    with pytest.raises(pfmon.PfmonError, match='no cycles; they come with report="cpi"'):
        run.plot("cycles")
    with pytest.raises(pfmon.BadValueError, match="one of intervals, cycles"):
        run.plot("cycle")
    with pytest.raises(pfmon.PfmonError, match="counted nothing"):
        pfmon.run(SORT, events="none", capture=True).plot()


def test_without_matplotlib_a_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    run = pfmon.run(SORT, events="loads_retired", capture=True)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(pfmon.PfmonError, match=re.escape("pip install 'pfmon[plot]'")):
        run.plot()


SWEEP = f"""
events = ["l1d_read_misses_all", "ia64_inst_retired"]
[figures]
l1d.size = ["8K", "16K", "32K"]
[[program]]
command = ["{example("hashmap")}", "{{count}}"]
arguments = {{ count = [50, 100] }}
[[machine]]
name = "itanium2"
"""


def test_a_sweep_is_drawn_as_lines_and_as_a_map(tmp_path: Path) -> None:
    file = tmp_path / "some.toml"
    file.write_text(SWEEP)
    swept = swept_here(file)
    rows = swept.to_dict()
    lines = swept.plot("L1D_READ_MISSES_ALL / 10", "l1d.size")
    assert [line.get_label() for line in lines.lines] == ["count=50", "count=100"]
    for line, count in zip(lines.lines, (50, 100), strict=True):
        own = [(row["l1d.size"], row["L1D_READ_MISSES_ALL"] / 10) for row in rows if row["count"] == count]
        assert list(zip(line.get_xdata(), line.get_ydata(), strict=True)) == own
    assert [tick.get_text() for tick in lines.get_xticklabels()] == ["8K", "16K", "32K"]
    shades = swept.plot(over="l1d.size", by="count", kind="map").images[0]
    assert shades.get_array().tolist() == [
        [row["L1D_READ_MISSES_ALL"] for row in rows if row["count"] == count] for count in (50, 100)
    ]
    assert shades.get_clim() == (0, max(row["L1D_READ_MISSES_ALL"] for row in rows))
    with pytest.raises(pfmon.UnknownNameError, match=r"l1d\.sise"):
        swept.plot(over="l1d.sise")
    text = SWEEP.replace('"8K", "16K", ', "").replace("[figures]", "[figures]\nmemory.latency = [100, 200]")
    (tmp_path / "more.toml").write_text(text)
    with pytest.raises(pfmon.PfmonError, match="several cells at one point: count varies, too"):
        swept_here(tmp_path / "more.toml").plot(over="memory.latency", by="memory.latency")


class Cells(HTMLParser):
    """The texts of the cells of a table; a tag that is not known is an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        assert tag in ("table", "caption", "thead", "tbody", "tr", "td", "th", "p", "br")
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def test_counts_are_a_table_in_a_notebook() -> None:
    run = pfmon.run(SORT, events=["loads_retired"], per_function=True, report=None, capture=True)
    (count,) = run.counts
    assert Cells(run.counts._repr_html_()).rows == [["event", "count"], ["LOADS_RETIRED", f"{count.value:,}"]]
    assert run.functions
    shown = Cells(run._repr_html_()).rows
    assert ["name", "LOADS_RETIRED"] in shown
    assert [run.functions[0].shown, f"{run.functions[0].values[0]:,}"] in shown
    assert f"{run.retired:,} instructions" in run._repr_html_()


def test_all_tables_have_one_in_a_notebook(tmp_path: Path) -> None:
    run = pfmon.run(SORT, report="cpi", capture=True)
    assert run.cpi and ["all cycles", f"{run.cpi.cycles:,}"] == Cells(run.cpi._repr_html_()).rows[1][:2]
    listed = pfmon.run(SORT, events="loads_retired", annotate="main", capture=True).annotated
    assert listed and len(Cells(listed._repr_html_()).rows) == 1 + min(len(listed), ROWS)
    samples = pfmon.run(SORT, events="loads_retired", long_smpl_periods=100, capture=True).samples
    assert samples and Cells(samples._repr_html_()).rows[0][0] == "iip"
    times = pfmon.run(SORT, events="loads_retired", print_interval=0.01, capture=True).intervals
    assert times and Cells(times._repr_html_()).rows[0] == ["end, ns", "LOADS_RETIRED"]


def test_a_table_escapes_what_a_program_calls_itself_and_is_short() -> None:
    rows = [("<script>alert(1)</script>", None, 1234567, 0.5)] * (ROWS + 7)
    text = html_table(("a&b", "none", "count", "ratio"), rows)
    assert Cells(text).rows[:2] == [["a&b", "none", "count", "ratio"], [rows[0][0], "", "1,234,567", "0.5"]]
    assert len(Cells(text).rows) == 1 + ROWS and "7 rows more" in text
