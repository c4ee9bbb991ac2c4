"""Samples for other tools. A new format is added to EXPORTS."""

from __future__ import annotations

from pfmon.report.exports.callgrind import Callgrind
from pfmon.report.exports.collapsed import Collapsed
from pfmon.report.exports.csv_table import CsvTable
from pfmon.report.exports.speedscope import Speedscope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pfmon.report.exports.export import Export

EXPORTS: dict[str, type[Export]] = {
    "collapsed": Collapsed,
    "speedscope": Speedscope,
    "callgrind": Callgrind,
    "csv": CsvTable,
}
"""By the name that --export takes."""
