"""What we send is what the vendors' clients once sent, but for what the ledger knows."""

import pytest

from tests.difftest.ledger import LEDGER, RECORDED, Ledger
from tests.difftest.recorded_bodies import TRANSCRIPTS, recorded_request
from tests.difftest.run import Report, compare_requests


def compare(name: str, ledger: Ledger) -> Report:
    report, transcript = Report(), TRANSCRIPTS[name]
    [vendor] = transcript.vendors
    sent = {transcript.name: recorded_request(name)}
    compare_requests(report, ledger, vendor, [transcript], sent)
    return report


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_a_request_is_what_the_vendors_own_client_sent(name: str) -> None:
    report = compare(name, Ledger.load(LEDGER, RECORDED))
    assert report.status == 0, "\n".join(report.lines())


def test_every_known_difference_from_the_recorded_requests_is_still_there() -> None:
    ledger = Ledger.load(RECORDED)
    for name in TRANSCRIPTS:
        compare(name, ledger)
    assert not ledger.stale(whole=True)
