"""Labelling over HTTP: the JSON routes and the plain form."""

import json
import random
from html import unescape

import pytest
from labelling_app import ANN, BOB, LEA, Client, make_workspace, serving_shop

from lookalike.core.clock import now_ms
from lookalike.store.labelling.campaigns import rules_of
from lookalike.store.labelling.giving import next_pairs


@pytest.fixture
def shop(tmp_path, team):
    with serving_shop(make_workspace(tmp_path / "shop", team)) as running:
        yield running


def test_an_answer_brings_its_receipt_and_the_next_pairs(shop):
    ann = shop.client(ANN)
    first = ann.get("/api/label/next").json()
    assert len(first["given"]) == 4
    counts = ("answered", "today", "discussion", "settled", "excluded")
    assert first["progress"] == {**dict.fromkeys(counts, 0), "per_hour": None, "open": 12, "goal": 200}
    pair = first["given"][0]
    answer = ann.post(
        "/api/label/answer", json={"token": pair["token"], "answer": "similar", "took": 900}
    ).json()
    assert answer["receipt"]["answer"] == "similar"
    assert [one["token"] for one in answer["given"][:3]] == [one["token"] for one in first["given"][1:]]
    assert shop.votes(ANN) == [(shop.question(pair["token"]), "similar")]
    photo = ann.get(pair["left"]["url"])
    assert (photo.status_code, photo.headers["content-type"]) == (200, "image/jpeg")


def test_nothing_but_the_photos_tells_one_pair_from_another(shop):
    ann = shop.client(ANN)
    for pair in ann.get("/api/label/next").json()["given"]:
        assert pair.keys() == {"token", "until", "left", "right"}
        assert pair["left"].keys() == pair["right"].keys() == {"image", "url", "zoom_url"}
    state = json.loads(unescape(ann.get("/label").text.split('data-state="', 1)[1].split('"', 1)[0]))
    assert state["given"] == ann.get("/api/label/next").json()["given"]


@pytest.mark.parametrize(("pairs", "reserved"), [(2, 1), (12, 4), (30, 10), (180, 50)])
def test_an_annotator_gets_a_fair_share_of_the_open_pairs_and_at_most_fifty(tmp_path, team, pairs, reserved):
    """Of three people."""
    with make_workspace(tmp_path / "shop", team, pairs=pairs).database.write() as connection:
        given = next_pairs(connection, rules_of(connection), 1, now_ms(), random.Random(0))
        assert len(given) == len({one.question for one in given}) == reserved


def test_the_same_answer_again_is_taken_once_and_another_one_is_refused(shop):
    ann = shop.client(ANN)
    token = ann.get("/api/label/next").json()["given"][0]["token"]
    sent = [ann.post("/api/label/answer", json={"token": token, "answer": "similar"}) for _ in range(3)]
    assert len({answer.json()["receipt"]["at"] for answer in sent}) == 1
    other = ann.post("/api/label/answer", json={"token": token, "answer": "dissimilar"})
    assert (other.status_code, other.json()["error"]["code"]) == (409, "answered")
    assert len(shop.votes(ANN)) == 1


def test_an_undone_pair_comes_first(shop):
    ann = shop.client(ANN)
    pair = ann.get("/api/label/next").json()["given"][0]
    ann.post("/api/label/answer", json={"token": pair["token"], "answer": "similar"})
    given = ann.post("/api/label/undo", json={"token": pair["token"]}).json()["given"]
    assert shop.question(given[0]["token"]) == shop.question(pair["token"])
    assert given[0]["left"] == pair["left"]
    assert len({one["token"] for one in given}) == len(given)
    assert shop.standing_votes(ANN) == {}


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"null", b'{"token": 3, "answer": "similar"}', b'{"token": "x"}', b'\xff\xfe{"a": 1}',
        b'{"token": "x", "answer": ["similar"]}', b'{"token": "x", "answer": "perhaps"}', b"[" * 100_000,
        b'{"token": "x", "answer": "similar", "took": -1}', b'{"token": "x", "answer": "similar", "took": 1e400}',
        b'{"token": "", "answer": "similar"}', b'{"token": "x", "answer": "similar", "extra": 1}',
        b'{"token": "\\u0000", "answer": "similar"}', b'{"token": "x", "answer": "similar", "took": true}',
    ],
)  # fmt: skip
def test_bodies_that_do_not_fit_are_refused_in_words(shop, body):
    answer = shop.client(ANN).post("/api/label/answer", data=body)
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["fix"]


def test_tokens_of_others_are_refused(shop):
    ann, bob = shop.client(ANN), shop.client(BOB)
    token = ann.get("/api/label/next").json()["given"][0]["token"]
    for path, more in (("answer", {"answer": "similar"}), ("undo", {})):
        answer = bob.post(f"/api/label/{path}", json={"token": token, **more})
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "not-leased")


def test_without_the_token_of_the_page_nothing_is_taken(shop):
    ann = shop.client(ANN)
    token = ann.get("/api/label/next").json()["given"][0]["token"]
    for given in ("", "0" * 64, "é"):
        ann.headers["X-CSRF-Token"] = given.encode()
        answer = ann.post("/api/label/answer", json={"token": token, "answer": "similar"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "csrf")
    assert shop.votes(ANN) == []


def test_a_removed_annotator_is_let_in_no_more(shop):
    ann = shop.client(ANN)
    token = ann.get("/api/label/next").json()["given"][0]["token"]
    shop.client(LEA).post("/team/people/1/remove")
    answer = ann.post("/api/label/answer", json={"token": token, "answer": "similar"})
    assert answer.status_code == 401
    assert shop.votes(ANN) == []


def test_a_program_labels_with_its_token(shop):
    ann = shop.client(ANN)
    page = ann.post("/account/tokens", data={"name": "mine", "scope": "label"}).text
    token = "lk_" + page.split('value="lk_', 1)[1].split('"', 1)[0]
    with Client(shop.address) as program:
        program.headers["Authorization"] = f"Bearer {token}"
        pair = program.get("/api/label/next").json()["given"][0]
        sent = {"token": pair["token"], "answer": "unsure"}
        assert program.post("/api/label/answer", json=sent).status_code == 200
        program.headers["Authorization"] = "Bearer lk_wrong"
        assert program.get("/api/label/next").status_code == 401
    assert shop.votes(ANN) == [(shop.question(pair["token"]), "unsure")]


def test_the_plain_form_labels_and_undoes_without_a_script(shop):
    ann = shop.client(ANN)

    def field(page, form):
        return page.split(form, 1)[1].split('name="token" value="', 1)[1].split('"', 1)[0]

    page = ann.get("/label").text
    token = field(page, 'id="answers"')
    page = ann.post("/label", data={"token": token, "answer": "similar"}).text
    assert field(page, 'id="undo-form"') == token
    assert [answer for _, answer in shop.votes(ANN)] == ["similar"]
    ann.post("/label", data={"token": token, "answer": "undo"})
    assert [answer for _, answer in shop.votes(ANN)] == ["similar", "undo"]
    refused = ann.post("/label", data={"token": "made up", "answer": "similar"})
    assert (refused.status_code, 'class="failure"' in refused.text) == (409, True)


def test_a_missing_photo_is_reported_once(shop):
    ann = shop.client(ANN)
    image = ann.get("/api/label/next").json()["given"][0]["left"]["image"]
    result = [ann.post("/api/label/missing", json={"image": image}).json()["new"] for _ in range(2)]
    assert result == [True, False]
    assert ann.post("/api/label/missing", json={"image": "nothing.png"}).status_code == 400
    assert "photo missing" in shop.client(LEA).get("/team/audit").text
