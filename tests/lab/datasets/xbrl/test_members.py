from __future__ import annotations

import pytest

from finray.lab.datasets.xbrl.members import Part, part_of

SEGMENT = "us-gaap:StatementBusinessSegmentsAxis"
PRODUCT = "srt:ProductOrServiceAxis"
PLACE = "srt:StatementGeographicalAxis"


@pytest.mark.parametrize(
    ("axis", "member", "text", "part"),
    [
        (PRODUCT, "aapl:IPhoneMember", "iPhone | 201,183", Part("product", "iPhone")),
        (SEGMENT, "acme:NorthAmericaSegmentMember", "North America | 5", Part("segment", "North America")),
        (SEGMENT, "acme:InternationalFoodsSegmentMember", "the International Foods segment",
         Part("segment", "International Foods")),
        (SEGMENT, "acme:EuropeMiddleEastAndAfricaMember", "Europe, Middle East & Africa | 4",
         Part("segment", "Europe, Middle East & Africa")),
        (PLACE, "country:US", "United States | 12", Part("place", "United States")),
    ],
)  # fmt: skip
def test_parts_are_named_as_the_page_prints_them(axis: str, member: str, text: str, part: Part) -> None:
    assert part_of(((axis, member),), [text]) == part


@pytest.mark.parametrize(
    ("members", "text"),
    [
        (((SEGMENT, "acme:ZetaMember"),), "Alpha | 5"),
        (((SEGMENT, "acme:OtherMember"),), "Other | 5"),
        ((("us-gaap:StatementEquityComponentsAxis", "us-gaap:CommonStockMember"),), "Common stock | 5"),
        (((SEGMENT, "acme:AlphaMember"), (PRODUCT, "acme:BetaMember")), "Alpha Beta | 5"),
    ],
)
def test_members_that_a_reader_could_not_name_are_not_parts(members: tuple[tuple[str, str], ...], text: str) -> None:
    assert part_of(members, [text]) is None
