"""Fixtures of the engines' tests: programs and directories for roots (confined_roots.py)."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import following
import pytest
from confined_roots import make_root
from x86_64_host import compiled


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Static programs: `root`, which makes all calls with paths, and `hostile`."""
    made = tmp_path_factory.mktemp("programs")
    for name in ("root", "root_random", "hostile"):
        compiled(made, name, "-static", "-fno-stack-protector")
    return made


@pytest.fixture
def outside(tmp_path: Path, programs: Path) -> Path:
    """A directory with a secret beside a root."""
    (tmp_path / "secret").write_bytes(b"outside")
    (tmp_path / "secret").chmod(0o600)
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "more").write_bytes(b"outside")
    root = make_root(tmp_path / "root", programs / "root")
    secret = str(tmp_path / "secret")
    links = {"absolute": secret, "relative": "../secret", "far": "../" * 30 + secret, "chain": "sub/next", "up": ".."}
    links |= {"directory": str(tmp_path / "private"), "proc": f"/proc/self/root{secret}"}
    for name, target in links.items():
        (root / name).symlink_to(target)
    return tmp_path


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with `ls`, `cat` and `sh` of the host and their libraries."""
    root = tmp_path_factory.mktemp("linked")
    for name in ("ls", "cat", "sh"):
        program = os.path.realpath(shutil.which(name) or "")
        told = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        for path in [*re.findall(r"/[^ ]*", told)]:
            (root / path[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, root / path[1:])
        (root / "bin").mkdir(exist_ok=True)
        shutil.copy(program, root / "bin" / name)
    (root / "etc").mkdir()
    (root / "etc" / "mine").write_text("mine\n")
    return root


@pytest.fixture(scope="session")
def events(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that has perf events of its own."""
    return compiled(tmp_path_factory.mktemp("events"), "events", "-static", "-pthread")


@pytest.fixture(params=following.ENGINES)
def each_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The engine that `follow` takes, each in turn."""
    engine: str = request.param
    monkeypatch.setattr(following, "engine", engine)
    return engine
