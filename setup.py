"""Compiles every .pyx file below src/pfmon into an extension module of the same name."""

import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

SOURCE = Path("src")

# Handlers of the IA-64 engine pass control on by sibling calls: -O2 turns these into jumps.
COMPILE_ARGS = ["-O2", "-fno-strict-aliasing", "-fno-plt", "-fno-stack-protector", "-w"]

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
    "embedsignature": True,
    "freethreading_compatible": False,
}


def extension(path: Path) -> Extension:
    """The extension module for one .pyx file."""
    name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    return Extension(name, [str(path)], extra_compile_args=COMPILE_ARGS, libraries=["m"])


JOBS = os.cpu_count() or 1

setup(
    ext_modules=cythonize(
        [extension(path) for path in sorted(SOURCE.rglob("*.pyx"))],
        compiler_directives=DIRECTIVES,
        nthreads=JOBS,
        include_path=[str(SOURCE)],
    ),
    options={"build_ext": {"parallel": JOBS}},
)
