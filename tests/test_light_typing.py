"""Named tuples of pfmon.light_typing are those of typing; a count loads neither typing nor what is slow to load."""

import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from command import example
from hypothesis import given
from hypothesis import strategies as st

import pfmon
from pfmon import light_typing

SOURCE = str(Path(pfmon.__file__).parent.parent)


class Standard(NamedTuple):
    """As the standard library makes it."""

    first: int
    second: Any = None
    third: str = "x"

    @property
    def twice(self) -> int:
        return 2 * self.first


class Light(light_typing.NamedTuple):
    """The same, made here."""

    first: int
    second: Any = None
    third: str = "x"

    @property
    def twice(self) -> int:
        return 2 * self.first


VALUES = st.one_of(st.integers(), st.text(max_size=3), st.none())
NAMES = st.sampled_from(["first", "second", "third", "fourth"])


def outcome(act: Callable[[], Any]) -> Any:
    """What an action gives: a tuple as it is, anything else by its text, or the exception's type."""
    try:
        given_back = act()
    except (TypeError, ValueError) as error:
        return type(error) if isinstance(error, TypeError) else TypeError
    return tuple(given_back) if isinstance(given_back, tuple) else given_back


@given(st.lists(VALUES, max_size=5), st.dictionaries(NAMES, VALUES, max_size=3))
def test_arguments_make_the_same_tuple_or_are_refused(values: Sequence[Any], named: dict[str, Any]) -> None:
    assert outcome(lambda: Light(*values, **named)) == outcome(lambda: Standard(*values, **named))


@given(st.tuples(VALUES, VALUES, VALUES), st.dictionaries(NAMES, VALUES, max_size=3))
def test_a_tuple_is_used_alike(values: tuple[Any, Any, Any], named: dict[str, Any]) -> None:
    light, standard = Light(*values), Standard(*values)
    assert light == standard == values and hash(light) == hash(standard)
    assert (light.first, light.second, light.third) == values and [*light] == [*values]
    assert light._asdict() == standard._asdict()
    assert repr(light) == repr(standard).replace("Standard", "Light")
    assert outcome(lambda: light._replace(**named)) == outcome(lambda: standard._replace(**named))
    assert Light._make(values) == light and type(Light._make(values)) is Light
    copy = pickle.loads(pickle.dumps(light))
    assert copy == light and type(copy) is Light


def test_the_class_says_what_its_fields_are() -> None:
    assert Light._fields == Standard._fields == Light.__match_args__
    assert Light._field_defaults == Standard._field_defaults
    assert Light.__doc__ == "The same, made here." and Light(4).twice == 8
    match Light(1, 2):
        case Light(first, second, third=third):
            assert (first, second, third) == (1, 2, "x")


def test_fields_are_not_assigned_to() -> None:
    with pytest.raises(AttributeError):
        Light(1).first = 2
    with pytest.raises(AttributeError):
        Light(1).other = 2


RUN = """
import sys
before = set(sys.modules)
from pfmon.__main__ import main
main(['-e', 'ia64_inst_retired,cpu_cycles', sys.argv[1], '2'])
print(*sorted(set(sys.argv[2].split(',')) & (set(sys.modules) - before)))
"""
SLOW_TO_LOAD = """
argcomplete argparse bisect collections contextlib copy dataclasses enum fcntl functools importlib inspect json math
numpy operator pathlib re resource rich select signal threading types typing warnings weakref
pfmon.cli.help pfmon.cli.command_line_errors pfmon.cli.progress_display pfmon.engine.ia64.encodings.instruction_set
pfmon.library.run_monitor pfmon.session.sampling
"""


def test_a_count_loads_nothing_that_is_slow_to_load_and_not_needed() -> None:
    command = [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {SOURCE!r})\n{RUN}"]
    slow = ",".join(SLOW_TO_LOAD.split())
    done = subprocess.run([*command, example("fib"), slow], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("CPU_CYCLES\n\n")
