"""Declarations of pfmon.machine._outoforder: those of its files, each after the declarations that it uses."""

include "outoforder/core_state.pxd"
include "outoforder/core_block.pxd"
include "outoforder/scheduler.pxd"
include "outoforder/response_pattern.pxd"
include "outoforder/part_graph.pxd"
include "outoforder/cycle_accounting.pxd"
include "outoforder/core.pxd"
