"""A table whose entries are made when they are asked for is the table of all of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pfmon.lazy_map import LazyMap


@pytest.mark.slow
@given(st.dictionaries(st.text(max_size=3), st.integers().map(str), max_size=9), st.text(max_size=3))
def test_it_is_as_a_table_that_was_made_at_once(texts: dict[str, str], name: str) -> None:
    table, whole = LazyMap(texts, int), {key: int(text) for key, text in texts.items()}
    assert table.get(name) == whole.get(name)
    assert (name in table) == (name in whole)
    assert dict(table) == whole and list(table) == list(whole) and len(table) == len(whole)


def test_an_entry_is_made_once_and_others_are_not() -> None:
    made: list[str] = []

    def make(text: str) -> str:
        made.append(text)
        return text * 2

    table = LazyMap({"a": "1", "b": "2"}, make)
    assert table["b"] is table["b"] and made == ["2"]
    with pytest.raises(KeyError):
        table["c"]
