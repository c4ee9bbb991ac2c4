"""The commands of a page, and whether they print what the page says."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.S | re.M)
CUT = "..."
"""Stands for any lines."""


def blocks(page: str, kind: str) -> list[str]:
    """The blocks of a page that are marked with that kind."""
    return [text for mark, text in BLOCK.findall((ROOT / page).read_text()) if mark == kind]


def told(page: str) -> list[tuple[str, list[str]]]:
    """Each command of a page, without pfmon, and the lines that follow it."""
    found = []
    for text in blocks(page, "console"):
        command, *lines = text.splitlines()
        assert command.startswith("$ pfmon "), f"{page}: {command}"
        found.append((command.removeprefix("$ pfmon "), lines))
    return found


def contains(printed: list[str], lines: list[str]) -> bool:
    """Whether the lines are what was printed, in their order; ``...`` stands for any lines."""
    at = 0
    for number, piece in enumerate(pieces(lines)):
        places = range(at, len(printed) - len(piece) + 1) if number else [0]
        found = [place for place in places if printed[place : place + len(piece)] == piece]
        if not found:
            return False
        at = found[0] + len(piece)
    return lines[-1] == CUT or at == len(printed)


def pieces(lines: list[str]) -> list[list[str]]:
    """The lines between the places that are left out."""
    found: list[list[str]] = [[]]
    for line in lines:
        if line == CUT:
            found.append([])
        else:
            found[-1].append(line)
    return found
