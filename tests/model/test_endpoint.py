"""Header fields of a server: what may stand in them, and that they are shown to nobody."""

import pytest

from agentslot.model import OpenAICompatibleModule
from agentslot.model.endpoint import Endpoint


@pytest.mark.parametrize(
    ("name", "value"),
    [("x-a", "b\r\nc: d"), ("x-a", "clé"), ("x-é", "b"), ("x a", "b"), ("", "b"), ("x:", None)],
)
def test_a_header_field_that_cannot_be_sent_is_refused_when_it_is_written(
    name: str, value: str | None
) -> None:
    with pytest.raises(ValueError, match="no header may have"):
        OpenAICompatibleModule("http://localhost/v1", ["m"], headers={name: value})


def test_the_values_of_header_fields_are_not_shown() -> None:
    endpoint = Endpoint("http://localhost/v1", headers={"X-API-Key": "sk-secret", "x-b": None})
    assert "sk-secret" not in repr(endpoint)
    assert endpoint.header_fields({"x-b": "1"}) == {"x-api-key": "sk-secret"}
