"""Declarations of pfmon.isa.ia64._encodings: those of its files, each after what it needs."""

include "fault_codes.pxd"
include "attributes.pxd"
include "row_choices.pxd"
include "decode/decoder.pxd"
include "decode/table_layout.pxd"
