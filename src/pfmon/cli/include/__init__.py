"""The files with which programs mark their regions (docs/regions.md): for C and C++, Rust and Go."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
