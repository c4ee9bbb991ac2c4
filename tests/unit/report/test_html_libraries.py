"""The libraries in HTML reports are what NOTICE says that they are, with their licences."""

import hashlib
import re
from pathlib import Path

from pfmon.report.html.page import D3, FLAME, FOLDER, PLOT

VENDOR = FOLDER / "vendor"


def test_each_library_is_its_packages_file_with_a_licence() -> None:
    notice = (VENDOR / "NOTICE").read_text()
    named = dict(re.findall(r"^(\S+\.js) .* ([0-9a-f]{64})$", notice, re.M))
    assert named == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in VENDOR.glob("*.js")}
    assert {f"vendor/{name}" for name in named} == {D3, PLOT, FLAME}
    for name in re.findall(r"(\S+\.LICENSE)", notice.replace("(", " ").replace(")", " ")):
        assert (VENDOR / name).stat().st_size > 500


def test_the_root_points_to_the_notice() -> None:
    assert "src/pfmon/report/html/vendor/NOTICE" in (Path(__file__).resolve().parents[3] / "NOTICE").read_text()
