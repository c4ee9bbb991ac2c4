"""Builds pfmon: one extension module of all Cython files, the plugin for qemu, snapshots of tables, the manual page.

All Cython modules are in one extension file, which pfmon/compiled.py loads: their calls of each other need no pointers
that are set at import, and gcc optimises the machine's modules together (-flto). C files lie below build/.
"""

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, LinkError

sys.path.insert(0, str(Path(__file__).parent / "building"))
from direct_calls import write_rewritten
from profile_guided import train

SOURCE = Path("src")
PACKAGE = SOURCE / "pfmon"
LIBRARY = "pfmon._compiled"
UTILITY = "pfmon._cython_utility"
"""Module of the functions that Cython would otherwise add to each module (its option shared_utility_qualified_name)."""
C_FILES = Path("build", "cython")
JOBS = os.cpu_count() or 1

COMPILE_ARGS = ["-g0", "-fno-strict-aliasing", "-fno-plt", "-fno-stack-protector", "-w"]
HOT_ARGS = ["-O2"]
"""The engines: handlers of instructions pass control on by sibling calls, which -O2 turns into jumps."""
COLD_ARGS = ["-O1"]
"""Modules that no loop of a run is in."""
COLD = ("engine/ia64/encodings", "engine/ia64/linux", "engine/qemu/describe", "session", "_cython_utility")
ONE_UNIT = ("counting", "machine", "stream")
"""Folders of modules that are optimised together, with calls by name (building/direct_calls.py)."""
INLINING = {
    "max-inline-insns-auto": 350,
    "max-inline-insns-single": 600,
    "early-inlining-insns": 100,
    "inline-min-speedup": 2,
    "inline-unit-growth": 200,
    "large-function-growth": 1000,
}
ONE_UNIT_ARGS = ["-O3", "-flto", *(f"--param={name}={value}" for name, value in INLINING.items())]
LINK_ARGS = ["-Wl,--build-id=sha1"]
"""The build's identity, which the decoder's tables carry (encodings/decoder_snapshot.py)."""

EXAMPLES = Path("examples", "ia64")
PLUGIN = PACKAGE / "engine" / "qemu"
REAPER = "reaper.c"
PLUGIN_ARGS = ["-O2", "-g0", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra"]
SNAPSHOTS = {
    "pfmon.engine.ia64.encodings.decoder_snapshot": "tables.bin",
    "pfmon.machine.prebuilt_configs": "machines.bin",
}
"""Module that writes a snapshot -> the file's name beside the module."""
MANUAL = Path("build", "man", "pfmon.1")

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


def module_name(path: Path) -> str:
    """The module in a file below SOURCE."""
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts)


PATHS = sorted(SOURCE.rglob("*.pyx"))
MODULES = "".join(f"{name}\n" for name in [UTILITY, *map(module_name, PATHS)])
"""The content of compiled.txt."""
if len({path.stem for path in PATHS}) < len(PATHS):
    sys.exit("setup.py: two .pyx files have the same name, which names their modules' initial functions")


def is_below(c_file: Path, places: tuple[str, ...]) -> bool:
    """Whether a C file's module is in one of these folders or files of the package."""
    place = c_file.relative_to(C_FILES / PACKAGE).with_suffix("").as_posix()
    return any(f"{place}/".startswith(f"{folder}/") for folder in places)


def generated(force: bool) -> list[Path]:
    """The C files of all modules, made anew where a source has changed."""
    utility = Extension(UTILITY, [str(SOURCE.joinpath(*UTILITY.split(".")).with_suffix(".c"))])
    modules = cythonize(
        [*(Extension(module_name(path), [str(path)]) for path in PATHS), utility],
        compiler_directives=DIRECTIVES,
        nthreads=JOBS,
        include_path=[str(SOURCE)],
        build_dir=str(C_FILES),
        shared_utility_qualified_name=UTILITY,
        force=force,
    )
    return [Path(source) for module in modules for source in module.sources]


class BuildExtensions(build_ext):
    """Compiles what has changed, links one extension file, writes the snapshots."""

    def build_extension(self, ext: Extension) -> None:
        files = generated(self.force)
        together = [path for path in files if is_below(path, ONE_UNIT)]
        apart = [path for path in files if path not in together]
        args = self.one_unit_args()
        rewritten = write_rewritten(together, apart, C_FILES, Path(self.build_temp, "direct_calls"))
        trained: list[str] = []
        if os.environ.get("PFMON_PROFILE_GUIDED") == "1":
            trained = self.trained_args(ext, apart, rewritten, args)
        jobs = [(path, [*args, *trained]) for path in rewritten]
        jobs += [(path, COLD_ARGS if is_below(path, COLD) else HOT_ARGS) for path in apart]
        self.compile_files(ext, jobs, self.force)
        self.link(ext, [path for path, _ in jobs], args + trained, self.get_ext_fullpath(ext.name))

    def object_files(self, sources: list[Path]) -> list[str]:
        """The object files of C files."""
        names: list[str] = self.compiler.object_filenames(list(map(str, sources)), output_dir=self.build_temp)
        return names

    def compile_files(self, ext: Extension, jobs: list[tuple[Path, list[str]]], force: bool) -> None:
        """Compile C files with their arguments, those that have changed or all; the largest first."""

        def compile_one(job: tuple[Path, list[str]]) -> None:
            source, args = job
            made = Path(*self.object_files([source]))
            if force or not made.exists() or made.stat().st_mtime < source.stat().st_mtime:
                self.compiler.compile(
                    [str(source)],
                    output_dir=self.build_temp,
                    include_dirs=ext.include_dirs,
                    extra_postargs=ext.extra_compile_args + args,
                )

        with ThreadPoolExecutor(JOBS) as pool:
            list(pool.map(compile_one, sorted(jobs, key=lambda job: -job[0].stat().st_size)))

    def link(self, ext: Extension, sources: list[Path], args: list[str], path: str) -> None:
        """Link the objects of C files."""
        self.compiler.link_shared_object(
            self.object_files(sources),
            path,
            libraries=self.get_libraries(ext),
            library_dirs=ext.library_dirs,
            extra_postargs=ext.extra_link_args + args + ([f"-flto={JOBS}"] if args else []),
            build_temp=self.build_temp,
        )

    def trained_args(self, ext: Extension, apart: list[Path], together: list[Path], args: list[str]) -> list[str]:
        """The arguments of a profile-guided build, after runs of an instrumented one (building/profile_guided.py)."""
        counts = Path(self.build_temp, "counts").resolve()
        library = Path(self.build_temp, "counting", Path(self.get_ext_fullpath(ext.name)).name)
        counting = [*args, f"-fprofile-generate={counts}", "-fprofile-update=prefer-atomic"]
        self.compile_files(ext, [(path, HOT_ARGS) for path in apart] + [(path, counting) for path in together], True)
        self.link(ext, apart + together, counting, str(library))
        train(PACKAGE, library, MODULES, EXAMPLES)
        for path in self.object_files(together):
            Path(path).unlink()
        return [f"-fprofile-use={counts}", "-fprofile-partial-training"]

    def one_unit_args(self) -> list[str]:
        """ONE_UNIT_ARGS if the compiler knows them."""
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "probe.c"
            source.write_text("int probe(void) { return 0; }\n")
            try:
                objects = self.compiler.compile([str(source)], output_dir="/", extra_postargs=ONE_UNIT_ARGS)
                self.compiler.link_shared_object(objects, str(source.with_suffix(".so")), extra_postargs=ONE_UNIT_ARGS)
            except (CompileError, LinkError):
                return []
        return ONE_UNIT_ARGS

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

    def run(self) -> None:
        super().run()
        root = SOURCE if self.inplace or getattr(self, "editable_mode", False) else Path(self.build_lib)
        self.build_plugin(root / "pfmon" / "engine" / "qemu" / "plugin.so")
        (root / "pfmon" / "compiled.txt").write_text(MODULES)
        for snapshot, name in SNAPSHOTS.items():
            run_module(root, snapshot, root.joinpath(*snapshot.split(".")[:-1], name))
        MANUAL.parent.mkdir(parents=True, exist_ok=True)
        run_module(root, "pfmon.cli.man_page", MANUAL)


def run_module(root: Path, module: str, path: Path) -> None:
    """Have a module of the package that was built write a file."""
    environment = {**os.environ, "PYTHONPATH": str(root.resolve())}
    subprocess.run([sys.executable, "-B", "-m", module, str(path)], env=environment, check=True)


setup(
    ext_modules=[
        Extension(
            LIBRARY,
            [str(path) for path in PATHS],
            extra_compile_args=COMPILE_ARGS,
            extra_link_args=LINK_ARGS,
            include_dirs=[str(SOURCE), str(PLUGIN)],
            libraries=["m"],
        )
    ],
    cmdclass={"build_ext": BuildExtensions},
)
