"""The page of a person's own answers: photos, answers, and their correction."""

import pytest
from labelling_app import ANN, BOB, LEA, log_in, make_workspace, serving_shop

from lookalike.annotate.campaign import Campaign
from lookalike.store.labelling.campaigns import write_campaign


@pytest.fixture
def shop(tmp_path, team):
    workspace = make_workspace(tmp_path / "shop", team)
    with workspace.database.write() as connection:
        write_campaign(connection, Campaign(undo_seconds=0))
    with serving_shop(workspace) as running:
        yield running


def answer(client, *answers):
    given = client.get("/api/label/next").json()["given"]
    for pair, one in zip(given, answers, strict=False):
        sent = {"token": pair["token"], "answer": one, "reason": "shape" if one == "unsure" else ""}
        assert client.post("/api/label/answer", json=sent).ok
    return given


def test_programs_list_and_correct_their_answers(shop):
    ann, bob = shop.client(ANN), shop.client(BOB)
    given = answer(ann, "similar", "unsure", "skip")
    own = ann.get("/api/answers").json()["answers"]
    assert [(one["token"], one["answer"], one["reason"]) for one in own] == [
        (given[1]["token"], "unsure", "shape"),
        (given[0]["token"], "similar", ""),
    ]
    for one in own:
        assert one.keys() == {"token", "left", "right", "answer", "reason", "at", "correctable"}
    assert own[1]["left"].items() >= given[0]["left"].items()
    assert ann.get(own[1]["right"]["small_url"]).status_code == 200
    sent = {"token": given[0]["token"], "answer": "dissimilar", "reason": "colour"}
    assert bob.post("/api/answers/correct", json=sent).json()["error"]["code"] == "not-leased"
    assert bob.get("/api/answers").json()["answers"] == []
    receipt = ann.post("/api/answers/correct", json=sent).json()
    assert receipt == ann.post("/api/answers/correct", json=sent).json()
    assert shop.votes(ANN)[-2:] == [(shop.question(given[0]["token"]), one) for one in ("undo", "dissimilar")]
    assert shop.reasons(ANN)[-1] == "colour"
    assert ann.post("/api/answers/correct", json={**sent, "answer": "skip"}).status_code == 400
    log = shop.client(LEA).get("/team/audit").text
    assert log.count("similar → dissimilar") == 1


@pytest.mark.browser
def test_an_answer_is_corrected_on_the_page_until_its_pair_is_closed(browser, shop):
    ann = shop.client(ANN)
    given = answer(ann, "similar")
    page = log_in(browser.new_context(), shop, ANN, there="/answers")
    card = page.locator(".card")
    assert card.count() == 1
    assert card.locator("img").count() == 2
    card.locator("summary").click()
    card.get_by_role("textbox").or_(card.get_by_role("combobox")).fill("legs")
    with page.expect_navigation():
        card.get_by_role("button", name="Unsure").click()
    assert shop.standing_votes(ANN) == {shop.question(given[0]["token"]): "unsure"}
    assert shop.reasons(ANN) == ["", "", "legs"]
    card.locator("summary").click()
    with shop.workspace.database.write() as connection:
        connection.exec_driver_sql("UPDATE question SET state = 'discussion', free = 0, resolves_at = NULL")
    with page.expect_navigation() as refused:
        card.get_by_role("button", name="Similar", exact=True).click()
    assert refused.value.status == 409
    assert page.locator(".failure").is_visible()
    assert card.locator("details").count() == 0
    assert shop.standing_votes(ANN) == {shop.question(given[0]["token"]): "unsure"}
    page.context.close()
