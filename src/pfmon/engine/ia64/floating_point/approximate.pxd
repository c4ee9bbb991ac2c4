"""Reciprocal and reciprocal-square-root approximations, scalar and of one half of a pair."""

from pfmon.engine.ia64.core.cpu cimport FloatRegister
from pfmon.engine.ia64.floating_point.core cimport Environment, Operand, Outcome

cdef FloatRegister reciprocal_estimate(const Operand* x) noexcept nogil
cdef void reciprocal(const Operand* x, const Operand* y, const Environment* env, Outcome* out) noexcept nogil
cdef void reciprocal_root(const Operand* x, const Environment* env, Outcome* out) noexcept nogil
