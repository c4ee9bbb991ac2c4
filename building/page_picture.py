"""Takes the picture of the HTML page that the README shows.

    python building/page_picture.py [--to FILE] [--width PIXELS] [--height PIXELS]

The page is that of a run of an example with the pfmon of this Python; chromium, without a window, draws it.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ("examples/x86_64/hashmap", "20000")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
DRAWING = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=5000")
"""The page's scripts have five seconds of their own clock."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "page.png")
    parser.add_argument("--width", type=int, default=1200)
    parser.add_argument("--height", type=int, default=1000)
    given = parser.parse_args()
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit("chromium is not installed (Debian: apt-get install chromium)")
    to, size = given.to.resolve(), f"--window-size={given.width},{given.height}"
    with TemporaryDirectory() as place:
        page = Path(place, "page.html")
        words = [sys.executable, "-m", "pfmon", "--no-cmd-output", "--report", f"html:{page}", *PROGRAM]
        subprocess.run(words, cwd=ROOT, check=True)
        profile = f"--user-data-dir={place}/profile"
        drawn = [browser, *DRAWING, size, profile, f"--screenshot={to}", page.as_uri()]
        subprocess.run(drawn, stderr=subprocess.DEVNULL, check=True)
    print(f"{to}: {to.stat().st_size / 1000:.0f} KB")


if __name__ == "__main__":
    main()
