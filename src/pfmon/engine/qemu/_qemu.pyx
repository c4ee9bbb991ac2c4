"""One extension module of all files below: they share one namespace (docs/dev/architecture.md)."""

include "reader/announcements.pyx"
include "describe/block_describer.pyx"
include "reader/block_run_totals.pyx"
include "reader/in_line_words.pyx"
include "reader/plugin_reader.pyx"
include "describe/ppc_describer.pyx"
include "../../isa/ppc/ppc_operands.pyx"
