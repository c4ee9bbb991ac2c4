"""Reciprocal and reciprocal-square-root approximations, scalar and of one half of a pair."""

cdef FloatRegister reciprocal_estimate(const FpOperand* x) noexcept nogil
cdef void reciprocal(const FpOperand* x, const FpOperand* y, const FpEnvironment* env, FpOutcome* out) noexcept nogil
cdef void reciprocal_root(const FpOperand* x, const FpEnvironment* env, FpOutcome* out) noexcept nogil
