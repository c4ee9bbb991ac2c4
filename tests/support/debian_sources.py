"""Sources of Debian's packages, from where this host has its packages, in a folder: nothing of the host changes."""

import os
import subprocess
from pathlib import Path

from host_programs import may_install

TARGET = "$(REPO_URI) $(RELEASE) $(COMPONENT)"


def source_of(package: str, folder: Path) -> Path | None:
    """The folder of the original source of a package; None: it cannot be had here."""
    if not may_install():
        return None
    lists = folder / "lists"
    (lists / "partial").mkdir(parents=True)
    sources = folder / "sources.list"
    found = _said(folder, "apt-get", "indextargets", "--format", TARGET, "Created-By: Packages").splitlines()
    sources.write_text("".join(f"deb-src {line}\n" for line in dict.fromkeys(found)))
    options = [f"Dir::Etc::sourcelist={sources}", "Dir::Etc::sourceparts=-", f"Dir::State::lists={lists}"]
    apt = ["apt-get", "-qq", *(word for one in (*options, "APT::Sandbox::User=root") for word in ("-o", one))]
    _said(folder, *apt, "update")
    _said(folder, *apt, "source", "--download-only", package)
    for archive in folder.glob("*.orig.tar.*"):
        place = folder / "source"
        place.mkdir()
        _said(folder, "tar", "xf", archive.name, "-C", "source", "--strip-components=1")
        return place
    return None


def _said(folder: Path, *command: str) -> str:
    environment = {**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""
