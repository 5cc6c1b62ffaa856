"""The whole comparison with the vendors' own clients, which are installed on the first run."""

import pytest

from tests.difftest.run import run
from tests.difftest.scenarios import VENDORS
from tests.shared import shared


@pytest.mark.heavy
@pytest.mark.timeout(600)
def test_our_wires_agree_with_the_vendors_own_clients() -> None:
    shared("captures")
    report = run(VENDORS, whole=True)
    assert report.status == 0, "\n".join(report.lines())
