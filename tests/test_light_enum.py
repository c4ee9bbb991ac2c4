"""Enumerations of compiled modules behave as those of the module enum do, which Cython would make of them."""

import copy
import enum
import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pfmon import light_enum
from pfmon.machine.occurrences import Occurrence
from pfmon.machine.stall_causes import Cause
from pfmon.stream.instruction_kinds import Kind

NAMES = st.text("ABC_", min_size=1, max_size=3).filter(lambda name: not name.startswith("_") and not name.endswith("_"))
MEMBERS = st.dictionaries(NAMES, st.integers(-3, 9), min_size=1, max_size=8)


class Base(light_enum.IntEnum):
    """As Cython's base for them, which takes any number."""

    @classmethod
    def _missing_(cls, value: int) -> Any:
        member: Any = int.__new__(cls, value)
        member._name_, member._value_ = None, value
        return member


def both(members: dict[str, int]) -> tuple[Any, Any]:
    """The usual enumeration and the light one."""
    return enum.IntEnum("Both", list(members.items())), light_enum.IntEnum("Both", list(members.items()))


def seen(member: Any) -> tuple[Any, ...]:
    """What shows of a member."""
    return member.name, member.value, int(member), str(member), repr(member), f"{member}", hash(member)


@given(MEMBERS)
def test_members_are_those_of_the_usual_enumeration(members: dict[str, int]) -> None:
    usual, light = both(members)
    assert [seen(member) for member in light] == [seen(member) for member in usual]
    assert len(light) == len(usual)
    assert list(light.__members__) == list(usual.__members__)
    for name, value in members.items():
        assert seen(light[name]) == seen(usual[name])
        assert light[name] is light(value) is getattr(light, name) is light.__members__[name]
        assert value in light and light[name] in light


@given(MEMBERS, st.integers(-9, 20), NAMES)
def test_what_is_no_member_is_refused_alike(members: dict[str, int], value: int, name: str) -> None:
    for made in both(members):
        if value not in members.values():
            with pytest.raises(ValueError, match="is not a valid Both"):
                made(value)
        if name not in members:
            with pytest.raises(KeyError):
                made[name]
            with pytest.raises(AttributeError):
                getattr(made, name)


def test_a_base_may_say_what_other_numbers_are() -> None:
    made: Any = Base("Made", [("ONE", 1)], module=__name__)
    assert made(1).name == "ONE" and made(7) == 7 and made(7).name is None
    assert made.__module__ == __name__


@pytest.mark.parametrize("made", [Occurrence, Cause, Kind])
def test_enumerations_of_compiled_modules_are_light_and_whole(made: Any) -> None:
    assert isinstance(made, light_enum.EnumType)
    for name, member in made.__members__.items():
        assert made[name] is member and member == member.value
        assert pickle.loads(pickle.dumps(member)) is member and copy.deepcopy(member) is member
    assert json.loads(json.dumps(list(made))) == [int(member) for member in made]


def test_a_number_without_a_name_is_one_of_them_all_the_same() -> None:
    unknown = Occurrence(10_000)
    assert unknown == 10_000 and repr(unknown) == "<Occurrence: 10000>"
