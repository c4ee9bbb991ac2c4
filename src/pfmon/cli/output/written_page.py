"""A page that was written: the line that says where it is, and the browser that shows it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType

from pfmon.cli.output.printing import print_notice
from pfmon.cli.output.result_output import write_output

DISPLAYS = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME")
"""Variables of the environment one of which is set where a browser can be shown; the standard library's webbrowser
reads the first."""


class PageViewer:
    """Says where pages are, and opens them. What cannot be opened is said, and fails nothing."""

    def __init__(self, opens: bool, quiet: bool = False) -> None:
        """``opens``: show pages in the browser; ``quiet``: do not say where they are."""
        self._quiet = quiet
        self._browsers = _browsers() if opens else None

    def write(self, path: str, text: str, option: str) -> None:
        """Write a page, and show it. LostError, in the words of the ``option`` that names the file: it cannot be
        written."""
        write_output(path, text, option)
        self.show(path)

    def show(self, path: str, others: int = 0) -> None:
        """Print the path of a page, and the number of ``others`` behind it; open it with --open."""
        address = Path(path).absolute().as_uri()
        if not self._quiet:
            where = address if sys.stderr is not None and sys.stderr.isatty() else path
            pages = f"the page, and {others} more" if others else "the page"
            hint = "" if self._browsers else "; --open shows it in the browser"
            print_notice(f"{where}: {pages}{hint}")
        if self._browsers and not _opened(self._browsers, address):
            print_notice(f"--open: no browser can be shown here; the page is {address} (BROWSER=COMMAND names one)")


def _browsers() -> ModuleType:
    import webbrowser  # before a run, which may leave no memory to import it

    return webbrowser


def _opened(browsers: ModuleType, address: str) -> bool:
    if not any(os.environ.get(name) for name in DISPLAYS):
        return False
    try:
        return bool(browsers.open(address))
    except (OSError, ValueError, browsers.Error):
        return False
