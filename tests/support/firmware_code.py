"""Code of the firmware and of the platform, assembled: ``python tests/support/firmware_code.py`` writes it beside its
sources."""

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

SYSTEM = Path(__file__).resolve().parents[2] / "src/pfmon/engine/ia64/system"
SOURCES = (SYSTEM / "firmware/services.S", SYSTEM / "platform/init.S")
TOOLS = ("ia64-linux-gnu-as", "ia64-linux-gnu-objcopy")
HAS_TOOLS = all(shutil.which(tool) for tool in TOOLS)


def binary(source: Path) -> Path:
    """The file with the code of a source."""
    return source.with_suffix(".bin")


def assembled(source: Path, folder: Path) -> bytes:
    """What the assembler makes of a source; ``folder``: for its files."""
    program, flat = folder / "code.o", folder / "code.bin"
    subprocess.run([TOOLS[0], "-o", program, source], check=True)
    subprocess.run([TOOLS[1], "-O", "binary", "-j", ".text", program, flat], check=True)
    return flat.read_bytes()


if __name__ == "__main__":
    for one in SOURCES:
        with TemporaryDirectory() as name:
            code = assembled(one, Path(name))
        binary(one).write_bytes(code)
        sys.stdout.write(f"{binary(one)}: {len(code)} bytes\n")
