"""Who may use which address: every route of the app, called without a login, as annotator and as lead."""

import json
import re
from urllib.parse import urlencode

import pytest

from lookalike.web.app import create_app

OPEN = {("GET", "/login"), ("POST", "/login"), ("GET", "/invite/{secret}"), ("POST", "/invite/{secret}")} | {
    ("GET", "/healthz"),
    ("GET", "/readyz"),
}
"""What nobody needs to be logged in for; /static is the only mounted folder."""

LEADS = {
    ("GET", "/team/people"),
    ("POST", "/team/people/invite"),
    ("POST", "/team/people/{number}/reset"),
    ("GET", "/team/people/{number}/role"),
    ("POST", "/team/people/{number}/role"),
    ("GET", "/team/people/{number}/remove"),
    ("POST", "/team/people/{number}/remove"),
    ("GET", "/team/audit"),
    ("GET", "/team/review"),
    ("GET", "/plan"),
    ("POST", "/plan/forecast"),
    ("POST", "/plan/first"),
    ("GET", "/api/campaign"),
    ("PUT", "/api/campaign"),
    ("POST", "/api/discussions/{question}/decisions"),
    ("GET", "/api/gold"),
    ("GET", "/api/gold/images"),
    ("POST", "/api/gold"),
    ("DELETE", "/api/gold/{question}"),
    ("POST", "/api/guidelines"),
    ("POST", "/api/guidelines/examples"),
    ("DELETE", "/api/guidelines/examples/{example}"),
    ("GET", "/api/queue"),
    ("POST", "/api/queue"),
    ("POST", "/discuss/{question}/decisions"),
    ("GET", "/guidelines/edit"),
    ("POST", "/guidelines/edit"),
    ("GET", "/guidelines/examples"),
    ("POST", "/guidelines/examples"),
    ("POST", "/guidelines/examples/{example}/remove"),
    ("GET", "/guidelines/gold"),
    ("POST", "/guidelines/gold"),
    ("POST", "/guidelines/gold/{question}/remove"),
    ("GET", "/guidelines/versions"),
    ("GET", "/guidelines/versions/{version}"),
    ("POST", "/guidelines/versions/{version}/restore"),
    ("GET", "/plan/campaign"),
    ("GET", "/catalog/left-out"),
    ("POST", "/plan/campaign"),
    ("POST", "/plan/queue"),
    ("POST", "/api/v1/images"),
    ("DELETE", "/api/v1/images"),
    ("POST", "/search/label"),
    ("GET", "/results"),
    ("POST", "/results"),
    ("GET", "/results/figures.css"),
    ("GET", "/results/queries"),
}

EVERYBODY = {
    ("GET", "/"),
    ("POST", "/logout"),
    ("GET", "/account"),
    ("GET", "/answers"),
    ("POST", "/answers"),
    ("POST", "/answers/goal"),
    ("GET", "/api/answers"),
    ("PUT", "/api/answers/goal"),
    ("POST", "/api/answers/correct"),
    ("GET", "/team"),
    ("POST", "/account/password"),
    ("POST", "/account/sessions"),
    ("POST", "/account/tokens"),
    ("POST", "/account/tokens/{number}/revoke"),
    ("GET", "/images/{size}/{image:image_id}"),
    ("GET", "/api/me"),
    ("GET", "/api/openapi.json"),
    ("GET", "/api/discussions"),
    ("GET", "/api/discussions/{question}"),
    ("POST", "/api/discussions/{question}/comments"),
    ("POST", "/api/discussions/{question}/proposals"),
    ("GET", "/api/docs"),
    ("GET", "/api/guidelines"),
    ("POST", "/api/label/answer"),
    ("POST", "/api/label/missing"),
    ("GET", "/api/label/next"),
    ("POST", "/api/label/undo"),
    ("GET", "/discuss"),
    ("GET", "/discuss/{question}"),
    ("POST", "/discuss/{question}/comments"),
    ("POST", "/discuss/{question}/proposals"),
    ("GET", "/guidelines"),
    ("GET", "/api/v1/encoders"),
    ("GET", "/api/v1/search"),
    ("POST", "/api/v1/search"),
    ("POST", "/api/v1/search/photo"),
    ("GET", "/metrics"),
    ("GET", "/label"),
    ("POST", "/label"),
    ("GET", "/catalog"),
    ("GET", "/catalog/duplicates"),
    ("GET", "/map"),
    ("POST", "/map"),
    ("GET", "/map/colours"),
    ("GET", "/map/images"),
    ("GET", "/map/list"),
    ("GET", "/map/points"),
    ("GET", "/search"),
    ("POST", "/search/photo"),
    ("GET", "/search/photo/{name}"),
}
"""What annotators may use. A new route has to be put into one of these three, or the first test fails."""

FILLED = {
    "number": "1",
    "question": "1",
    "example": "1",
    "version": "0",
    "secret": "x",
    "size": "240",
    "image": "bowl/000/1.png",
}


def routes(router) -> set[tuple[str, str]]:
    """Method and address of every route, those of included routers too; mounted folders are distinguished."""
    found = set()
    for route in router.routes:
        inner = getattr(route, "original_router", None)
        if inner is not None:
            found |= routes(inner)
        elif getattr(route, "methods", None):
            found |= {(method, route.path) for method in route.methods}
        else:
            assert route.path == "/static", route
    return found


def filled(path: str) -> str:
    return re.sub(r"\{(\w+)(:\w+)?\}", lambda name: FILLED.get(name[1], "1"), path)


def test_every_route_is_in_one_of_the_lists(served):
    known = routes(create_app(served.workspace))
    assert known == OPEN | LEADS | EVERYBODY
    assert len(known) == len(OPEN) + len(LEADS) + len(EVERYBODY)


def test_every_route_needs_a_login(served):
    for method, path in sorted(LEADS | EVERYBODY):
        answer = served.browser().ask(method, filled(path))
        if method == "GET" and not path.startswith("/api/"):
            assert (answer.status, answer.headers["location"][:12]) == (303, "/login?next="), path
        else:
            assert answer.status == 401, (method, path)


def test_an_annotator_gets_into_no_page_of_leads(served):
    ann = served.logged_in("Ann")
    for method, path in sorted(LEADS):
        sent = {"X-CSRF-Token": ann.csrf, "Accept": "application/json"}
        answer = ann.ask(method, filled(path), headers=sent)
        code = json.loads(answer.body)["error"]["code"]
        assert (answer.status, code) == (403, "lead-only"), (method, path)


@pytest.mark.parametrize("role", ["annotator", "lead"])
def test_permitted_roles_get_in(served, role):
    someone = served.logged_in("Someone", role)
    allowed = EVERYBODY | LEADS if role == "lead" else EVERYBODY
    for method, path in sorted(allowed - {("POST", "/logout"), ("POST", "/account/sessions")}):
        answer = someone.ask(method, filled(path), headers={"X-CSRF-Token": someone.csrf})
        assert answer.status not in (401, 403, 405, 500), (method, path)


def test_every_post_needs_the_token_of_its_own_session(served):
    lea, other = served.logged_in("Lea", "lead"), served.logged_in("Other", "lead")
    visitor = served.browser()
    visitor.get("/login")
    for method, path in sorted(OPEN | LEADS | EVERYBODY):
        if method == "GET":
            continue
        for wrong in ("", "0" * 64, other.csrf, visitor.csrf, "é" * 64):
            sent = {"csrf": wrong, "role": "annotator", "name": "x"}
            kind = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
            answer = lea.ask(method, filled(path), body=urlencode(sent).encode(), headers=kind)
            code = json.loads(answer.body)["error"]["code"]
            assert (answer.status, code) == (403, "csrf"), (method, path, wrong)
    assert lea.get("/account").status == 200


def test_links_of_pages_lead_into_the_app_only(served):
    """No page names another host: with the policy on every response, no request can go elsewhere."""
    lea = served.logged_in("Lea", "lead")
    pages = [path for method, path in OPEN | LEADS | EVERYBODY if method == "GET"]
    for path in (*pages, "/no-such-page"):
        answer = lea.get(filled(path))
        if not answer.headers.get("content-type", "").startswith("text/html"):
            continue
        named = re.findall(r'(?:href|src|action|srcset|poster|data|content)="([^"]*)"', answer.text)
        assert named
        outside = [one for one in named if re.match(r"[a-z+]+:|//", one)]
        assert outside == [], path
        assert "<style" not in answer.text
        assert " style=" not in answer.text
        assert re.findall(r"<script(?![^>]* src=\"/static/)", answer.text) == []
    style = lea.get("/static/app.css").body.decode()
    assert "url(" not in style
    assert "@import" not in style
