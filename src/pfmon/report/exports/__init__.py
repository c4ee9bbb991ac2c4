"""Samples for other tools. A new format is added to EXPORTS."""

from __future__ import annotations

from pfmon.report.exports.autofdo import Autofdo
from pfmon.report.exports.callgrind import Callgrind
from pfmon.report.exports.collapsed import Collapsed
from pfmon.report.exports.csv_table import CsvTable
from pfmon.report.exports.firefox import Firefox
from pfmon.report.exports.parquet import Parquet
from pfmon.report.exports.perf_data import PerfData
from pfmon.report.exports.perf_script import PerfScript
from pfmon.report.exports.pprof import Pprof
from pfmon.report.exports.sample_export import SampleExport
from pfmon.report.exports.speedscope import Speedscope

EXPORTS: dict[str, type[SampleExport]] = {
    "collapsed": Collapsed,
    "speedscope": Speedscope,
    "firefox": Firefox,
    "pprof": Pprof,
    "perf-data": PerfData,
    "perf-script": PerfScript,
    "callgrind": Callgrind,
    "csv": CsvTable,
    "parquet": Parquet,
    "autofdo": Autofdo,
}
"""By the name in --export."""
OF_LAST_BRANCHES = ("autofdo",)
"""Formats made of branches: of a run without samples, or of the last branches of samples, which others do without."""
