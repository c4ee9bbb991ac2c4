"""Calls between compiled modules by name, as the compiler needs them to put one function into another.

Cython calls a method through a table of its class, and a function of another module through a pointer that is set when
that is imported. Here both become calls of the function itself, if it can only be one: no other class overrides the
method. What follows is the text of C files as Cython 3 writes them; a call that is not recognised stays as it is, which
is slower and does the same.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

HIDDEN = '__attribute__((visibility("hidden"))) '
NOWHERE = "__pyx_nowhere"  # where Cython's import leaves pointers that nobody reads

TABLE = re.compile(r"^struct __pyx_vtabstruct_(\w+) \{\n(.*?)^\};\n", re.MULTILINE | re.DOTALL)
PARENT = re.compile(r"^\s*struct __pyx_vtabstruct_(\w+) __pyx_base;$", re.MULTILINE)
MEMBER = re.compile(r"^\s*(.+?)\(\*(\w+)\)\((.*)\);$", re.MULTILINE)
FILLED = re.compile(r"^\s*__pyx_vtable_(\w+?)\.((?:__pyx_base\.)*)(\w+) = .*?(__pyx_f_\w+);$", re.MULTILINE)
EXPORTED = re.compile(r"\(void \(\*\)\(void\)\)&(__pyx_f_\w+)")
IMPORTED = re.compile(r"^static (.+?)\(\*(__pyx_f_\w+)\)\((.*)\); /\*proto\*/$", re.MULTILINE)
IMPORTED_PLACE = re.compile(r"\(void \(\*\*\)\(void\)\)&(__pyx_f_\w+)")
INLINE = re.compile(r"^static CYTHON_INLINE .+?\b(__pyx_f_\w+)\(", re.MULTILINE)
STATIC = re.compile(r"^static (?:CYTHON_INLINE )?(.+?)\b(__pyx_f_\w+)\((?=.*(?: \{|;(?: /\*.*\*/)?)$)", re.MULTILINE)
CALL = re.compile(
    r"\(\(struct __pyx_vtabstruct_(\w+) \*\)(?:[^()]|\(\([^()]*\)[^()]*\))*?(?:->|\.)__pyx_vtab\)"
    r"->((?:__pyx_base\.)*)(\w+)\("
)
DECLARATIONS = "/* #### Code section: decls ### */"


class Method(NamedTuple):
    """A method, by the class that has it first (a C name: ``6pfmon_7machine_5fetch_InstructionFetch`` is one)."""

    owner: str
    name: str


class Signature(NamedTuple):
    """Result and arguments of a method, as C has them."""

    result: str
    arguments: str


class Program:
    """What the C files of all modules say of classes and functions. ``texts``: the files whose functions may be named,
    by path; ``others``: texts of further ones, whose classes may override."""

    def __init__(self, texts: dict[Path, str], others: list[str]) -> None:
        self.parents: dict[str, str] = {}
        self.signatures: dict[Method, Signature] = {}
        self.functions: dict[Method, set[str]] = defaultdict(set)
        self.public: dict[Path, set[str]] = {}
        """By file, the functions of it that other files may name."""
        self.inline: dict[Path, set[str]] = {}
        """By file, those that it keeps to itself, so that they are put where they are called."""
        everything = [*texts.values(), *others]
        for text in everything:
            self._read_tables(text)
        for text in everything:
            for method, function in self._filled(text):
                self.functions[method].add(function)
        for path, text in texts.items():
            candidates = {function for _, function in self._filled(text)} | set(EXPORTED.findall(text))
            self.inline[path] = candidates & set(INLINE.findall(text))
            self.public[path] = candidates & {match[2] for match in STATIC.finditer(text)} - self.inline[path]
        self.home = {function: path for path, functions in self.public.items() for function in functions}

    def _read_tables(self, text: str) -> None:
        for owner, members in TABLE.findall(text):
            for parent in PARENT.findall(members):
                self.parents[owner] = parent
            for result, name, arguments in MEMBER.findall(members):
                self.signatures[Method(owner, name)] = Signature(result, arguments)

    def _filled(self, text: str) -> list[tuple[Method, str]]:
        """The functions that a file puts into tables."""
        return [
            (Method(self._ancestor(own, path), name), function) for own, path, name, function in FILLED.findall(text)
        ]

    def _ancestor(self, own: str, path: str) -> str:
        """The class whose table is reached by a ``path`` of __pyx_base from a class' own."""
        for _ in range(path.count(".")):
            own = self.parents[own]
        return own

    def function_of(self, file: Path, own: str, path: str, name: str) -> tuple[Method, str] | None:
        """What a call through a table comes to, if that can only be one function that the file may name."""
        method = Method(self._ancestor(own, path), name)
        functions = self.functions.get(method, set())
        if len(functions) != 1:
            return None
        (function,) = functions
        return (method, function) if function in self.home or function in self.inline[file] else None


def rewritten(path: Path, text: str, program: Program) -> str:
    """The text of a file with calls by name."""
    text = _calls_by_name(path, text, program)
    text = _imports_by_name(text, program)
    own = program.public[path]

    def visible(match: re.Match[str]) -> str:
        return f"{HIDDEN}{match[1]}{match[2]}(" if match[2] in own else match[0]

    return STATIC.sub(visible, text)


def _calls_by_name(path: Path, text: str, program: Program) -> str:
    called: dict[str, Method] = {}

    def by_name(match: re.Match[str]) -> str:
        found = program.function_of(path, match[1], match[2], match[3])
        if found is None:
            return match[0]
        method, function = found
        called[function] = method
        return f"{function}("

    text = CALL.sub(by_name, text)
    prototypes: dict[str, str] = defaultdict(str)  # by class: behind its table, where all types are known
    for function, method in sorted(called.items()):
        if program.home.get(function, path) != path:
            signature = program.signatures[method]
            prototypes[method.owner] += f"{HIDDEN}{signature.result}{function}({signature.arguments});\n"
    return TABLE.sub(lambda match: match[0] + prototypes.get(match[1], ""), text)


def _imports_by_name(text: str, program: Program) -> str:
    imported = {match[2] for match in IMPORTED.finditer(text) if match[2] in program.home}
    if not imported:
        return text

    def declared(match: re.Match[str]) -> str:
        return f"{HIDDEN}{match[1]}{match[2]}({match[3]});" if match[2] in imported else match[0]

    def placed(match: re.Match[str]) -> str:
        return f"(void (**)(void))&{NOWHERE}" if match[1] in imported else match[0]

    text = IMPORTED_PLACE.sub(placed, IMPORTED.sub(declared, text))
    return text.replace(DECLARATIONS, f"{DECLARATIONS}\nstatic void (*{NOWHERE})(void);\n", 1)


def write_rewritten(sources: list[Path], others: list[Path], root: Path, folder: Path) -> list[Path]:
    """Write files below ``root`` with calls by name, those that have changed, below ``folder`` as they lie there; their
    paths. ``others``: files that stay as they are, whose classes may override methods."""
    texts = {source: source.read_text() for source in sources}
    program = Program(texts, [other.read_text() for other in others])
    written = []
    for source, text in texts.items():
        path = folder / source.relative_to(root)
        changed = rewritten(source, text, program)
        if not path.exists() or path.read_text() != changed:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(changed)
        written.append(path)
    return written
