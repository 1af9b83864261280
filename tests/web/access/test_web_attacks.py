"""Attacks and broken programs, against a real server."""

import base64
import json
import socket

import pytest
from serving import PASSWORD, Browser, make_shop, serving
from sqlalchemy import select

from lookalike.store.people import access
from lookalike.store.sql.labelling_schema import session
from lookalike.web.access.sessions import Session, packed, unpacked

STRICT = {
    "content-security-policy": "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def raw(port: int, request: bytes) -> bytes:
    """Send bytes as they are; all that came back."""
    came = b""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as line:
        line.sendall(request)
        line.settimeout(10)
        try:
            while part := line.recv(65536):
                came += part
        except (TimeoutError, ConnectionResetError):
            pass
    return came


def status(came: bytes) -> int:
    return int(came.split(b" ", 2)[1])


def test_forged_and_broken_cookies_are_nobodys(served):
    number = served.add("Ann", "lead")
    real = served.browser().log_in("Ann").cookies["lookalike"]
    now = served.clock()
    body, dot, signature = real.rpartition(".")
    forged = [
        packed(Session(number, now, now, "n"), "another key"),
        body + dot + "A" * len(signature),
        body + "." + signature[:-2] + ("AA" if signature[-2:] != "AA" else "BB"),
        body,
        body[:-1] + ("A" if body[-1] != "A" else "B") + dot + signature,
        real + "x",
        real.swapcase(),
        base64.urlsafe_b64encode(json.dumps([number, now, now, "n"]).encode()).decode(),
        "x" * 6000,
        "..",
        "%00",
        '"',
    ]
    assert Browser(served.port, {"lookalike": real}).get("/account").status == 200
    for value in forged:
        assert Browser(served.port, {"lookalike": value}).get("/account").status == 303, value


def test_signed_values_of_another_shape_are_no_session(served):
    from itsdangerous import URLSafeSerializer

    from lookalike.web.access import sessions

    sign = sessions._serializer(served.site.key).dumps
    now = served.clock()
    shapes = ([], None, 7, "text", {}, [1, 2, 3], ["1", now, now, "n"], [True, now, now, "n"])
    shapes += ([1, "x", now, "n"], [1, now, float("nan"), "n"], [1, now, now, 5], [1.0, now, now, "n"])
    shapes += ([1, 0, now, now, "n"],)  # of an earlier version
    assert unpacked(sign([1, now, now, "n"]), served.site.key, now) is not None
    for shape in shapes:
        assert unpacked(sign(shape), served.site.key, now) is None, shape
    other = URLSafeSerializer(served.site.key, salt="something else").dumps([1, now, now, "n"])
    assert unpacked(other, served.site.key, now) is None


def test_the_signing_key_alone_makes_no_session(served):
    """Who reads the database knows the key, and the digests of the sessions that are in use."""
    number = served.add("Lea", "lead")
    real = served.browser().log_in("Lea").cookies["lookalike"]
    now, key = served.clock(), served.site.key
    nonce = unpacked(real, key, now).nonce
    with served.site.database.read() as connection:
        kept = connection.execute(select(session.c.digest)).scalar_one()
    for one, outcome in ((nonce, 200), (kept, 303), ("n", 303), ("", 303)):
        cookie = packed(Session(number, now, now, one), key)
        assert Browser(served.port, {"lookalike": cookie}).get("/account").status == outcome, one
    other = served.add("Ann")
    cookie = packed(Session(other, now, now, nonce), key)
    assert Browser(served.port, {"lookalike": cookie}).get("/account").status == 303


def test_a_copied_cookie_does_not_work_after_the_logout(served_on):
    here = served_on.logged_in("Ann")
    there = served_on.browser().log_in("Ann")
    stolen = Browser(served_on.port, dict(here.cookies))
    assert stolen.get("/account").status == 200
    assert here.post("/logout").status == 303
    assert stolen.get("/account").status == 303
    assert json.loads(stolen.get("/api/me").body)["error"]["code"] == "signed-out"
    assert there.get("/account").status == 200


def test_a_session_ends_without_use_and_after_a_week_in_any_case(served):
    ann = served.logged_in("Ann")
    for _ in range(16):
        served.clock.goes(hours=10)
        assert ann.get("/account").status == 200
    served.clock.goes(hours=9)
    assert ann.get("/account").status == 303
    ann.log_in("Ann")
    served.clock.goes(hours=12.1)
    assert ann.get("/account").status == 303
    ann.log_in("Ann")
    served.clock.goes(hours=-2)  # set back: what is from the future is not trusted
    assert ann.get("/account").status == 303


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(served):
    line = served.browser().get("/login").headers["set-cookie"]
    assert "; HttpOnly" in line
    assert "; SameSite=Lax" in line
    assert "Secure" not in line


def test_behind_https_the_cookie_travels_through_nothing_else(tmp_path, shop_photos):
    with serving(make_shop(tmp_path, shop_photos, tmp_path), https=True) as served:
        answer = served.browser().get("/login")
    assert answer.headers["set-cookie"].startswith("__Host-lookalike=")
    assert "; Secure" in answer.headers["set-cookie"]
    assert answer.headers["strict-transport-security"] == "max-age=31536000"


def test_annotators_cannot_make_themselves_leads(served):
    number = served.add("Ann")
    ann = served.browser().log_in("Ann")
    assert ann.post(f"/team/people/{number}/role", role="lead").status == 403
    assert ann.post("/team/people/invite", role="lead").status == 403
    lea = served.logged_in("Lea", "lead")
    for role in ("root", "imported", "lead' OR '1'='1"):
        assert lea.post("/team/people/invite", role=role).status == 400
    assert json.loads(ann.get("/api/me").body)["role"] == "annotator"


def test_guessing_takes_ever_longer_and_ends_in_429(served):
    served.add("Ann")
    guesser = served.browser()
    guesser.get("/login")
    statuses = [guesser.post("/login", name="Ann", password=f"guess {n}").status for n in range(6)]
    assert statuses == [401] * 5 + [429]
    refused = guesser.post("/login", name=" ANN ", password=PASSWORD)  # not even with the right one
    assert (refused.status, refused.headers["retry-after"]) == (429, "1")
    assert "1 second" in refused.text
    served.clock.goes(seconds=1)
    assert guesser.post("/login", name="Ann", password="guess").status == 401
    assert guesser.post("/login", name="Ann", password="guess").headers["retry-after"] == "2"
    served.clock.goes(seconds=2)
    assert guesser.post("/login", name="Ann", password=PASSWORD).status == 303
    assert served.browser().log_in("Ann").get("/account").status == 200


def test_guessing_the_present_password_in_an_open_session_is_throttled_too(served):
    ann = served.logged_in("Ann")
    new = {"password": "quite another one", "again": "quite another one"}
    statuses = [ann.post("/account/password", old=f"guess {n}", **new).status for n in range(6)]
    assert statuses == [400] * 5 + [429]


def test_huge_bodies_are_refused_before_they_are_read(served):
    for path in ("/login", "/no-such-page", "/api/me", "/static/app.css"):
        for size in ((1 << 20) + 1, 10**12, "9" * 400, "1x", "+5", "-1"):
            head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {size}\r\n\r\n"
            assert status(raw(served.port, head.encode())) in (400, 413), (path, size)
    head = "POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1048577\r\n\r\n"
    assert b"1,048,576 bytes" in raw(served.port, head.encode())


def test_huge_bodies_in_chunks_are_refused_too(served):
    kinds = {
        "application/x-www-form-urlencoded": b"name=",
        "multipart/form-data; boundary=b": b'--b\r\nContent-Disposition: form-data; name="name"\r\n\r\n',
        "application/json": b'"',
    }
    for kind, start in kinds.items():
        lines = (
            "Host: 127.0.0.1",
            "Connection: close",
            "Transfer-Encoding: chunked",
            f"Content-Type: {kind}",
        )
        head = "\r\n".join(("POST /login HTTP/1.1", *lines, "", ""))
        parts = [
            start,
            *[b"x" * 50_000] * 21,
        ]  # 2 kB over the limit: all of it fits into the sockets' buffers
        body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)
        assert status(raw(served.port, head.encode() + body)) == 413, kind
    assert served.browser().get("/login").status == 200


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json", b"{"),
        ("application/json", b'{"name": "\xff"}'),
        ("multipart/form-data", b"no boundary"),
        ("multipart/form-data; boundary=b", b"--b\r\nnonsense"),
        (
            "multipart/form-data; boundary=b",
            b'--b\r\nContent-Disposition: form-data; name="csrf"; filename="x"\r\n\r\ny\r\n--b--\r\n',
        ),
        ("application/x-www-form-urlencoded", b"&" * 5000),
        ("application/x-www-form-urlencoded", b"csrf=%FF%FE&name=%00"),
        ("application/x-www-form-urlencoded", b"\xff\xfe\x00"),
        ("text/plain", b"csrf=x"),
        ("", b"csrf=x"),
    ],
)
def test_malformed_forms_are_refused_with_a_page(served, kind, body):
    browser = served.browser()
    browser.get("/login")
    answer = browser.ask("POST", "/login", body=body, headers={"Content-Type": kind})
    assert answer.status in (400, 403, 422)
    assert "<h1>" in answer.text
    assert "Traceback" not in answer.text


def test_numbers_that_are_none_or_too_large(served):
    lea = served.logged_in("Lea", "lead")
    for number, outcome in (
        ("x", 422),
        ("1.5", 422),
        ("-1", 422),
        ("999", 404),
        ("9" * 30, 422),
        ("%00", 400),
    ):
        assert lea.get(f"/team/people/{number}/remove").status == outcome, number
        assert lea.post(f"/team/people/{number}/role", role="lead").status == outcome, number
    assert lea.get("/team/audit?before=" + "9" * 30).status == 422
    assert lea.get("/team/audit?before=x").status == 422


def test_script_and_sql_in_names_stay_text(served_on):
    lea = served_on.logged_in("Lea", "lead")
    names = [
        "<script>alert(1)</script>",
        "Robert'); DROP TABLE annotator;--",
        '" onmouseover="x',
        "{{ 7 * 7 }}",
    ]
    for name in names:
        browser = served_on.logged_in(name)
        body = browser.get("/account").body.decode()
        assert "<script>alert" not in body
        assert '" onmouseover' not in body
        assert name in browser.get("/account").text
    people = lea.get("/team/people")
    assert "<script>alert" not in people.body.decode()
    assert all(name in people.text for name in names)
    visitor = served_on.browser()
    visitor.get("/login")
    echoed = visitor.post("/login", name='"><script>alert(1)</script>', password="x")
    assert "<script>" not in echoed.body.decode()
    log = lea.get("/team/audit").body.decode()
    assert "<script>alert" not in log


def test_hosts_it_was_not_started_for_are_refused(served):
    for host in (
        "evil.example",
        "127.0.0.1.evil.example",
        "127.0.0.1@evil.example",
        "localhost:x",
        "",
        "[::1",
        "127.0.0.2",
    ):
        answer = served.browser().get("/login", Host=host)
        assert answer.status == 400, host
        assert "evil" not in answer.text
    for host in ("127.0.0.1", "LOCALHOST:1234", "[::1]:80", "localhost."):
        assert served.browser().get("/login", Host=host).status == 200, host
    twice = b"GET /login HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
    assert status(raw(served.port, twice)) == 400
    none = b"GET /login HTTP/1.0\r\n\r\n"
    assert status(raw(served.port, none)) == 400
    whole = b"GET http://evil.example/login HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
    assert status(raw(served.port, whole)) == 400


def test_every_answer_has_the_strict_headers(served):
    lea = served.logged_in("Lea", "lead")
    answers = [
        lea.get("/team/people"),
        lea.get("/no-such-page"),
        lea.get("/images/240/bowl/000/1.png"),
        lea.get("/images/240/none"),
        lea.get("/static/app.css"),
        lea.get("/static/none.css"),
        lea.get("/static/../app.py"),
        lea.get("/api/me"),
        lea.ask("DELETE", "/account"),
        lea.post("/account/tokens", csrf="wrong"),
        lea.get("/login", Host="evil.example"),
        lea.ask("POST", "/login", headers={"Content-Length": "2000000"}),
        served.browser().get("/account"),
        lea.post("/logout"),
    ]
    assert [answer.status for answer in answers] == [
        200, 404, 200, 404, 200, 404, 404, 200, 405, 403, 400, 413, 303, 303
    ]  # fmt: skip
    for answer in answers:
        assert {name: answer.headers.get(name) for name in STRICT} == STRICT
        assert "server" not in answer.headers
    assert answers[0].headers["cache-control"] == "no-store"
    assert answers[4].headers["cache-control"] == "no-cache"


def test_an_unexpected_error_is_a_page_without_a_traceback(served, caplog):
    lea = served.logged_in("Lea", "lead")
    served.site.thumbnails = None
    answer = lea.get("/images/240/bowl/000/1.png")
    assert (answer.status, "<h1>" in answer.text) == (500, True)
    assert "NoneType" not in answer.text
    assert answer.headers["content-security-policy"] == STRICT["content-security-policy"]
    assert "NoneType" in caplog.text


def test_a_database_that_cannot_be_written_is_503_and_says_so_to_leads(served, monkeypatch):
    ann, lea = served.logged_in("Ann"), served.logged_in("Lea", "lead")
    with served.site.database.write() as connection:
        connection.exec_driver_sql("DROP TABLE api_token")
    for browser, is_lead in ((ann, False), (lea, True)):
        answer = browser.post("/account/tokens", name="x")
        assert (answer.status, answer.headers["retry-after"]) == (503, "10")
        assert ("api_token" in answer.text) is is_lead


def test_programs_get_errors_as_json(served):
    browser = served.browser()
    for path, accept, outcome, code in (
        ("/api/me", "*/*", 401, "signed-out"),
        ("/api/none", "*/*", 404, "404"),
        ("/account", "application/json", 401, "signed-out"),
        ("/none", "application/json", 404, "404"),
    ):
        answer = browser.get(path, Accept=accept)
        error = json.loads(answer.body)["error"]
        assert (answer.status, error["code"], sorted(error)) == (
            outcome,
            code,
            ["code", "fix", "kind", "problem"],
        )


def test_failed_logins_cannot_fill_a_line_of_the_log(served):
    browser = served.browser()
    browser.get("/login")
    browser.post("/login", name="x" * 10_000 + "\n", password="y" * 10_000)
    with served.site.database.read() as connection:
        (line,) = access.audit_log(connection)
    assert (line.action, len(line.subject)) == ("login failed", 60)
