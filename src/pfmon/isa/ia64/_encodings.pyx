"""The decoder and the enumerations of instructions as one extension module (docs/architecture.md)."""

include "decoder.pyx"
