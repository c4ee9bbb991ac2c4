"""Tests of the x86_64 engine: where they run, and how they start pfmon."""

import platform
import sys
from pathlib import Path

import pytest
from qemu_guests import ASSEMBLER

HERE = platform.machine() == "x86_64" and "avx2" in Path("/proc/cpuinfo").read_text(errors="replace")
MARKS = [pytest.mark.skipif(not HERE, reason="the engine runs on x86-64 hosts with AVX2"), ASSEMBLER]
"""Elsewhere the processor would not execute x86-64-v3."""

PFMON = [sys.executable, "-m", "pfmon", "--engine=x86_64"]
V3 = "--set=qemu.cpu=x86-64-v3"
