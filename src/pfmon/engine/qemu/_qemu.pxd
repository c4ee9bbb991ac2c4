"""Declarations of pfmon.engine.qemu._qemu: those of its files, each after the declarations that it uses."""

include "reader/layout.pxd"
include "reader/announcements.pxd"
include "describe/block_describer.pxd"
include "describe/x86_describer.pxd"
include "reader/in_line_words.pxd"
include "describe/ppc_describer.pxd"
include "../../isa/ppc/ppc_operands.pxd"
