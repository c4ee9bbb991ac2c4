"""Declarations of pfmon.engine.qemu._qemu: those of its files, each after the declarations that it uses."""

include "layout.pxd"
include "announcements.pxd"
include "block_describer.pxd"
include "ppc_describer.pxd"
include "../../isa/ppc/ppc_operands.pxd"
