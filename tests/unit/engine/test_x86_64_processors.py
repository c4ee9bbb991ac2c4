"""The model of processor that a program sees under the x86_64 engine, on hosts that have more or fewer features."""

import pytest

from pfmon.engine.x86_64 import processors
from pfmon.engine.x86_64.processors import FEATURES, PROCESSORS, V3, on_host
from pfmon.errors import PfmonError


def host_has(monkeypatch: pytest.MonkeyPatch, *features: str) -> None:
    """The host has these features."""
    monkeypatch.setattr(processors, "host_features", lambda: frozenset(features))


def test_every_model_has_the_features_of_those_below(monkeypatch: pytest.MonkeyPatch) -> None:
    present: set[str] = set()
    for name in reversed(PROCESSORS):
        present |= set(FEATURES[name])
        host_has(monkeypatch, *present)
        assert on_host(name, mask=False) == (name, ())


def test_default_is_x86_64_v3(monkeypatch: pytest.MonkeyPatch) -> None:
    host_has(monkeypatch, "ssse3", "sse4_2", "popcnt", *V3, "avx512f")
    assert on_host("", mask=False) == on_host("", mask=True) == ("x86-64-v3", ())


def test_host_without_a_feature_is_refused_unless_it_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    host_has(monkeypatch, "ssse3", "sse4_2", "popcnt", *(one for one in V3 if one != "avx2"))
    with pytest.raises(PfmonError, match=r"lacks avx2 of x86-64-v3.*give --mask-cpuid \(it sees Nehalem then\)"):
        on_host("", mask=False)
    assert on_host("", mask=True) == ("Nehalem", ["avx2"])
    assert on_host("Nehalem", mask=True) == ("Nehalem", ())


def test_host_that_has_no_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    host_has(monkeypatch, "sse2")
    with pytest.raises(PfmonError, match="give --engine=qemu"):
        on_host("Conroe", mask=True)


def test_unknown_model_is_refused_with_those_that_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PfmonError, match="--engine=x86_64 has x86-64-v4, zen4, x86-64-v3, zen3, Nehalem, Conroe"):
        on_host("Haswell", mask=False)
