"""The page of photos that are left out: all of them, each once, with its reason."""

import re

import pytest
from sqlalchemy import insert

from lookalike.store.sql.schema import left_out

HEIC = "HEIC: reading it needs pillow-heif. Or convert it: heif-convert '/shop/a b.heic' '/shop/a b.jpg'"
REASONS = ("damaged: broken data", HEIC, "removed by `catalog remove`")
PAGE = "/catalog/left-out"


@pytest.fixture
def lead(served_on):
    served_on.add("Lea", "lead")
    return served_on.browser().log_in("Lea")


def leave_out(served, photos: int) -> list[tuple[str, str]]:
    """Photos of three kinds of reasons in turn, as (path, reason)."""
    rows = [(f"shelf <{at}>/50% {at:04d}.jpg", REASONS[at % 3]) for at in range(photos)]
    with served.workspace.database.write() as connection:
        connection.execute(
            insert(left_out),
            [
                {"position": 7 * at, "image": path, "path": path, "reason": reason}
                for at, (path, reason) in enumerate(rows)
            ],
        )
    return rows


def shown(lead, address: str) -> list[tuple[str, str]]:
    """All rows from an address on, through the links to more."""
    rows = []
    while address:
        page = lead.get(address)
        assert page.status == 200
        text = page.text.replace("<code>", "`").replace("</code>", "`")
        rows += re.findall(r'<tr><td class="long">(.*?)</td><td class="long">(.*?)</td></tr>', text)
        address = "".join(re.findall(rf'href="({PAGE}\?[^"]*)"', page.text))
    return rows


def test_every_photo_is_shown_once_with_its_reason(served_on, lead):
    rows = leave_out(served_on, 251)
    assert shown(lead, PAGE) == rows
    for reason in REASONS:
        of_kind = [row for row in rows if row[1] == reason]
        kind = reason.partition(":")[0]
        assert shown(lead, f"{PAGE}?kind={kind.replace(' ', '+')}") == of_kind
    assert "shelf &lt;0&gt;" in lead.get(PAGE).body.decode()


def test_names_of_kinds_are_no_patterns(served_on, lead):
    leave_out(served_on, 9)
    for kind in ("%25", "dam_ged", "HEI"):
        assert shown(lead, f"{PAGE}?kind={kind}") == []


def test_leads_find_it_from_the_plan_and_the_team_with_the_number(served_on, lead):
    assert "<table" not in lead.get(PAGE).text
    leave_out(served_on, 4)
    link = re.search(rf'<a href="{PAGE}">([^<]*)</a>', lead.get("/plan").text)
    assert link[1].startswith("4 ")
    assert f'href="{PAGE}"' in lead.get("/team").text
    served_on.add("Ann")
    ann = served_on.browser().log_in("Ann")
    assert PAGE not in ann.get("/team").text
    assert ann.get(PAGE).status == 403


@pytest.mark.parametrize("query", ["after=x", "after=-2", "after=" + "9" * 30, "kind=" + "k" * 201])
def test_addresses_that_no_link_has_are_refused(lead, query):
    assert lead.get(f"{PAGE}?{query}").status == 422
