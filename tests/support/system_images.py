"""The images of tests/data/system/: programs for a whole IA-64 processor that print a line for each case of a rule.

What a case prints stands in the source behind it, as the manual determines it, with the manual's section:

    //= name 1000 isr=0000+r.0 iip=+000 | volume 2, 8.3

A line `//with --guest-pmu` names options that the image needs.

    python tests/support/system_images.py            # assembles all of them (binutils-ia64-linux-gnu)
    python tests/support/system_images.py --ski bski # compares them with Ski: lines that differ and are not known to
"""

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from fnmatch import fnmatch
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "data" / "system"
ASSEMBLER = "ia64-linux-gnu-as"
LINKER = "ia64-linux-gnu-ld"
SKI_OPTIONS = ("-noconsole", "-palen", "50")
"""Output on stdout, and the physical addresses of the later Itaniums."""
SECONDS = 20
EXPECTED = re.compile(r"^\s*//= (?P<text>.*) \| (?P<source>.+)$")
OPTIONS = re.compile(r"^//with (?P<options>.+)$", re.MULTILINE)
SKI = re.compile(r"^\s*//ski (?P<text>\S+): (?P<why>.+)$")


def names() -> list[str]:
    """Of the images, without their endings."""
    return sorted(path.stem for path in FOLDER.glob("*.S"))


def image(name: str) -> Path:
    """Its assembled file."""
    return FOLDER / f"{name}.elf"


def _lines(name: str) -> list[str]:
    return (FOLDER / f"{name}.S").read_text().splitlines()


def cases(name: str) -> list[str]:
    """The names of its cases, in order."""
    return re.findall(r"^\s*END (\w+)", "\n".join(_lines(name)), re.MULTILINE)


def sections(name: str) -> list[tuple[str, str]]:
    """(line, the manual's section) of all that the image has to print."""
    found = (EXPECTED.match(line) for line in _lines(name))
    return [(match["text"].rstrip(), match["source"]) for match in found if match]


def options(name: str) -> list[str]:
    """What the command needs to run the image, besides --system."""
    found = OPTIONS.search("\n".join(_lines(name)))
    return found["options"].split() if found else []


def expected(name: str) -> list[str]:
    """The lines that it has to print."""
    return [*(text for text, _ in sections(name)), "end"]


def differs_on_ski(name: str) -> dict[str, str]:
    """By case, or pattern of cases: why Ski prints something else."""
    found = (SKI.match(line) for line in _lines(name))
    return {match["text"]: match["why"] for match in found if match}


def can_assemble() -> bool:
    """Whether the assembler is here."""
    return all(map(shutil.which, (ASSEMBLER, "cpp")))


def assemble(name: str, target: Path, folder: Path = FOLDER) -> None:
    """The image, from its source in a folder."""
    script = str(FOLDER / "image.lds")
    with tempfile.TemporaryDirectory() as place:
        text, thing, whole = (f"{place}/image.{kind}" for kind in ("s", "o", "elf"))
        for words in (
            ["cpp", "-P", "-x", "assembler-with-cpp", str(folder / f"{name}.S"), text],
            [ASSEMBLER, "-o", thing, text],
            [LINKER, "-z", "max-page-size=4096", "-T", script, "-static", "-nostdlib", "-o", whole, thing],
            ["ia64-linux-gnu-strip", whole],
        ):
            made = subprocess.run(words, env={**os.environ, "LC_ALL": "C"}, capture_output=True, text=True)
            if made.returncode:
                raise RuntimeError(f"{name}: {words[0]}: {_errors(made.stderr)}")
        target.write_bytes(Path(whole).read_bytes())


def _errors(text: str) -> str:
    """The first of an assembler's messages that are errors."""
    return "\n".join([line for line in text.splitlines() if "rror" in line][:10])


def ski(program: str, name: str) -> list[str]:
    """What Ski prints for the image."""
    ran = subprocess.run(
        [program, *SKI_OPTIONS, str(image(name))],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=SECONDS,
    )
    return ran.stdout.splitlines()


def unexplained(name: str, printed: list[str]) -> list[str]:
    """The differences of Ski's output from what the manual says, without those that the source explains."""
    known = differs_on_ski(name)

    def compared(lines: list[str]) -> list[str]:
        return [text for text in lines if text and not any(fnmatch(text.split()[0], pattern) for pattern in known)]

    wanted, found = compared(expected(name)), compared(printed)
    return list(difflib.unified_diff(wanted, found, f"{name}: the manual", "Ski", lineterm="", n=0))


def main() -> int:
    """Assembles the images, or compares them with Ski."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ski", help="the simulator")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="of the sources to assemble")
    parser.add_argument("names", nargs="*", help="images (all)")
    given = parser.parse_args()
    found = 0
    for name in given.names or names():
        if given.ski is None:
            assemble(name, given.folder / f"{name}.elf", given.folder)
            continue
        try:
            differences = unexplained(name, ski(given.ski, name))
        except subprocess.TimeoutExpired:
            differences = [f"{name}: no end after {SECONDS} s"]
        print(*differences, sep="\n", end="\n" if differences else "")
        found += len(differences)
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
