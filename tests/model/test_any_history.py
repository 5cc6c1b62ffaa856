"""Any history is sendable over any wire, whichever vendors wrote it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot.model import Transcript
from tests.model.histories import OPERATIONS, STATES, play
from tests.model.support import request
from tests.model.vendors import VENDORS


@pytest.mark.parametrize("name", VENDORS)
@given(names=OPERATIONS, cut=st.integers(0, 25))
def test_any_history_gives_a_request_that_the_vendor_accepts(
    name: str, names: list[str], cut: int
) -> None:
    vendor, inputs = VENDORS[name], play(names)
    config = vendor.config
    growing, grown = vendor.wire(), Transcript(inputs[:cut])
    growing.encode(request(grown, config=config))
    whole = growing.encode(request(grown.appended(inputs[cut:]), config=config))
    assert whole == vendor.wire().encode(request(inputs, config=config))
    assert growing.encode(request(grown, config=config)) == vendor.wire().encode(
        request(inputs[:cut], config=config)
    )
    assert not [other for other in STATES if other != name and f"of {other}" in str(whole.body)]
    vendor.read(json.loads(whole.body))
