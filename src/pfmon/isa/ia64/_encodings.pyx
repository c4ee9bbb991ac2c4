"""The decoder and the enumerations of instructions as one extension module (docs/dev/architecture.md)."""

include "decode/decoder.pyx"
