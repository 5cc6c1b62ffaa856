"""Strict JSON: one table for both engines."""

import json
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot import AgentSlotError
from agentslot._json import (
    DEFAULT_LIMITS,
    JsonError,
    JsonLimits,
    canonical_json,
    dumps,
    json_equal,
    loads,
    replace_lone_surrogates,
)
from agentslot._json.read import Engine, jiter_engine, read, stdlib_engine
from agentslot._json.scan import parse_number, scan
from tests.shared import shared

ENGINES = [pytest.param(stdlib_engine, id="stdlib"), pytest.param(jiter_engine(), id="jiter")]
both_engines = pytest.mark.parametrize("engine", ENGINES)

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)

ACCEPTED: list[tuple[bytes, Any]] = [
    (b"null", None),
    (b" [true, false]\r\n\t", [True, False]),
    (b'{"a": {"b": []}, "c": {}}', {"a": {"b": []}, "c": {}}),
    (b"-0", 0),
    (b"-0.0", -0.0),
    (b"1.5E+3", 1500.0),
    (b"1e-999", 0.0),
    (b"9" * 4300, int("9" * 4300)),
    (b"[9007199254740993]", [9007199254740993]),
    (b'"\\ud83c\\udf78 \\u00e9 \\/"', "\U0001f378 é /"),
    ('"\u2028\u0085 \x7f"'.encode(), "\u2028\u0085 \x7f"),
    (b'"\\\\ud800"', "\\ud800"),
    (b'{"a":1,"A":2}', {"a": 1, "A": 2}),
    (b"[" * 64 + b"]" * 64, None),
]

REFUSED = [
    (b"", "unexpected end", "$", 0),
    (b"   ", "unexpected end", "$", 3),
    (b"\xef\xbb\xbf1", "byte order mark", "$", 0),
    (b"1 2", "trailing data after the document", "$", 2),
    (b'{"a":1}{"a":2}', "trailing data after the document", "$", 7),
    (b'{"a":1,"a":2}', "duplicate member", "$.a", 7),
    (b'{"x":[0,{"a":1,"\\u0061":2}]}', "duplicate member", "$.x[1].a", 15),
    (b'{"x":NaN}', "NaN and Infinity are no JSON", "$.x", 5),
    (b"[1,-Infinity]", "NaN and Infinity are no JSON", "$[1]", 3),
    (b'{"cost":[1e999]}', "number overflows to infinity", "$.cost[0]", 9),
    (b"-1e999", "number overflows to infinity", "$", 0),
    (b"[" + b"9" * 400 + b".0]", "number overflows to infinity", "$[0]", 1),
    (b"[" + b"1" * 4301 + b"]", "integer of more than 4300 digits", "$[0]", 1),
    (b'{"t":"a\\ud800"}', "lone surrogate", "$.t", 5),
    (b'["\\udc00\\ud800"]', "lone surrogate", "$[0]", 1),
    (b'{"\\uD83C":1}', "lone surrogate", "$", 1),
    (b'{"a":"\xff"}', "invalid UTF-8", "$.a", 5),
    (b'{"\xc3\xa9":"\xed\xa0\x80"}', "invalid UTF-8", "$['\\xe9']", 6),
    (b"[" * 65 + b"]" * 65, "nested deeper than 64", "$" + "[0]" * 64, 64),
    (b'{"a":' * 5000, "nested deeper than 64", "$" + ".a" * 64, 320),
    (b"[" * 200_000, "nested deeper than 64", "$" + "[0]" * 64, 64),
    (b'{"a" 1}', "expected ':'", "$.a", 5),
    (b"{1:2}", "expected a member name", "$", 1),
    (b'{"a":1,}', "expected a member name", "$", 7),
    (b"[1,]", "expected a value", "$[1]", 3),
    (b"[1 2]", "expected ',' or ']'", "$", 3),
    (b"[01]", "expected ',' or ']'", "$", 2),
    (b"[nul]", "expected a value", "$[0]", 1),
    (b'["a\x01"]', "malformed string", "$[0]", 1),
    (b'"\\x41"', "malformed string", "$", 0),
    (b'"open', "malformed string", "$", 0),
    (b'{"a":', "unexpected end", "$.a", 5),
    (b"\x0c1", "expected a value", "$", 0),
    ('{"a b":{"' + "k" * 80 + '":tru}}', "expected a value", f"$['a b']['{'k' * 63}\\u2026']", 91),
]


@both_engines
@pytest.mark.parametrize(("data", "value"), ACCEPTED)
def test_a_valid_document_gives_its_value(engine: Engine, data: bytes, value: Any) -> None:
    got = read(data, DEFAULT_LIMITS, engine, parse_number)
    if value is not None or data == b"null":
        assert got == value
        assert type(got) is type(value)


@both_engines
@pytest.mark.parametrize(("data", "reason", "path", "offset"), REFUSED)
def test_an_invalid_document_is_refused_with_reason_path_and_offset(
    engine: Engine, data: bytes | str, reason: str, path: str, offset: int
) -> None:
    with pytest.raises(JsonError) as caught:
        read(data, DEFAULT_LIMITS, engine, parse_number)
    assert (caught.value.reason, caught.value.path, caught.value.offset) == (reason, path, offset)


@both_engines
def test_each_limit_is_checked(engine: Engine) -> None:
    limits = JsonLimits(max_bytes=40, max_depth=3, max_members=4, max_nodes=9)
    cases = [
        (b'"' + b"x" * 40 + b'"', "more than 40 bytes", "$"),
        (b'[[{"a":[]}]]', "nested deeper than 3", "$[0][0].a"),
        (b"[[1,2,3,4,5]]", "more than 4 members in one container", "$[0][4]"),
        (b'{"a":1,"b":1,"c":1,"d":1,"e":1}', "more than 4 members in one container", "$.e"),
        (b"[[],[],[[],[],[],[]],[[]]]", "more than 9 values", "$[3][0]"),
        (b"[[1,2,3],[4,5,6],[7]]", "more than 9 values", "$[2]"),
    ]
    for data, reason, path in cases:
        with pytest.raises(JsonError) as caught:
            read(data, limits, engine, parse_number)
        assert (caught.value.reason, caught.value.path) == (reason, path), data
    for data in (b'[["[,[,[,[,[,[,[,[,[,["]]', b"[[[1]]]", b"[1,2,3,4]", b"[[1,2,3],[4,5]]"):
        assert read(data, limits, engine, parse_number) == json.loads(data)


def test_a_flood_of_tiny_containers_is_refused_before_it_is_built() -> None:
    def never(raw: bytes) -> Any:
        pytest.fail(f"read {len(raw)} bytes")

    with pytest.raises(JsonError, match=r"\$\[999\].*more than 1000 values"):
        read(b"[" + b"[]," * 5000 + b"[]]", JsonLimits(max_nodes=1000), never, parse_number)


def test_the_error_is_one_of_ours_and_says_where_without_showing_the_content() -> None:
    with pytest.raises(AgentSlotError) as caught:
        loads(b'{"key":"sk-secret","key":"sk-secret"}')
    assert str(caught.value) == "invalid JSON at $.key (byte 19): duplicate member"


def test_text_and_bytes_are_read_alike() -> None:
    assert loads('{"é":1}') == loads('{"é":1}'.encode())
    with pytest.raises(JsonError, match="invalid UTF-8"):
        loads('"\ud800"')


@both_engines
@given(value=json_values)
def test_what_is_written_is_read_back(engine: Engine, value: Any) -> None:
    for text in (dumps(value), json.dumps(value)):
        got = read(text, DEFAULT_LIMITS, engine, parse_number)
        assert got == value
        assert repr(got) == repr(value)


@given(data=st.binary(max_size=40) | st.text('[]{}",:\\ud8c01-.eE+tnrN ', max_size=30))
def test_both_engines_and_the_exact_reader_agree_on_any_bytes(data: bytes | str) -> None:
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data

    def outcome(read_with: Any) -> str:
        try:
            return repr(read_with())
        except JsonError as error:
            return str(error)

    exact = outcome(lambda: scan(raw, DEFAULT_LIMITS))
    assert outcome(lambda: read(raw, DEFAULT_LIMITS, stdlib_engine, parse_number)) == exact
    assert outcome(lambda: read(raw, DEFAULT_LIMITS, jiter_engine(), parse_number)) == exact


EQUAL = [
    ('{"a":1,"b":[2]}', '{ "b" : [2.0], "a" : 1e0 }'),
    ('"\\u0061\\/"', '"a/"'),
    ("100", "1e2"),
    ("-0", "0.00e7"),
    ("0.1", "1e-1"),
    ("1e400", "10e399"),
    ("1" + "0" * 5000, "1e5000"),
    ("12300.450", "1230045e-2"),
]
DIFFERENT = [
    ("1", "true"),
    ("0", "false"),
    ("0", "null"),
    ("1", '"1"'),
    ("9007199254740993", "9007199254740992"),
    ("0.1", "0.1000000000000000055511151231257827"),
    ("[1,2]", "[2,1]"),
    ("[]", "{}"),
    ('{"a":1}', '{"a":1,"b":null}'),
    ('"a"', '"A"'),
    ("1", "-1"),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "number", ["1E400", "1e+400", "-1.5e0999", "12e308", f"{'9' * 400}.5", f"{'9' * 250}e99"]
)
def test_no_spelling_of_infinity_passes(engine: Engine, number: str) -> None:
    document = f'{{"id":"0e1","cost":[{number}]}}'.encode()
    with pytest.raises(JsonError, match="overflows"):
        read(document, DEFAULT_LIMITS, engine, parse_number)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("number", ["1e308", "1E-400", f"{'9' * 199}e99", "0.1e+308"])
def test_the_largest_and_smallest_numbers_pass(engine: Engine, number: str) -> None:
    document = f'{{"id":"9f0e123","cost":[{number}]}}'.encode()
    value = read(document, DEFAULT_LIMITS, engine, parse_number)
    assert value == {"id": "9f0e123", "cost": [float(number)]}


@pytest.mark.parametrize(("a", "b"), EQUAL)
def test_equal_values_are_equal_in_any_spelling(a: str, b: str) -> None:
    assert json_equal(a, b)
    assert json_equal(canonical_json(a), a)


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_different_values_are_different(a: str, b: str) -> None:
    assert not json_equal(a, b)


@pytest.mark.parametrize("bad", ['{"a":1,"a":1}', "NaN", '"\\ud800"', "1 1", "1e" + "9" * 4301])
def test_documents_that_are_not_strict_are_not_compared(bad: str) -> None:
    with pytest.raises(JsonError):
        json_equal(bad, bad)


@given(
    a=st.decimals(allow_nan=False, allow_infinity=False),
    b=st.decimals(allow_nan=False, allow_infinity=False),
)
def test_numbers_are_compared_exactly(a: Any, b: Any) -> None:
    assert json_equal(f"{a}", f"{b}") == (Fraction(a) == Fraction(b))
    assert json_equal(f"{a}", f"{a:f}")


@given(json_values)
def test_the_canonical_text_does_not_depend_on_spelling(value: Any) -> None:
    compact, spaced = dumps(value), json.dumps(value, indent=2, sort_keys=True)
    assert canonical_json(compact) == canonical_json(spaced)


def test_what_is_written_is_compact_ordered_and_unescaped() -> None:
    assert dumps({"b": ["é", 1.0, None], "a": True}) == '{"b":["é",1.0,null],"a":true}'
    with pytest.raises(ValueError, match="not JSON compliant"):
        dumps([math.inf])


def test_an_escaped_pair_becomes_its_character_and_lone_halves_are_replaced() -> None:
    text = json.loads(shared("cases/S09/surrogates.json").read_text(encoding="utf-8"))["text"]
    assert replace_lone_surrogates(text) == "bad \ufffd half \ufffd pair \U0001f378"
    assert replace_lone_surrogates("\ud83c\udf78") == "\U0001f378"


@given(st.text(st.characters(codec=None)))
def test_any_text_can_be_encoded_after_the_replacement(text: str) -> None:
    clean = replace_lone_surrogates(text)
    clean.encode()
    if not any("\ud800" <= character <= "\udfff" for character in text):
        assert clean == text
