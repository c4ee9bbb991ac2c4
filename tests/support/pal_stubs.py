"""The stubs of the firmware, assembled: ``python tests/support/pal_stubs.py`` writes them beside their source."""

import shutil
import subprocess
import sys
from pathlib import Path

FIRMWARE = Path(__file__).resolve().parents[2] / "src/pfmon/engine/ia64/system/firmware"
SOURCE, BINARY = FIRMWARE / "pal.S", FIRMWARE / "pal.bin"
TOOLS = ("ia64-linux-gnu-as", "ia64-linux-gnu-objcopy")
HAS_TOOLS = all(shutil.which(tool) for tool in TOOLS)


def assembled(folder: Path) -> bytes:
    """What the assembler makes of the source; ``folder``: for its files."""
    program, flat = folder / "pal.o", folder / "pal.bin"
    subprocess.run([TOOLS[0], "-o", program, SOURCE], check=True)
    subprocess.run([TOOLS[1], "-O", "binary", "-j", ".text", program, flat], check=True)
    return flat.read_bytes()


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as name:
        code = assembled(Path(name))
    BINARY.write_bytes(code)
    sys.stdout.write(f"{BINARY}: {len(code)} bytes\n")
