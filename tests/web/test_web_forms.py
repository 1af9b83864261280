"""Forms of leads: what a page says after a form was sent, and what stays in its fields when it was refused."""

import re
from html import escape

import pytest

from lookalike.annotate.campaign import Campaign
from lookalike.store.labelling.campaigns import read_campaign
from lookalike.store.labelling.gold import gold_pairs

GOLD = "/guidelines/gold"


def problem(page) -> str:
    return re.search(r'class="failure" role="alert"><p><strong>(.*?)</strong>', page.text)[1]


def whole(**changed) -> dict[str, str]:
    return {name: str(one) for name, one in (Campaign().model_dump(by_alias=True) | changed).items()}


@pytest.fixture
def lea(served):
    return served.logged_in("Lea", "lead")


def test_saved_settings_are_confirmed(served, lea):
    assert 'id="saved"' not in lea.get("/plan/campaign").text
    answer = lea.post("/plan/campaign", **whole(votes=5))
    assert answer.status == 303
    assert 'id="saved" ' in lea.get(answer.headers["location"]).text.replace(">", " ")
    assert served.site.database.fetch(read_campaign).votes == 5
    refused = lea.post("/plan/campaign", **whole(votes=0))
    assert (refused.status, 'id="saved"' in refused.text) == (400, False)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"gap_least": 50, "gap_most": 20}, ["gap_least", "gap_most"]),
        ({"votes": 0}, ["votes"]),
        ({"protocol": "none"}, ["protocol"]),
        ({"undo_seconds": "soon"}, ["undo_seconds"]),
    ],
)
def test_an_error_names_fields_as_the_page_does(served, lea, changed, named):
    refused = lea.post("/plan/campaign", **whole(**changed))
    labels = dict(re.findall(r'<label for="(\w+)">(.*?)</label>', refused.text))
    found = problem(refused)
    assert refused.status == 400
    assert re.findall(r'"(.*?)"', found) == [labels[name] for name in named]
    assert not any(f'"{name}"' in found for name in named)
    assert all(f'value="{value}"' in refused.text for value in changed.values() if value != "none")
    program = {"Accept": "application/json", "X-CSRF-Token": lea.csrf, "Content-Type": "application/json"}
    body = re.sub(r'"(\d+(?:\.\d+)?)"', r"\1", str(whole(**changed)).replace("'", '"'))
    told = lea.ask("PUT", "/api/campaign", body=body.encode(), headers=program)
    assert told.status in (400, 422)
    assert all(name in told.text for name in named)  # programs read the names that they send


def test_a_refused_gold_pair_stays_in_the_form(served, lea):
    typed = {"query": "bowl/000/1.png", "candidate": 'no "such"', "answer": "dissimilar", "note": "<b>clear"}
    refused = lea.post(GOLD, **typed)
    sent = refused.body.decode()
    assert refused.status == 404
    for name in ("query", "candidate", "note"):
        assert f'name="{name}" value="{escape(typed[name]).replace("&quot;", "&#34;")}"' in sent
    assert "<option selected>dissimilar" in sent
    blank = lea.post(GOLD, **typed | {"query": " "})
    assert re.findall(r'"(.*?)"', problem(blank)) == ["First image"]
    assert served.site.database.fetch(gold_pairs) == ()
    assert "selected" not in lea.get(GOLD).text.partition('id="answer"')[2].partition("</select>")[0]
