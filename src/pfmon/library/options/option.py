"""A row of the table of options, and the ways to keep its value.

What an option is called, what its value may be, where it is kept and what is said of it stands in its row alone: the
command line, its help, completion and manual page, and the library's keywords are made of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pfmon.errors import PfmonError

Read = Callable[[str, Any], Any]
"""Makes a value, of the command line's text (None: there is none) or of a keyword's value in Python. It is called with
the option's name, for errors, and raises BadValueError."""
Keep = Callable[["Option", Any, Any, Any], None]
"""Keeps a value: called with the option, the options of the run, what has the option's field (these, one event set, or
those of the output), and the value."""


def _never(_: object) -> bool:
    return False


class Kind(NamedTuple):
    """A type of values. ``read``: from the command line; ``accept``: from the library; ``splits``: whether a value in
    Python is a sequence with one value for each event set; ``default``: the value of the field without the option;
    ``kept``: the value in the field with an option of this name that takes none; None: it takes one."""

    read: Read
    accept: Read
    keep: Keep
    splits: Callable[[object], bool] = _never
    default: object = ""
    kept: Callable[[str], object] | None = None


OF_KIND = object()
"""The default of an option that is its kind's."""


CONTAINERS = (list, set, dict)
OF_RUN, OF_SET, OF_OUTPUT = "run", "set", "output"


class Option(NamedTuple):
    """One option.

    ``value``: names its value in the help, "" for none; ``optional``: it may be left out; ``pmus``: those that have
    what it is about, none: all; ``default``: the value of its field without it.

    ``of_set``: it belongs to the last -e before it; ``of_output``: it says how results are written, which the command
    line alone does; ``field``: where its value is kept, "": in the field of its name; ``keyword``: the library's name
    of it, True: its own, with underscores; ``hp``: names that HP's pfmon had for it.

    ``needs``: what must be given too, or what a run must have (needs.py); ``qualifies``: it says what of a run counts,
    so that counts with another value are of something else; ``alone``: cycles and instructions are not counted by
    default beside it, None: if it qualifies; ``writes``: it names a file that the run writes; ``idle``: why it changes
    nothing; ``idle_under``: by the name of an engine, why it changes nothing for a program under it, "" for no reason.
    """

    long: str
    help: str
    kind: Kind
    value: str = ""
    short: str = ""
    optional: bool = False
    pmus: tuple[str, ...] = ()
    default: object = OF_KIND
    of_set: bool = False
    of_output: bool = False
    field: str = ""
    keyword: bool | str = False
    hp: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    qualifies: bool = False
    alone: bool | None = None
    writes: bool = False
    idle: str = ""
    idle_under: Mapping[str, str] = {}

    @property
    def attribute(self) -> str:
        """The name of the field that has its value."""
        return self.field or self.long.replace("-", "_")

    @property
    def keyword_name(self) -> str:
        """The library's name of it, "" if there is none."""
        return self.long.replace("-", "_") if self.keyword is True else self.keyword or ""

    @property
    def usual(self) -> object:
        """The value of its field without it."""
        return self.kind.default if self.default is OF_KIND else self.default

    @property
    def stands_alone(self) -> bool:
        """Whether cycles and instructions are not counted by default beside it."""
        return self.qualifies if self.alone is None else self.alone

    @property
    def part(self) -> str:
        """The options that have its field: of the run, of an event set, or of the output."""
        return OF_SET if self.of_set else OF_OUTPUT if self.of_output else OF_RUN

    def is_given(self, owner: Any) -> bool:
        """Return whether options have another value in its field than without it, or the value that it stands for."""
        value = getattr(owner, self.attribute)
        if self.kind.kept is None:
            return bool(value) if isinstance(self.usual, CONTAINERS) else value != self.usual
        kept = self.kind.kept(self.long)
        if isinstance(kept, CONTAINERS):
            return set(kept) <= set(value)
        return kept in value if isinstance(kept, str) else value is kept

    def take(self, options: Any, output: Any, text: str | None) -> None:
        """Read and keep a value of the command line. Raises PfmonError."""
        self.kind.keep(self, options, self.owner(options, output), self.kind.read(self.long, text))

    def owner(self, options: Any, output: Any) -> Any:
        """Return what has its field: the options of the run, of its last event set, or of the output."""
        return options.sets[-1] if self.of_set else output if self.of_output else options


class Topic(NamedTuple):
    """The options of a topic of the help. ``keywords``: rows that the library alone has."""

    name: str
    title: str
    options: Sequence[Option]
    keywords: Sequence[Option] = ()


def of_output(*options: Option) -> list[Option]:
    """Return options that say how results are written."""
    return [option._replace(of_output=True) for option in options]


def same(long: str, option: Option) -> Option:
    """Return a further name of an option on the command line."""
    return option._replace(long=long, help=f"the same as --{option.long}", field=option.attribute, keyword=False, hp=())


def put(option: Option, _: Any, owner: Any, value: object) -> None:
    """Set the field."""
    setattr(owner, option.attribute, value)


def extend(option: Option, _: Any, owner: Any, values: Sequence[object]) -> None:
    """Add to the list in the field."""
    getattr(owner, option.attribute).extend(values)


def update(option: Option, _: Any, owner: Any, values: Any) -> None:
    """Add to the mapping, or to the set, in the field."""
    getattr(owner, option.attribute).update(values)


def once(why: str) -> Keep:
    """Set the field, which must not have been set before; ``why`` there is one value."""

    def keep(option: Option, options: Any, owner: Any, value: object) -> None:
        if getattr(owner, option.attribute) != option.usual:
            raise _given_twice(option, options, why)
        setattr(owner, option.attribute, value)

    return keep


def once_by_name(why: str) -> Keep:
    """Set the option's own entry in the field, a mapping; as `once`."""

    def keep(option: Option, options: Any, owner: Any, value: object) -> None:
        of_name = getattr(owner, option.attribute)
        if option.long in of_name:
            raise _given_twice(option, options, why)
        of_name[option.long] = value

    return keep


def _given_twice(option: Option, options: Any, why: str) -> PfmonError:
    where = " for one event set (-e)" if option.of_set and options.several_sets else ""
    return PfmonError(f"--{option.long} is given twice{where}; {why}")


def one_of(choices: dict[Any, str]) -> Keep:
    """Set the field to one of these values, each of which has an option; two of them exclude each other."""

    def keep(option: Option, _: Any, owner: Any, value: object) -> None:
        before = getattr(owner, option.attribute)
        if before in choices and before != value:
            names = [f"--{name}" for choice, name in choices.items() if choice in (before, value)]
            raise PfmonError(f"{' and '.join(names)} exclude each other").about(*names)
        setattr(owner, option.attribute, value)

    return keep
