"""Builds pfmon: the extension modules, the plugin for qemu, the runtime of the x86_64 engine, the decoder's tables,
the manual page.

An extension module holds all Cython files of its stage, which ``_STAGE.pyx`` and ``_STAGE.pxd`` include: calls of each
other are plain C calls, and declarations are parsed once. C files lie below build/.
"""

import os
import platform
import subprocess
import sys
from copy import copy
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

sys.path.insert(0, str(Path(__file__).parent / "building"))
from compiler_options import compiler_options
from profile_guided import train

SOURCE = Path("src")
PACKAGE = SOURCE / "pfmon"
JOBS = os.cpu_count() or 1
COMPILER = compiler_options()

MODULES = {
    "pfmon.machine._machine": "-O2",
    "pfmon.engine.ia64._ia64": "-O2",
    "pfmon.machine._outoforder": "-O2",
    "pfmon.counting._counting": "-O2",
    "pfmon.stream._stream": "-O2",
    "pfmon.engine.qemu._qemu": "-O2",
    "pfmon.isa.ia64._encodings": "-O2",
    "pfmon.isa.ia64.decode.decoder_tables": "-O0",
}
"""Extension module -> level of optimisation. -O2 at least turns the sibling calls of the engine's handlers into jumps;
decoder_tables runs when pfmon is built. The modules that take longest to compile come first."""
INITIAL_FUNCTIONS = f"-DCYTHON_SMALL_CODE=__attribute__((cold,{COMPILER.unoptimised}))"
"""Attributes of a module's initial functions: they run once, and optimising them took gcc three fifths of its time."""
GUIDED = (
    "pfmon.machine._machine",
    "pfmon.machine._outoforder",
    "pfmon.counting._counting",
    "pfmon.stream._stream",
)
"""Modules of a profile-guided build: in the engine, counters of branches would turn jumps of handlers into calls."""
INLINING = {
    "max-inline-insns-auto": 350,
    "max-inline-insns-single": 600,
    "early-inlining-insns": 100,
    "inline-min-speedup": 2,
    "inline-unit-growth": 200,
    "large-function-growth": 1000,
}
GUIDED_ARGS = ["-O3", *(f"--param={name}={value}" for name, value in INLINING.items())]
"""For the guided modules alone: they take gcc three times as long."""
COMPILE_ARGS = ["-g0", "-fno-strict-aliasing", "-fno-plt", "-fno-stack-protector", "-w", INITIAL_FUNCTIONS]
LINK_ARGS = ["-Wl,--build-id=sha1"]
"""The build's identity, which the snapshot of the decoder's tables carries (src/pfmon/build_snapshot.py)."""
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
    "embedsignature": True,
    "auto_pickle": False,
    "freethreading_compatible": False,
}

EXAMPLES = Path("examples")
PLUGIN = PACKAGE / "engine" / "qemu" / "plugin"
REAPER = "reaper.c"
PLUGIN_ARGS = ["-O2", "-g0", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra"]
RUNTIME = PACKAGE / "engine" / "x86_64" / "runtime"
DESCRIBED = "x86.c", "x86_slots.c"
"""Files of the plugin that the runtime shares."""
RUNTIME_ARGS = [
    *("-O2", "-g0", "-std=gnu11", "-fPIE", "-ffreestanding", "-fno-builtin", "-fno-stack-protector"),
    *("-fcf-protection=none", "-Wall", "-Wextra", *COMPILER.runtime),
]
"""The runtime has no C library, and leaves the guest's vector registers alone."""
SNAPSHOT = "pfmon.isa.ia64.decode.decoder_snapshot", Path("isa", "ia64", "decode", "tables.bin")
"""Module that writes the snapshot of the decoder's tables, and the file in the package."""
MANUAL = Path("build", "man", "pfmon.1")


def extension(module: str, level: str) -> Extension:
    """An extension module of the Cython file of that name."""
    return Extension(
        module,
        [str(SOURCE.joinpath(*module.split(".")).with_suffix(".pyx"))],
        extra_compile_args=[*COMPILE_ARGS, level],
        extra_link_args=LINK_ARGS,
        include_dirs=[str(SOURCE), str(PLUGIN)],
        depends=[str(header) for header in PLUGIN.glob("*.h")] if "qemu" in module else [],
        libraries=["m"],
    )


class BuildExtensions(build_ext):
    """Compiles the extension modules side by side, then the plugin, and writes what the modules compute."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or JOBS

    def run(self) -> None:
        super().run()
        root = SOURCE if self.inplace or getattr(self, "editable_mode", False) else Path(self.build_lib)
        self.build_plugin(root / "pfmon" / "engine" / "qemu" / "plugin.so")
        if platform.machine() == "x86_64" and sys.platform == "linux":
            self.build_runtime(root / "pfmon" / "engine" / "x86_64" / "x86_64-runtime")
        if os.environ.get("PFMON_PROFILE_GUIDED") == "1":
            self.build_guided(root)
        module, path = SNAPSHOT
        run_module(root, module, root / "pfmon" / path)
        MANUAL.parent.mkdir(parents=True, exist_ok=True)
        run_module(root, "pfmon.cli.commands.man_page", MANUAL)

    def build_guided(self, root: Path) -> None:
        """Build twice more: with counters of branches, for runs (building/profile_guided.py), and with their counts."""
        counts = Path(self.build_temp, "counts").resolve()
        self.build_again([*GUIDED_ARGS, f"-fprofile-generate={counts}", "-fprofile-update=prefer-atomic"])
        train(root, EXAMPLES)
        self.build_again([*GUIDED_ARGS, f"-fprofile-use={counts}", "-fprofile-partial-training"])

    def build_again(self, args: list[str]) -> None:
        """Compile and link the GUIDED modules with further arguments."""
        whole, self.extensions = self.extensions, [copy(ext) for ext in self.extensions if ext.name in GUIDED]
        for ext in self.extensions:
            ext.extra_compile_args, ext.extra_link_args = ext.extra_compile_args + args, ext.extra_link_args + args
        self.force = True
        self.build_extensions()
        self.extensions = whole

    def build_plugin(self, path: Path) -> None:
        """Compile the plugin for qemu, whose symbols qemu resolves, and the program that is qemu's parent."""
        headers = [str(header) for header in PLUGIN.glob("*.h")]
        sources = [str(source) for source in sorted(PLUGIN.glob("*.c")) if source.name != REAPER]
        objects = self.compiler.compile(
            sources, output_dir=self.build_temp, extra_postargs=PLUGIN_ARGS, depends=[*sources, *headers]
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        self.compiler.link_shared_object(objects, str(path), libraries=["pthread"], build_temp=self.build_temp)
        reaper = self.compiler.compile(
            [str(PLUGIN / REAPER)], output_dir=self.build_temp, extra_postargs=PLUGIN_ARGS, depends=headers
        )
        self.compiler.link_executable(reaper, str(path.with_name("reaper")))

    def build_runtime(self, path: Path) -> None:
        """Compile the program in which the x86_64 engine executes translated code."""
        self.compiler.src_extensions = [*self.compiler.src_extensions, ".S"]
        headers = [str(header) for place in (RUNTIME, PLUGIN) for header in place.rglob("*.h")]
        sources = [*sorted(map(str, RUNTIME.rglob("*.[cS]"))), *(str(PLUGIN / name) for name in DESCRIBED)]
        objects = self.compiler.compile(
            sources,
            output_dir=str(Path(self.build_temp, "runtime")),
            include_dirs=[str(RUNTIME), str(PLUGIN)],
            extra_postargs=RUNTIME_ARGS,
            depends=[*sources, *headers],
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        options = ["-nostdlib", *COMPILER.linker]
        self.compiler.link_executable(objects, str(path), extra_postargs=options)


def run_module(root: Path, module: str, path: Path) -> None:
    """Have a module of the package that was built write a file."""
    environment = {**os.environ, "PYTHONPATH": str(root.resolve())}
    subprocess.run(
        [sys.executable, "-B", "-c", f"from {module} import write; write({str(path)!r})"], env=environment, check=True
    )


setup(
    ext_modules=cythonize(
        [extension(module, level) for module, level in MODULES.items()],
        compiler_directives=DIRECTIVES,
        nthreads=JOBS,
        include_path=[str(SOURCE)],
        build_dir="build/cython",
    ),
    cmdclass={"build_ext": BuildExtensions},
)
