"""pprof, decoded by Google's protobuf from the published fields of profile.proto."""

import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from cpp_program import AREA, HEADER, MAIN_FILE, MANGLED, NAME, function, line, write_cpp_program
from exported import QUEENS, expected, export, weights

# Of each message the fields by number; * is for repeated ones, capital letters are messages.
PROTO = {
    "Profile": "sample_type:ValueType* sample:Sample* mapping:Mapping* location:Location* function:Function* "
    "string_table:string* drop_frames keep_frames time_nanos duration_nanos period_type:ValueType period "
    "comment:int64* default_sample_type doc_url",
    "ValueType": "type unit",
    "Sample": "location_id:uint64* value:int64* label:Label*",
    "Label": "key str num num_unit",
    "Mapping": "id:uint64 memory_start:uint64 memory_limit:uint64 file_offset:uint64 filename build_id "
    "has_functions:bool has_filenames:bool has_line_numbers:bool has_inline_frames:bool",
    "Location": "id:uint64 mapping_id:uint64 address:uint64 line:Line* is_folded:bool",
    "Line": "function_id:uint64 line column",
    "Function": "id:uint64 name system_name filename start_line",
}
EVENTS = ("IA64_INST_RETIRED", "LOADS_RETIRED")


@pytest.fixture(name="message", scope="module")
def message_class() -> Any:
    """The class of Profile messages."""
    pytest.importorskip("google.protobuf")
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="profile.proto", package="p", syntax="proto3")
    kinds = descriptor_pb2.FieldDescriptorProto
    scalars = {kind: getattr(kinds, f"TYPE_{kind.upper()}") for kind in ("int64", "uint64", "bool", "string")}
    for name, fields in PROTO.items():
        message = file.message_type.add(name=name)
        for number, text in enumerate(fields.split(), 1):
            field, _, kind = text.partition(":")
            label = kinds.LABEL_REPEATED if kind.endswith("*") else kinds.LABEL_OPTIONAL
            kind = kind.removesuffix("*") or "int64"
            made = message.field.add(name=field, number=number, label=label, type=scalars.get(kind, kinds.TYPE_MESSAGE))
            if kind not in scalars:
                made.type_name = f".p.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("p.Profile"))


def decoded(message: Any, path: Path) -> Any:
    """The profile of a file; it has no field that is not published."""
    profile = message.FromString(gzip.decompress(path.read_bytes()))
    assert message.FromString(profile.SerializeToString()) == profile
    known = profile.SerializeToString()
    profile.DiscardUnknownFields()
    assert profile.SerializeToString() == known
    assert profile.string_table[0] == "" and len(set(profile.string_table)) == len(profile.string_table)
    return profile


@pytest.fixture(name="profile")
def queens(message: Any, tmp_path: Path) -> Any:
    return decoded(message, export(tmp_path / "pprof", "pprof"))


def stacks(profile: Any) -> list[list[Any]]:
    """The locations of each sample."""
    locations = {location.id: location for location in profile.location}
    assert len(locations) == len(profile.location)
    return [[locations[number] for number in sample.location_id] for sample in profile.sample]


@pytest.mark.slow
def test_values_are_the_samples_and_their_events(profile: Any) -> None:
    text = profile.string_table
    assert [(text[one.type], text[one.unit]) for one in profile.sample_type] == [
        (name, "count") for name in ("samples", *EVENTS)
    ]
    assert text[profile.default_sample_type] == EVENTS[0]
    addresses = [tuple(location.address for location in stack) for stack in stacks(profile)]
    assert len(set(addresses)) == len(addresses)
    found = {stack: tuple(sample.value) for stack, sample in zip(addresses, profile.sample, strict=True)}
    values: dict[tuple[int, ...], Counter[str]] = {}
    for one in expected():
        values.setdefault(one.frames, Counter()).update({"": 1, one.event: one.period})
    assert found == {stack: tuple(value[name] for name in ("", *EVENTS)) for stack, value in values.items()}


@pytest.mark.slow
def test_functions_have_the_weights_of_the_samples(profile: Any) -> None:
    functions = {one.id: profile.string_table[one.name] for one in profile.function}
    found: Counter[tuple[str, ...]] = Counter()
    for stack, sample in zip(stacks(profile), profile.sample, strict=True):
        found[tuple(functions[location.line[0].function_id] for location in stack)] += sample.value[1]
    assert +found == weights(EVENTS[0])


def test_the_program_is_mapped_where_its_code_lies(profile: Any) -> None:
    (mapping,) = profile.mapping
    assert profile.string_table[mapping.filename] == QUEENS[0]
    assert {location.mapping_id for location in profile.location} == {mapping.id}
    assert all(mapping.memory_start <= location.address < mapping.memory_limit for location in profile.location)
    assert profile.duration_nanos == expected()[-1].stamp
    assert [profile.string_table[number] for number in profile.comment] == [" ".join(QUEENS)]


def test_locations_have_lines_and_functions_the_names_of_the_linker(message: Any, tmp_path: Path) -> None:
    program = write_cpp_program(tmp_path / "shapes")
    words = ("-e", "ia64_inst_retired", "--long-smpl-periods=1")
    profile = decoded(message, export(tmp_path / "pprof", "pprof", *words, command=(str(program),)))
    text, functions = profile.string_table, {one.id: one for one in profile.function}
    for location in profile.location:
        (place,) = location.line
        of = functions[place.function_id]
        assert (text[of.filename], place.line) == line(location.address)
        assert text[of.name] == function(location.address)[0]
    made = {(text[one.name], text[one.system_name], text[one.filename], one.start_line) for one in profile.function}
    assert made == {
        ("main", "main", MAIN_FILE, 3),
        ("main", "main", HEADER, 0),  # inlined: no function begins there
        (NAME, MANGLED, HEADER, 11),
    }
    assert AREA in {location.address for location in profile.location}
