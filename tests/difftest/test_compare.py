"""What counts as a difference between two documents, and what does not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.difftest.compare import Kind, compare, parse, reordered, respelled, text_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda values: (
        st.lists(values, max_size=4) | st.dictionaries(st.text(max_size=3), values, max_size=4)
    ),
    max_leaves=20,
)


def differences(ours: str, theirs: str) -> list[tuple[str, Kind, str, str]]:
    found = compare(parse(ours), parse(theirs))
    return [(one.path, one.kind, one.ours, one.theirs) for one in found]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ('{"a":1,"b":[true,null]}', ' { "b" : [ true , null ], "a" : 1 } '),
        ('"\\u00e9\\/"', '"é/"'),
        ('{"deep":{"x":1,"y":2}}', '{"deep":{"y":2,"x":1}}'),
    ],
)
def test_order_of_members_escapes_and_blanks_are_no_difference(ours: str, theirs: str) -> None:
    assert differences(ours, theirs) == []


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ("[1.0e1]", "[10.0]", ("$[0]", Kind.SPELLING, "1.0e1", "10.0")),
        ("[1]", "[1.0]", ("$[0]", Kind.SPELLING, "1", "1.0")),
        ("[1]", "[2]", ("$[0]", Kind.VALUE, "1", "2")),
        ("[1]", "[true]", ("$[0]", Kind.VALUE, "1", "true")),
        ('["1"]', "[1]", ("$[0]", Kind.VALUE, '"1"', "1")),
        ('{"a":null}', "{}", ("$.a", Kind.OURS, "null", "")),
        ("{}", '{"a":null}', ("$.a", Kind.THEIRS, "", "null")),
        ('{"a":[]}', '{"a":{}}', ("$.a", Kind.VALUE, "[]", "{}")),
        ('["{}"]', '["{ }"]', ("$[0]", Kind.VALUE, '"{}"', '"{ }"')),
    ],
)
def test_spelling_values_members_and_null_are_shown(
    ours: str, theirs: str, expected: tuple[str, Kind, str, str]
) -> None:
    assert differences(ours, theirs) == [expected]


def test_the_order_of_an_array_is_shown_and_equal_elements_stay_together() -> None:
    assert len(differences("[1,2]", "[2,1]")) == 2
    assert differences('[{"a":1},"x","y"]', '["x","y"]') == [("$[0]", Kind.OURS, '{"a":1}', "")]
    assert differences('["x"]', '["x",{"a":1}]') == [("$[1]", Kind.THEIRS, "", '{"a":1}')]
    assert [one[0] for one in differences('[{"a":1},9]', '[{"a":2},8,9]')] == ["$[0].a", "$[1]"]


def test_the_order_of_members_is_told_beside_the_differences() -> None:
    pair = parse('{"a":1,"b":[{"x":1,"y":2}]}'), parse('{"b":[{"y":2,"x":1}],"a":1}')
    assert list(reordered(*pair)) == ["$", "$.b[0]"]
    assert list(reordered(parse('{"a":1,"b":2}'), parse('{"b":2}'))) == []


def test_a_member_under_its_other_name_is_compared_by_value() -> None:
    theirs = respelled(parse('[{"mime_type":"x","n":1.0}]'), {"mime_type": "mimeType"})
    assert list(compare(parse('[{"mimeType":"x","n":1.0}]'), theirs)) == []
    [shown] = compare(parse('[{"mimeType":"y","n":1.0}]'), theirs)
    assert shown.path == "$[0].mimeType"


@pytest.mark.parametrize("document", ['{"a":1,"a":2}', "[NaN]", "[1", ""])
def test_what_no_reader_agrees_on_is_refused(document: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the reader's own words
        parse(document)


@given(JSON)
def test_a_document_is_like_itself_however_it_is_written(value: object) -> None:
    plain = parse(json.dumps(value))
    spread = parse(json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False))
    assert list(compare(plain, spread)) == []
    assert text_of(plain) == text_of(spread)


@given(JSON, JSON)
def test_two_values_differ_if_and_only_if_a_difference_is_shown(one: object, other: object) -> None:
    pair = parse(json.dumps(one)), parse(json.dumps(other))
    assert bool(list(compare(*pair))) == (text_of(pair[0]) != text_of(pair[1]))
