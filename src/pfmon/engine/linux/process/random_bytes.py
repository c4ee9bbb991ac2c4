"""The program's random bytes: the same in every run unless the host's are enabled."""

from __future__ import annotations

import os
import struct

MASK = (1 << 64) - 1


class RandomBytes:
    """A stream of bytes from a seed, by the SplitMix64 generator (Steele, Lea, Flood 2014)."""

    def __init__(self, seed: int, host: bool) -> None:
        self._state = seed & MASK
        self._host = host
        self._rest = b""

    def take(self, count: int) -> bytes:
        """The next bytes of the stream."""
        if self._host:
            return os.urandom(count)
        words = [self._word() for _ in range((count - len(self._rest) + 7) // 8)]
        data = self._rest + struct.pack(f"<{len(words)}Q", *words)
        self._rest = data[count:]
        return data[:count]

    def _word(self) -> int:
        self._state = (self._state + 0x9E3779B97F4A7C15) & MASK
        z = self._state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
        return z ^ (z >> 31)
