"""The binary file of samples: what was written is read, and what is damaged is said to be."""

import struct
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pfmon
from pfmon.errors import PfmonError
from pfmon.library.results.samples import Samples
from pfmon.report.sampling.raw import Raw
from pfmon.report.sampling.raw_format import HEADER, decode
from pfmon.report.sampling.sampling_module import ModuleContext
from pfmon.session.sampling.sampling_period import Sample

WORDS = st.integers(0, (1 << 64) - 1)
SAMPLES = st.lists(
    st.builds(
        Sample,
        WORDS,
        WORDS,
        st.sets(st.integers(0, 63)).map(lambda pmds: tuple(sorted(pmds))),
        WORDS,
        st.integers(0, 7),
        st.dictionaries(st.sampled_from([2, 3, 5, 17, 63]), WORDS, max_size=4).map(lambda pmds: tuple(pmds.items())),
        st.lists(WORDS, max_size=3).map(tuple),
        st.integers(0, (1 << 32) - 1),
        WORDS,
    ),
    max_size=8,
)


def written(*buffers: list[Sample]) -> bytes:
    """The file of some buffers."""
    module = Raw(ModuleContext(1000, model=pfmon.pmu("montecito")))
    return b"".join([*map(module.take, buffers), module.finish(None)])


@pytest.mark.slow
@given(st.lists(SAMPLES, max_size=3))
def test_any_samples_are_read_as_they_were_written(buffers: list[list[Sample]]) -> None:
    found = decode(written(*buffers))
    assert (found.pmu, found.process_id, found.damage) == ("montecito", 1000, "")
    assert found.samples == [sample for buffer in buffers for sample in buffer]


@pytest.mark.slow
@given(SAMPLES, SAMPLES, st.data())
def test_what_is_cut_off_is_said_and_the_whole_part_is_there(
    first: list[Sample], second: list[Sample], data: st.DataObject
) -> None:
    whole = written(first, second)
    length = data.draw(st.integers(HEADER.size, len(whole) - 1))
    found = decode(whole[:length])
    assert found.damage and found.samples == [*first, *second][: len(found.samples)]
    if length >= len(written(first)) - len(written()) + HEADER.size:
        assert len(found.samples) >= len(first)


@pytest.mark.slow
@given(SAMPLES.filter(bool), st.data())
def test_any_damage_is_said(samples: list[Sample], data: st.DataObject) -> None:
    whole = bytearray(written(samples))
    place = data.draw(st.integers(HEADER.size, len(whole) - 1))
    whole[place] ^= data.draw(st.integers(1, 255))
    found = decode(bytes(whole))
    assert found.damage and found.samples == samples[: len(found.samples)]


def test_the_layout_is_that_of_the_documentation() -> None:
    sample = Sample(0x4000_0000_0000_0101, 7, (4, 5), 500, 1, ((2, 22), (17, 33)), (0x10, 0x20), 1003, 9)

    def section(kind: bytes, content: bytes) -> bytes:
        return kind + struct.pack("<IQ", crc32(content), len(content)) + content

    assert written([sample], [sample._replace(calls=())]) == (
        b"PFMONSMP" + struct.pack("<II", 3, 1000) + b"montecito".ljust(16, b"\0")
        + section(b"REGS", struct.pack("<II", 2, 17))
        + section(b"SMPL", struct.pack("<QQQQIIIIQQQ", 0x4000_0000_0000_0101, 7, 0x30, 500, 1, 2, 1003, 0, 9, 22, 33))
        + section(b"CALL", struct.pack("<QQ", 0x10, 0x20))
        + section(b"SMPL", struct.pack("<QQQQIIIIQQQ", 0x4000_0000_0000_0101, 7, 0x30, 500, 1, 0, 1003, 0, 9, 22, 33))
        + section(b"DONE", struct.pack("<Q", 2))
    )  # fmt: skip


@pytest.mark.parametrize(
    ("version", "record", "thread"),
    [
        (1, struct.pack("<QQQQIIQ", 0x4000, 7, 0x30, 500, 1, 0, 33), 0),
        (2, struct.pack("<QQQQIIIIQ", 0x4000, 7, 0x30, 500, 1, 0, 1001, 0, 33), 1001),
    ],
)
def test_files_of_older_versions_are_read(version: int, record: bytes, thread: int, tmp_path: Path) -> None:
    def section(kind: bytes, content: bytes) -> bytes:
        return kind + struct.pack("<IQ", crc32(content), len(content)) + content

    (tmp_path / "samples").write_bytes(
        b"PFMONSMP" + struct.pack("<II", version, 1000) + b"montecito".ljust(16, b"\0")
        + section(b"REGS", struct.pack("<I", 17))
        + section(b"SMPL", record)
        + section(b"DONE", struct.pack("<Q", 1))
    )  # fmt: skip
    assert list(pfmon.read_samples(tmp_path / "samples")) == [
        Sample(0x4000, 7, (4, 5), 500, 1, ((17, 33),), (), thread)
    ]


SAMPLE = Sample(1, 2, (4,), 3, 0, ((5, 6),))


def test_files_are_read_by_the_library(tmp_path: Path) -> None:
    path = tmp_path / "samples"
    path.write_bytes(written([SAMPLE], [SAMPLE, SAMPLE]))
    assert pfmon.read_samples(path) == pfmon.read_samples(str(path)) == Samples([SAMPLE] * 3)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(PfmonError) as caught:
        pfmon.read_samples(path)
    assert str(caught.value).startswith(f"{path}: it ends at byte ")
    assert str(caught.value).endswith("; read_samples(..., partial=True) gives the 1 samples before that")
    assert pfmon.read_samples(path, partial=True) == Samples([SAMPLE])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no file of samples (--smpl-module=raw)"),
        (b"entry 0 PID:1000" * 9, "no file of samples"),
        (b"PFMONSMP", "no file of samples"),
        (b"PFMONSMP\4\0\0\0" + b"\0" * 20, "a file of samples of version 4; this pfmon reads version 3"),
    ],
)
def test_what_is_no_file_of_samples_is_refused(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "samples"
    path.write_bytes(content)
    for partial in (False, True):
        with pytest.raises(PfmonError) as caught:
            pfmon.read_samples(path, partial=partial)
        assert str(caught.value).startswith(f"{path}: {said}")
    with pytest.raises(PfmonError, match="no such file"):
        pfmon.read_samples(tmp_path / "none")


def test_more_behind_the_end_is_damage() -> None:
    assert decode(written([SAMPLE]) + b"x").damage.startswith("there is more after its end")
