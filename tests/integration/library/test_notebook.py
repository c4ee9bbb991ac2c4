"""The notebook of examples/teaching runs in a Jupyter kernel and shows what it is stored with."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from command import EXAMPLES
from host_programs import RUNS_X86_64

NOTEBOOK = EXAMPLES / "teaching" / "measuring.ipynb"


def shown(cell: Any) -> tuple[str, list[str], int]:
    """What a cell printed, the tables that it shows, and the number of its pictures."""
    printed = "".join("".join(one["text"]) for one in cell.get("outputs", ()) if one["output_type"] == "stream")
    data = [one["data"] for one in cell.get("outputs", ()) if "data" in one]
    return (
        printed,
        ["".join(one["text/html"]) for one in data if "text/html" in one],
        sum("image/svg+xml" in one for one in data),
    )


@pytest.mark.slow
@RUNS_X86_64
def test_the_notebook_shows_what_it_is_stored_with(tmp_path: Path) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    folder = tmp_path / "examples" / "teaching"
    shutil.copytree(NOTEBOOK.parent, folder, ignore=shutil.ignore_patterns("*.sweep"))
    notebook = nbformat.read(NOTEBOOK, 4)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    stored = json.loads(NOTEBOOK.read_text())["cells"]
    assert [shown(cell) for cell in notebook.cells] == [shown(cell) for cell in stored]
    assert sum(shown(cell)[2] for cell in stored) == 3
