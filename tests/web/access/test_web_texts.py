"""Texts that a database, a file or a page cannot hold come in nowhere: one door before all routes."""

import json
from urllib.parse import urlencode

import pytest
from sqlalchemy import func, select

from lookalike.store.labelling.guidelines import read_guideline
from lookalike.store.people import access
from lookalike.store.sql.labelling_schema import audit, guideline
from lookalike.web.safety import LONGEST_TEXT, wrong_text

FORM = "application/x-www-form-urlencoded"
REFUSED = (400, "text")


def kept(served) -> tuple[int, int]:
    """The number of lines of the audit log, and of versions of the guidelines."""
    with served.site.database.read() as connection:
        return tuple(
            connection.execute(select(func.count()).select_from(one)).scalar_one()
            for one in (audit, guideline)
        )


def sent(browser, path, body=None, kind=FORM, **headers) -> tuple[int, str]:
    """Status and code of the answer to a request; the code is "" where it is not refused."""
    headers |= {"Content-Type": kind, "X-CSRF-Token": browser.csrf, "Accept": "application/json"}
    answer = browser.ask("GET" if body is None else "POST", path, body=body, headers=headers)
    found = json.loads(answer.body) if answer.headers.get("content-type") == "application/json" else {}
    return answer.status, found.get("error", {}).get("code", "")


@pytest.mark.parametrize(
    "name", ["a%00b", "%01", "%1b[2J", "%7f", "%ED%A0%80", "%ff", "a%C3", "%0B", "x" * (LONGEST_TEXT + 1)]
)
def test_a_login_with_a_text_that_cannot_be_kept_leaves_no_trace(served_on, name):
    visitor = served_on.browser()
    visitor.get("/login")
    before = kept(served_on)
    for body in (f"name={name}&password=x", f"name=x&password={name}", f"{name}=x&name=x&password=x"):
        assert sent(visitor, "/login", f"csrf={visitor.csrf}&{body}".encode()) == REFUSED
    assert sent(visitor, f"/login?next={name}") == REFUSED
    assert kept(served_on) == before
    assert served_on.logged_in("Ann").get("/account").status == 200


@pytest.mark.parametrize(
    "text",
    [
        b"a\\u0000b", b"\\u001b", b"\\u007f", b"\\ud800", b"\\udc00\\ud800", b"x" * (LONGEST_TEXT + 1)
    ],
)  # fmt: skip
def test_json_with_such_a_text_is_refused_wherever_it_is(served_on, text):
    lea = served_on.logged_in("Lea", "lead")
    before = kept(served_on)
    bodies = [
        b'{"text": "%s", "based_on": 0}' % text,
        b'{"text": "x", "based_on": 0, "%s": 1}' % text,
        b'{"text": "x", "based_on": 0, "more": [{"deep": ["%s"]}]}' % text,
        (b'{"text": "%s", "based_on": 0}' % text).decode().encode("utf-16"),
    ]
    for body in bodies:
        for path in ("/api/guidelines", "/api/label/answer", "/api/discussions/1/comments"):
            for kind in ("application/json", FORM, "text/plain", ""):
                assert sent(lea, path, body, kind) == REFUSED, (path, kind)
    assert kept(served_on) == before


def test_addresses_with_such_a_text_are_refused(served):
    lea = served.logged_in("Lea", "lead")
    for path in (
        "/images/240/a%00.png", "/static/%00", "/invite/%1b", "/nowhere/%7f", "/discuss?category=%00",
        "/discuss?%00=x", "/team/people/%00/remove", f"/nowhere?x={'x' * (LONGEST_TEXT + 1)}",
    ):  # fmt: skip
        assert sent(lea, path) == REFUSED, path


def test_forms_of_parts_are_refused_whatever_their_encoding(served):
    lea = served.logged_in("Lea", "lead")
    before = kept(served)
    for charset in ("", "; charset=utf-7", "; charset=utf-16"):
        part = b'--b\r\nContent-Disposition: form-data; name="name"\r\n\r\na+AAA-b\r\n--b--\r\n'
        assert sent(lea, "/account/tokens", part, f"multipart/form-data; boundary=b{charset}") == REFUSED
    assert kept(served) == before


def test_texts_of_all_languages_with_line_breaks_are_kept_as_they_are(served_on):
    lea = served_on.logged_in("Lea", "lead")
    text = "# Größe\r\n\tитог \U0001f6cb 椅子 \x96 \u2028 e\u0301 \ufffd"
    body = json.dumps({"text": text, "based_on": 0})
    assert "\\ud83d\\udecb" in body  # a pair of surrogates is one character
    assert sent(lea, "/api/guidelines", body.encode(), "application/json") == (200, "")
    with served_on.site.database.read() as connection:
        newest = read_guideline(connection)
    assert newest.text.strip() == text.replace("\r\n", "\n").strip()
    form = urlencode({"csrf": lea.csrf, "text": text + "!", "based_on": newest.version})
    assert sent(lea, "/guidelines/edit", form.encode()) == (303, "")
    with served_on.site.database.read() as connection:
        assert read_guideline(connection).text.strip() == text.replace("\r\n", "\n").strip() + "!"


def test_a_failed_login_is_logged_under_the_name_that_was_typed(served):
    visitor = served.browser()
    visitor.get("/login")
    visitor.post("/login", name="Größe\n椅子", password="x")
    with served.site.database.read() as connection:
        (line,) = access.audit_log(connection)
    assert line.subject == "grösse\n椅子"


def test_fields_are_read_as_the_routes_read_them():
    def wrong(body, kind=FORM, path="/", query=b""):
        return bool(wrong_text({"path": path, "query_string": query}, kind, body))

    assert wrong(b"a=%00") is True
    assert wrong(b"a=%2500") is False
    assert wrong(b"a=\\u0000") is False  # six characters of a form
    assert (
        wrong(b'{"a": "\\u0000"}') is True
    )  # one character of JSON, which some routes read without its type
    assert wrong(b'{"a": "\\\\u0000"}') is False
    assert wrong(b"[" * 100_000, "application/json") is False  # no JSON that a route could read
    assert wrong(b"", query=b"a=b;c=%00") is True
    assert wrong(b"", path="/a\nb") is False  # a photo may have such a name
