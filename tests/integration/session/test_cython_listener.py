"""A listener of samples in Cython, compiled outside of the package as a user would."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("Cython")

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "ia64" / "hashmap"

LISTENER = """
from libc.stdint cimport uint64_t
from pfmon.counting._counting cimport Sampled, SampleListener


cdef class Addresses(SampleListener):
    cdef public dict found
    cdef public uint64_t total, counted, refused, most
    cdef public list told

    def __cinit__(self, most=1 << 60):
        self.found, self.told, self.most = {}, [], most

    def on_sample_extra(self, registers, calls):
        self.told.append((registers, calls))

    cdef bint refuses(self) noexcept nogil:
        if self.total == self.most:
            self.refused += 1
            return True
        return False

    cdef bint on_sample(self, const Sampled* sample) noexcept nogil:
        self.total += 1
        if sample.values:
            self.counted = sample.counts[0]
        with gil:
            self.found[sample.iip] = self.found.get(sample.iip, 0) + sample.last
        return False
"""

SETUP = """
from Cython.Build import cythonize
from setuptools import setup

setup(name="listener", ext_modules=cythonize("listener.pyx", language_level=3))
"""

USER = """
import sys
import pfmon
from listener import Addresses

command = [sys.argv[1], "100"]
options = {"events": "ia64_inst_retired,loads_retired", "long_smpl_periods": 50, "stdout": pfmon.DEVNULL}
run = pfmon.run(command, **options)
wanted = {}
for sample in run.samples:
    wanted[sample.iip] = wanted.get(sample.iip, 0) + sample.last
listener = Addresses()
pfmon.prepare(command, **options).run(on_samples=listener)
assert listener.found == wanted and listener.total == len(run.samples) and not listener.told
assert listener.counted == run.samples[-1].pmds[0][1]
few = Addresses(10)
pfmon.prepare(command, smpl_stacks=True, **options).run(on_samples=few)
assert few.total == 10 and few.refused == len(run.samples) - 10
assert few.told == [((), sample.calls) for sample in pfmon.run(command, smpl_stacks=True, **options).samples[:10]]
print("same")
"""


@pytest.mark.slow
def test_a_listener_in_cython_gets_every_sample(tmp_path: Path) -> None:
    for name, text in {"listener.pyx": LISTENER, "setup.py": SETUP, "user_memory.py": USER}.items():
        (tmp_path / name).write_text(text)
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "PYTHONPATH": paths, "CFLAGS": "-O0"}  # which takes half as long to compile
    build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    subprocess.run(build, cwd=tmp_path, env=environment, check=True, capture_output=True)
    command = [sys.executable, "user_memory.py", str(EXAMPLE)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout == "same\n", done.stderr
