"""Which functions, source files and lines of one result are those of another one, whose program may be another build.

The pairs from A to B are those from B to A.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple, TypeVar

from pfmon.program.demangle import plain_name

Key = TypeVar("Key", bound=Hashable)
SIMILAR = 0.6
"""The similarity of texts (difflib's ratio) from which on a line is an edited one, not another one."""


class FunctionKey(NamedTuple):
    """A function: its name, the file name of its shared object ("": the program), the source file of a static one."""

    name: str
    object: str = ""
    file: str = ""


class LineKey(NamedTuple):
    """A source line: path, number, the file name of the shared object that its code is in."""

    file: str
    line: int
    object: str = ""


def matched_functions(
    a: Iterable[FunctionKey], b: Iterable[FunctionKey]
) -> list[tuple[FunctionKey | None, FunctionKey | None]]:
    """Return pairs of functions: of the same name, object and file; then, of those left, where there is just one on
    either side: of another file, of another version of the object, with other parameters, as a part that the compiler
    made of it. None: the other side has no such function."""
    return _matched(list(a), list(b), FUNCTION_RULES)


def _clone_of(name: str) -> str:
    """Return ``parse`` for ``parse.constprop.0``."""
    base, dot, suffix = name.partition(".")
    return base if dot and base and suffix.partition(".")[0] in CLONES else name


CLONES = ("constprop", "isra", "part", "lto_priv")
FUNCTION_RULES: Sequence[Callable[[FunctionKey], Hashable]] = (
    lambda key: key,
    lambda key: (key.name, key.object),
    lambda key: (key.name, key.object.partition(".so")[0]),
    lambda key: (plain_name(key.name), key.object.partition(".so")[0]),
    lambda key: (_clone_of(plain_name(key.name)), key.object.partition(".so")[0]),
)


def _matched(
    a: Sequence[Key], b: Sequence[Key], rules: Iterable[Callable[[Key], Hashable]]
) -> list[tuple[Key | None, Key | None]]:
    """Return pairs that are equal by a rule, by which each is the only one of its side; earlier rules come first."""
    partner: dict[Key, Key] = {}
    left_a, left_b = list(a), list(b)
    for rule in rules:
        of_a, of_b = _single(left_a, rule), _single(left_b, rule)
        partner.update((of_a[name], of_b[name]) for name in of_a if name in of_b)
        taken = set(partner.values())
        left_a = [key for key in left_a if key not in partner]
        left_b = [key for key in left_b if key not in taken]
    return [*((key, partner.get(key)) for key in a), *((None, key) for key in left_b)]


def _single(keys: Iterable[Key], rule: Callable[[Key], Hashable]) -> dict[Hashable, Key]:
    """Return the keys that are alone by a rule."""
    found: dict[Hashable, list[Key]] = {}
    for key in keys:
        found.setdefault(rule(key), []).append(key)
    return {name: some[0] for name, some in found.items() if len(some) == 1}


def matched_files(a: Iterable[str], b: Iterable[str]) -> dict[str, str]:
    """Return the path in B of files of A: the same path, or else the one with the longest common end."""
    first, second = sorted(set(a)), sorted(set(b))
    depth = max((path.count("/") for path in first), default=0)
    rules: list[Callable[[str], Hashable]] = [lambda path: path]
    rules += [_end(parts) for parts in range(depth, 0, -1)]
    return {one: other for one, other in _matched(first, second, rules) if one is not None and other is not None}


def _end(parts: int) -> Callable[[str], Hashable]:
    return lambda path: tuple(path.split("/")[-parts:])


Texts = Mapping[int, str | None]
"""By line number; None: unknown."""


def matched_lines(a: Mapping[LineKey, str | None], b: Mapping[LineKey, str | None]) -> dict[LineKey, LineKey]:
    """Return the line in B of lines of A, which have their texts: by the same text in the same order, or edited."""
    of_a, of_b = _by_file(a), _by_file(b)
    objects = {name: name for _, name in of_a} | {
        one.object: other.object
        for one, other in matched_functions(
            [FunctionKey("", name) for name in {name for _, name in of_a}],
            [FunctionKey("", name) for name in {name for _, name in of_b}],
        )
        if one and other
    }
    files = matched_files((file for file, _ in of_a), (file for file, _ in of_b))
    found: dict[LineKey, LineKey] = {}
    for (file, name), texts in of_a.items():
        other = files.get(file, ""), objects[name]
        for line, partner in aligned(texts, of_b.get(other, {})).items():
            found[LineKey(file, line, name)] = LineKey(other[0], partner, other[1])
    return found


def _by_file(lines: Mapping[LineKey, str | None]) -> dict[tuple[str, str], dict[int, str | None]]:
    found: dict[tuple[str, str], dict[int, str | None]] = {}
    for key, text in sorted(lines.items(), key=lambda item: item[0]):
        found.setdefault((key.file, key.object), {})[key.line] = text
    return found


def aligned(a: Texts, b: Texts) -> dict[int, int]:
    """Return the line in B of lines of A of one file, in order of their numbers; without texts, the one of the same
    number."""
    if None in a.values() or None in b.values():
        return {line: line for line in a if line in b}
    first, second = [*a.items()], [*b.items()]
    if [text for _, text in second] < [text for _, text in first]:  # difflib favours its second sequence
        return {line: other for other, line in _aligned(second, first)}
    return dict(_aligned(first, second))


def _aligned(a: Sequence[tuple[int, str | None]], b: Sequence[tuple[int, str | None]]) -> Iterator[tuple[int, int]]:
    matcher = SequenceMatcher(None, [text for _, text in a], [text for _, text in b], autojunk=False)
    for what, start, end, other, beyond in matcher.get_opcodes():
        if what == "equal":
            yield from zip((line for line, _ in a[start:end]), (line for line, _ in b[other:beyond]), strict=True)
        elif what == "replace":
            yield from _edited(a[start:end], b[other:beyond])


def _edited(a: Sequence[tuple[int, str | None]], b: Sequence[tuple[int, str | None]]) -> Iterator[tuple[int, int]]:
    """Pair lines of a block that was replaced by another one, in order, if their texts are similar."""
    begin = 0
    for line, text in a:
        for place in range(begin, len(b)):
            if SequenceMatcher(None, text or "", b[place][1] or "", autojunk=False).ratio() >= SIMILAR:
                yield line, b[place][0]
                begin = place + 1
                break
