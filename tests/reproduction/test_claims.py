"""Verdicts follow from numbers."""

import pytest

from reproduction.claims import Claim, Verdict, number_claim, statement_claim, unchecked
from reproduction.page import claim_table


@pytest.mark.parametrize(
    ("ours", "verdict"), [([0.52, 0.5], "agrees"), ([0.4, 0.42], "differs"), ([], "cannot be checked")]
)
def test_a_number_agrees_where_our_mean_is_near(ours, verdict):
    claim = number_claim("Table 1", "R2", 0.5, ours, within=0.05, agreed="near", differed="far")
    assert claim.verdict == verdict
    assert claim.paper == "0.500"


def test_the_reason_goes_with_the_verdict():
    reasons = [number_claim("", "", 0.5, [x], within=0.1, agreed="near", differed="far").reason for x in (0.55, 0.7)]
    assert reasons == ["near", "far"]
    assert statement_claim("", "", "", True, agreed="yes", differed="no").reason == "yes"
    assert statement_claim("", "", "", False, agreed="yes", differed="no").reason == "no"


@pytest.mark.parametrize("holds", [True, False])
def test_a_claim_on_what_was_not_run_is_not_judged(holds):
    claim = statement_claim("", "", "nan", holds, agreed="yes", differed="no", not_run="JBNMF was not run.")
    assert (claim.verdict, claim.reason, claim.ours) == (Verdict.unchecked, "JBNMF was not run.", "")


def test_every_claim_has_a_line_and_bars_in_it_do_not_break_the_table():
    claims = [
        unchecked("Figure 1", "rank by |beta|", "", "no such data"),
        Claim("Figure 2", "two\nlines", "1", "2", Verdict.differs, "why"),
    ]
    lines = claim_table(claims).splitlines()
    assert len(lines) == 4
    assert all(line.replace("\\|", "").count("|") == 7 for line in lines)
