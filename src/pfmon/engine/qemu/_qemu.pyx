"""One extension module of all files below: they share one namespace (docs/dev/architecture.md)."""

include "announcements.pyx"
include "block_describer.pyx"
include "block_run_totals.pyx"
include "plugin_reader.pyx"
include "ppc_describer.pyx"
include "../../isa/ppc/ppc_operands.pyx"
