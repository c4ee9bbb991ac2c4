"""Snapshots of systems: a little kernel goes on from one, and what is none, damaged or of another system is refused."""

import json
import re
import struct
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from command import pfmon, refused
from grids import each
from little_kernel import PLACE, STATUS, little_kernel
from snapshot_pieces import Piece, pieces, snapshot_of, with_head

LITTLE = ("--system", str(PLACE), "--memory=32M")
COUNTED = ("-e", "ia64_inst_retired")


def counted(text: str) -> int:
    """Of the first event that is printed."""
    found = re.search(r"(\d+) IA64_INST_RETIRED", text)
    assert found, text
    return int(found[1])


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("snapshots") / "little"
    ran = pfmon(*LITTLE, "--snapshot", str(path), "--snapshot-on", "read[y]", *COUNTED)
    assert ran.returncode == 0, ran.stderr
    assert re.fullmatch(rf"pfmon: the snapshot is in {path}: 0\.0 MB\n", ran.stderr)
    path.with_suffix(".count").write_text(str(counted(ran.stdout)))
    return path


def test_image_is_what_its_lines_say() -> None:
    assert PLACE.read_bytes() == little_kernel()


def test_system_goes_on_as_if_nothing_had_been(snapshot: Path) -> None:
    """Its output, its status and its counts are those of the rest."""
    whole = pfmon(*LITTLE, *COUNTED)
    assert (whole.returncode, whole.stdout.startswith("ready\ndone\n")) == (STATUS, True)
    before = int(snapshot.with_suffix(".count").read_text())
    for _ in range(2):
        rest = pfmon(*LITTLE, "--from-snapshot", str(snapshot), *COUNTED)
        assert (rest.returncode, rest.stdout.startswith("\ndone\n")) == (STATUS, True)
        assert before + counted(rest.stdout) == counted(whole.stdout)


def test_system_of_a_snapshot_has_cycles_and_recordings(snapshot: Path, tmp_path: Path) -> None:
    """The machine's caches are empty when it goes on; a recording of the rest is replayed with the same counts."""
    events = ("-e", "cpu_cycles,ia64_inst_retired")
    recording = str(tmp_path / "rest")
    ran = pfmon(*LITTLE, "--from-snapshot", str(snapshot), *events, "--record", recording)
    assert ran.returncode == STATUS, ran.stderr
    replayed = pfmon("--replay", recording, *events)
    assert ran.stdout.removeprefix("\ndone\n") == replayed.stdout
    assert counted(ran.stdout) == counted(replayed.stdout) > 0


def test_several_processors_go_on(tmp_path: Path) -> None:
    path = str(tmp_path / "two")
    two = (*LITTLE, "--processors=2", *COUNTED)
    first = pfmon(*two, "--snapshot", path, "--snapshot-on", "ready")
    assert first.returncode == 0, first.stderr
    rest = pfmon(*two, "--from-snapshot", path)
    assert rest.returncode == STATUS
    assert counted(first.stdout) + counted(rest.stdout) == counted(pfmon(*two).stdout)
    assert "is of a system with 2 processors: give it the same --processors" in refused(
        *LITTLE, "--from-snapshot", path, *COUNTED
    )


def test_snapshot_that_is_not_written_is_said(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("mine")
    ran = pfmon(*LITTLE, "--snapshot", str(path), "--snapshot-on", "never", *COUNTED)
    assert ran.returncode == STATUS
    assert "not written: the run has ended before a line of the console matched --snapshot-on" in ran.stderr
    assert path.read_text() == "mine" and list(tmp_path.iterdir()) == [path]
    ended = pfmon(*LITTLE, "--snapshot", str(path), *COUNTED)
    assert "not written: the run has ended before the system was ready" in ended.stderr
    full = pfmon(*LITTLE, "--snapshot", "/dev/full", "--snapshot-on", "ready", *COUNTED)
    assert (full.returncode, full.stderr) == (2, "pfmon: --snapshot=/dev/full: no space left on device\n")
    assert refused(*LITTLE, "--snapshot", f"{path}/x", *COUNTED) == f"pfmon: --snapshot={path}/x: not a directory\n"


OTHERS = [
    (("--memory=64M",), "is of a system with 32M of memory: give it the same --memory"),
    (("--pmu=montecito",), r"is of a system with another processor \(itanium2\): give it the same --pmu"),
    (("--uart=0xe0000000",), "is of a system with its serial port at another address: give it the same --uart"),
    (("--cmdline=quiet",), "the system has booted without it: leave --cmdline out"),
    (("--initrd=x",), "the system has booted without it: leave --initrd out"),
    (("--guest-pmu",), "the system has booted without it: leave --guest-pmu out"),
    (("--snapshot=x",), "--snapshot=x: the run ends with the snapshot of a booted system: leave --from-snapshot out"),
    (("--", "examples/ia64/noploop"), "waits at its console: leave the program out"),
]


@each(("options", "message"), OTHERS)
def test_snapshot_of_another_system_is_refused(snapshot: Path, options: Sequence[str], message: str) -> None:
    before = options.index("--") if "--" in options else len(options)
    said = refused(*LITTLE, *options[:before], "--from-snapshot", str(snapshot), *COUNTED, *options[before:])
    assert re.search(message, said), said


def test_snapshot_of_another_kernel_is_refused(snapshot: Path, tmp_path: Path) -> None:
    path = tmp_path / "kernel"
    path.write_bytes(little_kernel().replace(b"6.1.0", b"6.1.1"))
    said = refused("--system", str(path), "--memory=32M", "--from-snapshot", str(snapshot), *COUNTED)
    assert f"is of another kernel than {path}" in said


NEED_ANOTHER = [
    (("--snapshot-on=x",), "--snapshot-on is about a snapshot: give --snapshot=FILE too"),
    (("--snapshot=x", "--initrd=y"), "--snapshot-on says when the snapshot is taken"),
    (("--snapshot=x", "--guest-pmu"), "leave --guest-pmu out"),
    (("--snapshot=x", "--exit-on=y"), "leave --exit-on out"),
    (("--snapshot=x", "--record=y"), "leave --record out"),
    (("--snapshot=x", "--", "examples/ia64/noploop"), r"leave the program .* \(--from-snapshot runs it\) out"),
]


@each(("options", "message"), NEED_ANOTHER)
def test_options_that_do_not_go_together_are_said(options: Sequence[str], message: str) -> None:
    assert re.search(message, refused(*LITTLE, *COUNTED, *options))


# --- files that are no snapshots


def changed_part(place: int, change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """The snapshot with another piece at a place, and its checksum."""

    def changed(good: bytes) -> bytes:
        parts = pieces(good)
        kind, data = parts[place]
        parts[place] = (kind, change(data))
        return snapshot_of(parts)

    return changed


def arranged(order: Callable[[list[Piece]], list[Piece]]) -> Callable[[bytes], bytes]:
    return lambda good: snapshot_of(order(pieces(good)))


def head(**values: object) -> Callable[[bytes], bytes]:
    return lambda good: with_head(good, values)


def device(name: str, **values: object) -> Callable[[bytes], bytes]:
    def changed(good: bytes) -> bytes:
        devices = json.loads(pieces(good)[0][1])["devices"]
        devices[name].update(values)
        return with_head(good, {"devices": devices})

    return changed


def memory_at(address: int, length: int = 1 << 14) -> Callable[[bytes], bytes]:
    return arranged(lambda parts: [*parts[:2], (b"M", struct.pack("<Q", address) + bytes(length)), parts[-1]])


DAMAGED = [
    ("nothing", lambda _: b"", "is no snapshot of a system"),
    ("another file", lambda _: b"\x7fELF" * 100, "is no snapshot of a system"),
    ("another version", lambda good: snapshot_of(pieces(good), 2), "of version 2, and this pfmon reads version 1"),
    ("the start alone", lambda good: good[:12], "it has no head"),
    ("cut in a head", lambda good: good[:20], "it is cut short"),
    ("cut in a piece", lambda good: good[: len(good) - 3], "it is cut short"),
    ("without its end", arranged(lambda parts: parts[:-1]), "it ends before its end"),
    ("with more behind it", lambda good: good + b"x", "there is more than its end"),
    ("without a part of memory", arranged(lambda parts: [*parts[:2], *parts[3:]]), "something is missing"),
    ("a bit is another", lambda good: good[:40] + bytes([good[40] ^ 1]) + good[41:], "a checksum is wrong"),
    ("two heads", arranged(lambda parts: [parts[0], *parts]), "a piece is at a wrong place"),
    ("memory before processors", arranged(lambda parts: [parts[0], parts[2], parts[1], *parts[3:]]), "wrong place"),
    ("another kind", arranged(lambda parts: [*parts[:2], (b"X", b""), *parts[2:]]), "wrong place"),
    ("no processor", arranged(lambda parts: [parts[0], *parts[2:]]), "a processor is missing"),
    ("two processors", arranged(lambda parts: [*parts[:2], *parts[1:]]), "a processor's state is none"),
    ("no processor's state", changed_part(1, lambda state: state[:8] + b"\1" * (len(state) - 8)), "state is none"),
    ("a short state", changed_part(1, lambda state: state[8:]), "state is none"),
    ("no JSON", changed_part(0, lambda _: b"{"), "its head is none"),
    ("deep JSON", changed_part(0, lambda _: b"[" * 100_000), "its head is none"),
    ("a list", changed_part(0, lambda _: b"[1]"), "its head is none"),
    ("an empty head", changed_part(0, lambda _: b"{}"), "is of another kernel"),
    ("of a system that waits for a program", head(waits_for="program"), "waits for a program: give one too"),
    ("memory that is no number", head(memory="x" * 999), "with another size of memory"),
    ("a name in its place", head(model="a\nb"), r"with another processor \(a\\nb\)"),
    ("no devices", head(devices=[]), "it has other devices"),
    ("a field too few", device("uart", _line=None), "a number is out of its range"),
    ("a field too many", device("uart", more=1), "fields are missing"),
    ("a large field", device("uart", _scratch=256), "a number is out of its range"),
    ("a fraction", device("uart", _scratch=1.5), "a number is out of its range"),
    ("a truth", device("uart", _scratch=True), "a number is out of its range"),
    ("few lines", device("iosapic", _raised=[0]), "_raised is no list of 24"),
    ("a line beyond", device("iosapic", _entries=[1 << 64] * 24), "a number is out of its range"),
    ("a handler at no bundle", head(handlers=[[2, 8, 0]]), "no handler"),
    ("a handler of nothing", head(handlers=[[3, 16, 0]]), "no handler"),
    ("turns of others", head(turns=[]), "it has other processors"),
    ("a time before all", head(turns=[[0, 0, -1]]), "a processor has no time"),
    ("a processor that is none", head(current=1), "no processor goes on"),
    ("memory beyond its end", memory_at(32 << 20), "memory is where there is none"),
    ("memory over its end", memory_at((32 << 20) - (1 << 14), 2 << 14), "memory is where there is none"),
    ("memory at no page", memory_at(1 << 13), "memory is where there is none"),
    ("a part of a page", memory_at(0, 1 << 13), "memory is where there is none"),
    ("no memory", memory_at(0, 0), "memory is where there is none"),
    ("memory twice", arranged(lambda parts: [*parts[:3], *parts[2:]]), "memory is where there is none"),
    (
        "a piece of a gigabyte",
        lambda good: good[:12] + struct.pack("<cIII", b"H", 1 << 30, 1 << 30, 0),
        "a piece is longer than any",
    ),
    (
        "more than it says",
        lambda good: good[:12] + struct.pack("<cIII", b"H", 0, 1 << 10, 0x5E3A2B0D) + good[25:],
        "a checksum is wrong",
    ),
]


@each(("change", "message"), [row[1:] for row in DAMAGED], ids=[row[0] for row in DAMAGED])
def test_damaged_snapshot_is_refused(
    snapshot: Path, tmp_path: Path, change: Callable[[bytes], bytes], message: str
) -> None:
    path = tmp_path / "damaged"
    path.write_bytes(change(snapshot.read_bytes()))
    said = refused(*LITTLE, "--from-snapshot", str(path), *COUNTED)
    assert re.search(message, said), said
    assert said.startswith(f"pfmon: --from-snapshot={path}: ")


def test_files_that_cannot_be_read_are_said(tmp_path: Path) -> None:
    assert "no such file or directory" in refused(*LITTLE, "--from-snapshot", str(tmp_path / "none"), *COUNTED)
    assert "is a directory" in refused(*LITTLE, "--from-snapshot", str(tmp_path), *COUNTED)
    assert "is no snapshot" in refused(*LITTLE, "--from-snapshot", "/dev/zero", *COUNTED)
