"""Logging in and out, links, passwords, tokens and people, over HTTP, on both databases."""

import json
import re

from serving import PASSWORD

from lookalike.store.people import access, invites
from lookalike.workflows.label.people import path_of


def actions(served) -> list[str]:
    with served.site.database.read() as connection:
        return [line.action for line in access.audit_log(connection)][::-1]


def test_a_lead_invites_a_person_who_joins_and_logs_in_again(served_on):
    lea = served_on.logged_in("Lea", "lead")
    shown = lea.post("/team/people/invite", role="annotator").text
    (link,) = re.findall(r"http://127\.0\.0\.1:\d+(/invite/[\w-]+)", shown)
    ann = served_on.browser()
    assert "annotator" in ann.get(link).text
    joined = ann.post(link, name="Ann", password=PASSWORD, again=PASSWORD)
    assert (joined.status, joined.headers["location"]) == (303, "/")
    assert ann.get("/").headers["location"] == "/label"
    assert json.loads(ann.get("/api/me").body)["role"] == "annotator"
    assert ann.get("/account").status == 200
    assert served_on.browser().get(link).status == 404
    ann.post("/logout")
    assert ann.get("/account").status == 303
    assert "Ann" in ann.log_in("ann").get("/account").text
    assert actions(served_on) == [
        "added lead", "logged in", "created invitation", "joined", "logged out", "logged in"
    ]  # fmt: skip


def test_a_login_leads_back_to_the_requested_page_only(served):
    served.add("Ann")
    ann = served.browser()
    assert ann.get("/account?x=1").headers["location"] == "/login?next=%2Faccount%3Fx%3D1"
    for given, goes in (
        ("/account?x=1", "/account?x=1"),
        ("//elsewhere.example", "/"),
        ("/\\elsewhere.example", "/"),
        ("https://elsewhere.example", "/"),
        ("/a\r\nSet-Cookie: x=1", "/"),
        ("", "/"),
    ):
        ann.get("/login")
        assert ann.post("/login", name="Ann", password=PASSWORD, next=given).headers["location"] == goes


def test_a_wrong_password_says_so_and_keeps_the_name(served):
    served.add("Ann")
    browser = served.browser()
    browser.get("/login")
    answer = browser.post("/login", name="Ann", password="not this one")
    assert answer.status == 401
    assert 'role="alert"' in answer.text
    assert 'value="Ann"' in answer.text
    assert "not this one" not in answer.text
    assert actions(served)[-1] == "login failed"


def test_changing_the_password_ends_other_sessions_and_needs_the_present_one(served):
    here = served.logged_in("Ann")
    there = served.browser().log_in("Ann")
    new = "quite another one"
    wrong = here.post("/account/password", old="not this one", password=new, again=new)
    assert (wrong.status, 'role="alert"' in wrong.text) == (400, True)
    differ = here.post("/account/password", old=PASSWORD, password=new, again=new + "x")
    assert (differ.status, 'role="alert"' in differ.text) == (400, True)
    short = here.post("/account/password", old=PASSWORD, password="short", again="short")
    assert (short.status, 'role="alert"' in short.text) == (400, True)
    assert there.get("/account").status == 200
    assert here.post("/account/password", old=PASSWORD, password=new, again=new).status == 303
    assert here.get("/account").status == 200
    assert there.get("/account").status == 303
    assert there.log_in("Ann", new).get("/account").status == 200


def test_ending_other_sessions_keeps_this_one(served):
    here = served.logged_in("Ann")
    there = served.browser().log_in("Ann")
    assert here.post("/account/sessions").status == 303
    assert (here.get("/account").status, there.get("/account").status) == (200, 303)


def test_a_link_to_set_a_password_from_the_people_page(served):
    lea = served.logged_in("Lea", "lead")
    number = served.add("Ann")
    shown = lea.post(f"/team/people/{number}/reset").text
    (link,) = re.findall(r"http://127\.0\.0\.1:\d+(/invite/[\w-]+)", shown)
    ann, new = served.browser(), "quite another one"
    assert "Ann" in ann.get(link).text
    assert ann.post(link, name="ignored", password=new, again=new).status == 303
    assert "Ann" in ann.get("/account").text
    assert served.browser().log_in("Ann", new).get("/account").status == 200


def test_a_failed_join_keeps_the_link_usable(served):
    served.add("Taken")
    with served.site.database.write() as connection:
        invites.invite(connection, "annotator", "secret", served.clock())
    ann, link = served.browser(), path_of("secret")
    ann.get(link)
    for name, password, again, status in (
        ("TAKEN", PASSWORD, PASSWORD, 409),
        ("", PASSWORD, PASSWORD, 400),
        ("Ann", "short", "short", 400),
        ("Ann", PASSWORD, "another one", 400),
        ("Ann", PASSWORD, PASSWORD, 303),
    ):
        assert ann.post(link, name=name, password=password, again=again).status == status


def test_a_link_ends_after_seven_days(served):
    with served.site.database.write() as connection:
        invites.invite(connection, "annotator", "secret", served.clock())
    served.clock.goes(hours=7 * 24 + 1)
    answer = served.browser().get(path_of("secret"))
    assert answer.status == 404
    assert 'name="password"' not in answer.text


def test_a_token_acts_for_its_owner_until_it_is_revoked(served_on):
    ann = served_on.logged_in("Ann")
    (token,) = re.findall(r"lk_[\w-]{43}", ann.post("/account/tokens", name="sorter", scope="read").text)
    assert token not in ann.get("/account").text
    program = served_on.browser()
    result = program.get("/api/me", Authorization=f"Bearer {token}")
    assert json.loads(result.body)["name"] == "Ann"
    assert program.get("/images/240/bowl/000/1.png", Authorization=f"Bearer {token}").status == 200
    assert program.get("/account", Authorization=f"Bearer {token}").status == 303  # pages take cookies only
    assert program.get("/api/me", Authorization="Bearer lk_wrong").status == 401
    assert program.get("/api/me", Authorization=token).status == 401
    (number,) = re.findall(r"/account/tokens/(\d+)/revoke", ann.get("/account").text)
    other = served_on.logged_in("Other")
    assert other.post(f"/account/tokens/{number}/revoke").status == 404
    assert ann.post(f"/account/tokens/{number}/revoke").status == 303
    refused = program.get("/api/me", Authorization=f"Bearer {token}")
    assert (refused.status, refused.headers["www-authenticate"]) == (401, "Bearer")
    assert json.loads(refused.body)["error"]["code"] == "token"


def test_a_new_token_can_only_search_unless_more_is_chosen(served):
    ann = served.logged_in("Ann")
    chosen = re.findall(r'<option value="(\w+)" selected>', ann.get("/account").text)
    assert chosen == ["search", "90"]
    (token,) = re.findall(r"lk_[\w-]{43}", ann.post("/account/tokens", name="shop").text)
    sent = {"Authorization": f"Bearer {token}"}
    assert served.browser().get("/api/discussions", **sent).status == 403
    assert served.browser().get("/images/240/bowl/000/1.png", **sent).status == 200


def token_of(browser, scope="read", **fields) -> dict[str, str]:
    """The header of a program with a new token."""
    page = browser.post("/account/tokens", name="sorter", scope=scope, **fields).text
    (token,) = re.findall(r"lk_[\w-]{43}", page)
    return {"Authorization": f"Bearer {token}"}


def code_of(answer) -> str:
    return json.loads(answer.body).get("error", {}).get("code", "")


def test_a_scope_limits_what_a_program_can_do(served_on):
    lea = served_on.logged_in("Lea", "lead")
    program = served_on.browser()
    requests = (
        ("GET", "/api/me", None), ("GET", "/images/240/bowl/000/1.png", None),
        ("GET", "/api/label/next", None), ("POST", "/api/label/missing", b'{"image": "bowl/000/1.png"}'),
        ("GET", "/api/campaign", None), ("POST", "/api/queue", b"{}"),
    )  # fmt: skip
    for scope, outcomes in (
        ("read", [200, 200, "scope", "scope", "lead-only", "scope"]),
        ("label", [200, 200, 200, 200, "lead-only", "lead-only"]),
        ("lead", [200] * 6),
    ):
        headers = token_of(lea, scope)
        answers = [program.ask(method, path, body=body, headers=headers) for method, path, body in requests]
        assert [one.status if one.status == 200 else code_of(one) for one in answers] == outcomes
        assert {one.status for one in answers} <= {200, 403}
        assert json.loads(answers[0].body)["role"] == ("lead" if scope == "lead" else "annotator")


def test_annotators_get_no_token_of_leads(served):
    ann = served.logged_in("Ann")
    assert 'value="lead"' not in ann.get("/account").text
    assert ann.post("/account/tokens", name="sorter", scope="lead").status == 403
    for wrong in ({"scope": "all"}, {"days": "0"}, {"days": "366"}, {"days": "x"}, {"name": " "}):
        assert ann.post("/account/tokens", **{"name": "sorter"} | wrong).status == 400
    assert "/revoke" not in ann.get("/account").text


def test_a_token_ends_after_90_days_unless_others_are_chosen(served):
    ann, program = served.logged_in("Ann"), served.browser()
    usual, long = token_of(ann), token_of(ann, days="365")
    served.clock.goes(hours=90 * 24 - 1)
    assert [program.get("/api/me", **one).status for one in (usual, long)] == [200, 200]
    served.clock.goes(hours=1)
    assert [program.get("/api/me", **one).status for one in (usual, long)] == [401, 200]
    assert (
        ann.log_in("Ann").get("/account").text.count("/revoke") == 1
    )  # nothing is left to revoke of the other


def test_a_new_password_asks_about_tokens(served):
    ann, program = served.logged_in("Ann"), served.browser()
    new = {"password": "quite another one", "again": "quite another one"}
    assert 'name="tokens"' not in ann.get("/account").text
    token = token_of(ann)
    assert 'name="tokens"' in ann.get("/account").text
    assert ann.post("/account/password", old=PASSWORD, **new).status == 400
    assert served.browser().log_in("Ann").get("/account").status == 200  # nothing was changed
    assert ann.post("/account/password", old=PASSWORD, tokens="keep", **new).status == 303
    assert (program.get("/api/me", **token).status, ann.get("/account").status) == (200, 200)
    changed = ann.post("/account/password", old=new["password"], tokens="revoke", **new)
    assert (changed.status, program.get("/api/me", **token).status) == (303, 401)
    assert 'name="tokens"' not in ann.get("/account").text
    assert ann.post("/account/password", old=new["password"], **new).status == 303  # there is nothing to ask


def test_ended_sessions_and_a_link_to_set_a_password_revoke_tokens(served_on):
    ann, program = served_on.logged_in("Ann"), served_on.browser()
    token = token_of(ann)
    assert ann.post("/account/sessions").status == 303
    assert program.get("/api/me", **token).status == 401
    token = token_of(ann)
    lea = served_on.logged_in("Lea", "lead")
    (number,) = re.findall(r"/team/people/(\d+)/reset\">.*? for Ann<", lea.get("/team/people").text)
    (link,) = re.findall(
        r"http://127\.0\.0\.1:\d+(/invite/[\w-]+)", lea.post(f"/team/people/{number}/reset").text
    )
    assert program.get("/api/me", **token).status == 200
    ann.get(link)
    assert ann.post(link, password="quite another one", again="quite another one").status == 303
    assert program.get("/api/me", **token).status == 401


def test_a_person_removed_or_with_another_role_is_out_at_the_next_click(served_on):
    lea = served_on.logged_in("Lea", "lead")
    number = served_on.add("Ann")
    ann = served_on.browser().log_in("Ann")
    assert lea.post(f"/team/people/{number}/role", role="lead").status == 303
    assert ann.get("/account").status == 303
    assert ann.log_in("Ann").get("/team/people").status == 200
    assert lea.post(f"/team/people/{number}/role", role="annotator").status == 303
    assert ann.log_in("Ann").get("/team/people").status == 403
    assert f'action="/team/people/{number}/remove"' in lea.get(f"/team/people/{number}/remove").text
    assert lea.post(f"/team/people/{number}/remove").status == 303
    assert ann.get("/account").status == 303
    ann.get("/login")
    assert ann.post("/login", name="Ann", password=PASSWORD).status == 401
    assert lea.get(f"/team/people/{number}/role").status == 409
    assert f"/team/people/{number}/role" not in lea.get("/team/people").text  # listed, but as removed
    assert "Ann" in lea.get("/team/people").text
    log = lea.get("/team/audit").text
    assert all(deed in log for deed in ("role to lead", "role to annotator", "removed", "login failed"))


def test_the_last_lead_cannot_remove_or_demote_themselves(served):
    number = served.add("Lea", "lead")
    lea = served.browser().log_in("Lea")
    for deed, fields in (("remove", {}), ("role", {"role": "annotator"})):
        answer = lea.post(f"/team/people/{number}/{deed}", **fields)
        assert answer.status == 409
    assert lea.get("/team/people").status == 200


def test_pages_that_do_not_exist_have_the_navigation_of_the_reader(served):
    ann, lea = served.logged_in("Ann"), served.logged_in("Lea", "lead")
    for path in ("/nowhere", "/team/nowhere", "/static/nowhere.css", "/team/people/1/role/2"):
        for reader, leads in ((ann, False), (lea, True)):
            page = reader.get(path)
            assert (page.status, 'href="/label"' in page.text, 'href="/plan"' in page.text) == (
                404,
                True,
                leads,
            )
    assert ann.ask("DELETE", "/team").status == 405
    assert 'href="/label"' in ann.ask("DELETE", "/team").text
    assert 'action="/logout"' in ann.get("/nowhere").text
    assert ann.post("/logout").status == 303  # with the token of that page
    for nobody in (ann, served.browser()):
        page = nobody.get("/nowhere")
        assert (page.status, 'href="/label"' in page.text) == (404, False)


def test_the_audit_log_goes_back_page_by_page(served):
    lea = served.logged_in("Lea", "lead")
    with served.site.database.write() as connection:
        for at in range(150):
            access.record(connection, at, None, f"deed-{at:03d}")
    first = lea.get("/team/audit").text
    (older,) = re.findall(r'href="(/team/audit\?before=\d+)"', first)
    second = lea.get(older).text
    assert ("deed-149" in first, "deed-010" in first) == (True, False)
    assert ("deed-149" in second, "deed-010" in second, "?before=" in second) == (False, True, False)
