"""The examples of docs/library.md and of the README run as they are written."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGES = ("docs/library.md", "README.md")


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_examples_run_one_after_the_other(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S)
    assert blocks
    names: dict[str, object] = {"__name__": "example"}
    for number, block in enumerate(blocks):
        exec(compile(block, f"{page}, example {number + 1}", "exec"), names)


def test_every_option_is_told_of() -> None:
    from pfmon.library.keywords import KEYWORDS, Keywords

    text = (ROOT / "docs/library.md").read_text()
    assert set(KEYWORDS) == set(Keywords.__annotations__)
    assert [name for name in KEYWORDS if f"`{name}`" not in text] == []
