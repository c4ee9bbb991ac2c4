"""One extension module of all files below: they share one namespace (docs/dev/architecture.md)."""

include "outoforder/core_block.pyx"
include "outoforder/scheduler.pyx"
include "outoforder/part_graph.pyx"
include "outoforder/cycle_accounting.pyx"
include "outoforder/core.pyx"
include "outoforder/core_timeline.pyx"
