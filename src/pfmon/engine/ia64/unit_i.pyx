"""I unit: shifts, bit fields, moves between register files (SDM volume 3, 4.3)."""

from libc.stdint cimport int64_t, uint64_t

from pfmon.engine.ia64.cpu cimport Cpu, Op, go

from pfmon.engine.ia64.rows import row
