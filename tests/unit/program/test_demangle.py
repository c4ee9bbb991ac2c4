"""C++ names, by the examples of the ABI's chapter on mangling and by what compilers add to names."""

import sys

import pytest
from grids import each
from hypothesis import given
from hypothesis import strategies as st

from pfmon.program import demangle
from pfmon.program.demangle import demangled, plain_name

NAMES = {
    "_ZN3foo3barEv": "foo::bar()",
    "_ZNK8geometry9RectangleIiE4areaEv": "geometry::Rectangle<int>::area() const",
    "_Z5firstI3DuoEvS0_": "void first<Duo>(Duo)",
    "_ZN1AC1Ei": "A::A(int)",
    "_ZN1AD2Ev": "A::~A()",
    "_ZplRK1AS1_": "operator+(A const&, A const&)",
    "_ZN12_GLOBAL__N_14workEPKc": "(anonymous namespace)::work(char const*)",
    "_ZZ4mainENKUlvE_clEv": "main::{lambda()#1}::operator()() const",
    "_ZL4tickv.constprop.0": "tick() [clone .constprop.0]",
}


@each("name", NAMES)
def test_names_are_as_programmers_write_them(name: str) -> None:
    assert demangled(name) == NAMES[name]


@each("name", ["main", "", "_start", "_Z", "_ZZZ", "_ZN3fo", "_Zürich", "Z3foov", "_Z3foov" + 70000 * "P"])
def test_what_is_not_mangled_stays_as_it_is(name: str) -> None:
    assert demangled(name) == name


PLAIN = {
    "main": "main",
    "geometry::Circle::area() const": "geometry::Circle::area",
    "geometry::Rectangle<int>::name[abi:cxx11]() const": "geometry::Rectangle<int>::name",
    "geometry::Circle::~Circle()": "geometry::Circle::~Circle",
    "operator new(unsigned long)": "operator new",
    "operator delete(void*, unsigned long)": "operator delete",
    "Matrix::operator()(int, int) const": "Matrix::operator()",
    "Matrix::operator()() &": "Matrix::operator()",
    "operator+(A const&, A const&)": "operator+",
    "A::operator<(A const&) const": "A::operator<",
    "A::operator->() const": "A::operator->",
    "(anonymous namespace)::f(int)": "(anonymous namespace)::f",
    "void swap<int>(int&, int&)": "swap<int>",
    "std::vector<int, std::allocator<int> > make<int, 3>(void (*)(int))": "make<int, 3>",
    "main::{lambda(int)#1}::operator()(int) const": "main::{lambda(int)#1}::operator()",
    "tick() [clone .constprop.0]": "tick",
    "bool cooperator(int)": "cooperator",
}


@each("name", PLAIN)
def test_plain_names_have_neither_parameters_nor_types(name: str) -> None:
    assert plain_name(name) == PLAIN[name]


@given(st.text(st.sampled_from("ab()<>[]{} &:*,operatcns"), max_size=40))
def test_any_text_has_a_plain_name(text: str) -> None:
    assert plain_name(text) in text


@given(st.text(st.characters(blacklist_characters="\0", blacklist_categories=("Cs",)), max_size=30))
def test_any_name_is_a_name(name: str) -> None:
    assert demangled(f"_Z{name}")
    assert demangled(f"_Z1f{name.upper()}")


def test_without_the_library_names_stay_mangled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cxxfilt", None)
    demangle._demangler.cache_clear()
    try:
        assert demangled("_ZN3foo3barEv") == "_ZN3foo3barEv"
    finally:
        demangle._demangler.cache_clear()
