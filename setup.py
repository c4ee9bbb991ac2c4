"""Compiles every .pyx file below src/pfmon into an extension module of the same name, and makes their tables."""

import os
import subprocess
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

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
    return Extension(
        name, [str(path)], extra_compile_args=COMPILE_ARGS, extra_link_args=["-Wl,--build-id=sha1"], libraries=["m"]
    )


class BuildExtensions(build_ext):
    """Compiles, and then has the decoder's tables made (pfmon.engine.ia64.encodings.snapshot) beside the modules."""

    def run(self) -> None:
        super().run()
        root = SOURCE if self.inplace or getattr(self, "editable_mode", False) else Path(self.build_lib)
        module = "pfmon.engine.ia64.encodings.snapshot"
        path = root.joinpath(*module.split(".")[:-1], "tables.bin")
        environment = {**os.environ, "PYTHONPATH": str(root.resolve())}
        subprocess.run([sys.executable, "-B", "-m", module, str(path)], env=environment, check=True)


JOBS = os.cpu_count() or 1

setup(
    ext_modules=cythonize(
        [extension(path) for path in sorted(SOURCE.rglob("*.pyx"))],
        compiler_directives=DIRECTIVES,
        nthreads=JOBS,
        include_path=[str(SOURCE)],
    ),
    cmdclass={"build_ext": BuildExtensions},
    options={"build_ext": {"parallel": JOBS}},
)
