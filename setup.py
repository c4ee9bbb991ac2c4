"""Compiles every .pyx file below src/pfmon, and makes files of what a run need not work out.

All modules are in one extension file: a process loads one library instead of fifty (pfmon/compiled.py).
"""

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, LinkError

sys.path.insert(0, str(Path(__file__).parent))  # pip does not
from build_profile import train
from direct_calls import write_rewritten

SOURCE = Path("src")
LIBRARY = "pfmon._compiled"
JOBS = os.cpu_count() or 1

# Handlers of the IA-64 engine pass control on by sibling calls: -O2 turns these into jumps.
COMPILE_ARGS = ["-O2", "-g0", "-fno-strict-aliasing", "-fno-plt", "-fno-stack-protector", "-w"]

# A machine is many small mechanisms that ask each other for every block: they are compiled as one, with calls by name,
# so that one can be put into another (docs/benchmarks.md says what that gains). These are the folders of such modules.
ONE_UNIT = ("counting", "machine", "stream")
INLINING = {
    "max-inline-insns-auto": 350,
    "max-inline-insns-single": 600,
    "early-inlining-insns": 100,
    "inline-min-speedup": 2,
    "inline-unit-growth": 200,
    "large-function-growth": 1000,
}
"""What gcc may put where it is called: more than it would, as far as that still takes instructions away."""
ONE_UNIT_ARGS = ["-O3", "-flto", *(f"--param={name}={value}" for name, value in INLINING.items())]

# What is run to learn from.
EXAMPLES = Path("examples", "ia64")

# What qemu-user loads, compiled C of our own: qemu is not needed for it, and resolves its symbols.
PLUGIN = SOURCE / "pfmon" / "engine" / "qemu"
PLUGIN_SOURCES = ["accesses.c", "announce.c", "plugin.c", "settle.c", "totals.c", "target.c"]
PLUGIN_SOURCES += ["ppc.c", "x86.c", "x86_length.c", "x86_slots.c"]
PLUGIN_SOURCES += ["calls.c", "child.c", "execute.c", "follow.c", "mapped.c"]
PLUGIN_ARGS = ["-O2", "-g0", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra"]

# What a run need not make of other files: module that makes it -> name of its file beside the module.
SNAPSHOTS = {
    "pfmon.engine.ia64.encodings.decoder_snapshot": "tables.bin",
    "pfmon.machine.prebuilt_configs": "machines.bin",
}

# The manual page, which pyproject.toml names.
MANUAL = Path("build", "man", "pfmon.1")

# A hash of the whole file in its first page: the decoder's tables belong to one file (encodings/decoder_snapshot.py).
LINK_ARGS = ["-Wl,--build-id=sha1"]

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


# What Cython adds to every module, two thirds of its code, and the making of a module: no loop of ours is in it, and to
# optimise it takes a third of the compiler's time. -Og is nearly as quick to compile as -O0, and makes less of it.
# Section of the generated file -> the one behind it.
UNHURRIED = {"init_module": "pystring_table", "utility_code_def": "utility_code_pragmas_end"}
BEGIN = '#pragma GCC push_options\n#pragma GCC optimize("Og")\n'
END = "#pragma GCC pop_options\n"


# How Cython asks for the module whose IntEnum an enumeration is made of -> how it asks for ours, which makes it sooner.
# Where that is not found an enumeration is the usual one, with the same members.
ENUM = "PyImport_Import(__pyx_mstate_global->__pyx_n_u_enum)"
LIGHT_ENUM = 'PyImport_ImportModule("pfmon.light_enum")'


def adapt(path: Path) -> None:
    """Have a generated file make enumerations of light ones, and its sections of UNHURRIED compiled as they are; a
    compiler that does not know the pragmas optimises them, too."""
    text = path.read_text()
    if BEGIN in text:
        return
    text = text.replace(ENUM, LIGHT_ENUM)
    for section, following in UNHURRIED.items():
        first = text.index(f"/* #### Code section: {section} ### */")
        beyond = text.index(f"/* #### Code section: {following} ### */")
        text = f"{text[:first]}{BEGIN}{text[first:beyond]}{END}{text[beyond:]}"
    path.write_text(text)


def module_name(path: Path) -> str:
    """The name of the module in a file below SOURCE."""
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts)


PATHS = sorted(SOURCE.rglob("*.pyx"))
MODULES = "".join(f"{module_name(path)}\n" for path in PATHS)
"""What is in the extension file: compiled.txt."""
INITIAL = {module_name(path).rpartition(".")[2] for path in PATHS}
if len(INITIAL) < len(PATHS):
    sys.exit("setup.py: two .pyx files have the same name, which names their modules' initial functions")


def is_in_one_unit(source: str) -> bool:
    """Whether a module's file is in a folder of ONE_UNIT."""
    return Path(source).is_relative_to(SOURCE) and Path(source).relative_to(SOURCE / "pfmon").parts[0] in ONE_UNIT


def generated(force: bool) -> list[str]:
    """The C files of all modules, made anew where something has changed."""
    modules = cythonize(
        [Extension(module_name(path), [str(path)]) for path in PATHS],
        compiler_directives=DIRECTIVES,
        nthreads=JOBS,
        include_path=[str(SOURCE)],
        force=force,
    )
    sources = [source for module in modules for source in module.sources]
    for source in sources:
        adapt(Path(source))
    return sources


class BuildExtensions(build_ext):
    """Compiles what has changed, links all, lists the modules, and has snapshots made."""

    def build_extension(self, ext: Extension) -> None:
        apart, together = self.sources()
        args = self.one_unit_args()
        self.compile_files(ext, apart, [], self.force)
        trained = self.trained_args(ext, apart + together, together, args) if args and self.is_trained() else []
        self.compile_files(ext, together, args + trained, self.force or bool(trained))
        self.link(ext, apart + together, args + trained, self.get_ext_fullpath(ext.name))

    def compile_files(self, ext: Extension, sources: list[str], args: list[str], force: bool) -> None:
        """Compile C files, those that have changed or all."""
        objects = self.compiler.object_filenames(sources, output_dir=self.build_temp)
        changed = [
            source
            for source, made in zip(sources, objects, strict=True)
            if force or not Path(made).exists() or Path(made).stat().st_mtime < Path(source).stat().st_mtime
        ]

        def compile_one(source: str) -> None:
            self.compiler.compile(
                [source],
                output_dir=self.build_temp,
                include_dirs=ext.include_dirs,
                extra_postargs=ext.extra_compile_args + args,
            )

        with ThreadPoolExecutor(JOBS) as pool:
            list(pool.map(compile_one, changed))

    def link(self, ext: Extension, sources: list[str], args: list[str], path: str) -> None:
        """Link the objects of C files."""
        self.compiler.link_shared_object(
            self.compiler.object_filenames(sources, output_dir=self.build_temp),
            path,
            libraries=self.get_libraries(ext),
            library_dirs=ext.library_dirs,
            extra_postargs=ext.extra_link_args + args + ([f"-flto={JOBS}"] if args else []),
            build_temp=self.build_temp,
        )

    def is_trained(self) -> bool:
        """Whether the compiler learns from runs: it takes a minute, which a build in place does not spend."""
        return not self.in_place and os.environ.get("PFMON_TRAIN", "1") != "0"

    def trained_args(self, ext: Extension, sources: list[str], together: list[str], args: list[str]) -> list[str]:
        """What tells the compiler of runs of a build that counts; nothing, if there can be none."""
        counts = Path(self.build_temp, "counts").resolve()
        shutil.rmtree(counts, ignore_errors=True)
        library = Path(self.build_temp, "counting", Path(self.get_ext_fullpath(ext.name)).name)
        counting = [*args, f"-fprofile-generate={counts}", "-fprofile-update=prefer-atomic"]
        try:
            self.compile_files(ext, together, counting, True)
            self.link(ext, sources, counting, str(library))
            train(SOURCE / "pfmon", library, MODULES, EXAMPLES)
        except (CompileError, LinkError, OSError, subprocess.SubprocessError) as error:
            print(f"pfmon is built without runs that the compiler learns from: {error}", file=sys.stderr)
            shutil.rmtree(counts, ignore_errors=True)
        if not any(counts.rglob("*.gcda")):
            return []
        return [f"-fprofile-use={counts}", "-fprofile-partial-training"]

    def sources(self) -> tuple[list[str], list[str]]:
        """The C files of modules that are compiled each for itself, and of those that are compiled as one."""
        sources = generated(self.force)
        apart = [source for source in sources if not is_in_one_unit(source)]
        together = [Path(source) for source in sources if is_in_one_unit(source)]
        written = write_rewritten(together, [Path(source) for source in apart], Path(), Path(self.build_temp))
        return apart, [str(path) for path in written]

    def one_unit_args(self) -> list[str]:
        """ONE_UNIT_ARGS, if the compiler knows them."""
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
        """Compile the plugin for qemu, which is no module of Python's, and the program that is qemu's parent."""
        sources = [str(PLUGIN / name) for name in PLUGIN_SOURCES]
        headers = [str(header) for header in PLUGIN.glob("*.h")]
        objects = self.compiler.compile(
            sources, output_dir=self.build_temp, extra_postargs=PLUGIN_ARGS, depends=[*sources, *headers]
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        self.compiler.link_shared_object(objects, str(path), libraries=["pthread"], build_temp=self.build_temp)
        source = [str(PLUGIN / "reaper.c")]
        reaper = self.compiler.compile(source, output_dir=self.build_temp, extra_postargs=PLUGIN_ARGS, depends=headers)
        self.compiler.link_executable(reaper, str(path.with_name("reaper")))

    def run(self) -> None:
        self.in_place = bool(self.inplace) and not getattr(self, "editable_mode", False)
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
            include_dirs=[str(PLUGIN)],
            libraries=["m"],
        )
    ],
    cmdclass={"build_ext": BuildExtensions},
)
