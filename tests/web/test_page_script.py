"""What the script of every page does, in a browser: local times, and buttons that copy links."""

import re

import pytest
from labelling_app import log_in, until
from playwright.sync_api import expect

from lookalike.store.people import people

pytestmark = pytest.mark.browser
UTC = "2023-11-14 22:13 UTC"  # the served clock


@pytest.mark.parametrize(
    ("zone", "local"), [("Asia/Kolkata", "2023-11-15 03:43"), ("America/New_York", "2023-11-14 17:13")]
)
def test_times_are_those_of_the_reader(served, browser, zone, local):
    served.add("Lea", "lead")
    page = log_in(browser.new_context(timezone_id=zone), served, "Lea", there="/team/people")
    time = page.locator("time").first
    assert (time.inner_text(), time.get_attribute("title")) == (local, UTC)
    assert time.get_attribute("datetime") == "2023-11-14T22:13Z"


def test_without_a_script_times_are_in_utc_and_no_button_copies(served, browser):
    served.add("Lea", "lead")
    page = log_in(browser.new_context(java_script_enabled=False), served, "Lea", there="/team/people")
    assert page.locator("time").first.inner_text() == UTC
    page.get_by_role("button", name="Create link", exact=True).click()
    expect(page.locator("[data-copies]")).to_have_count(1)
    assert not page.locator("[data-copies]").is_visible()


@pytest.mark.parametrize("has_clipboard", [True, False])
def test_a_link_is_copied(served, browser, has_clipboard):
    served.add("Lea", "lead")
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = log_in(context, served, "Lea", there="/team/people")
    if not has_clipboard:  # as for a server on another machine without https
        page.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page.get_by_role("button", name="Create link", exact=True).click()
    link = page.locator("#once").input_value()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/invite/[\w-]+", link)
    button = page.locator("[data-copies]")
    before = button.inner_text()
    button.click()
    until(page, "had => document.querySelector('[data-copies]').textContent !== had", before)
    page.goto(f"{served.address}/guidelines/edit")
    page.locator("#text").fill("")
    page.locator("#text").press("Control+v")
    until(page, "link => document.querySelector('#text').value === link", link)


def test_a_role_is_changed_after_a_confirmation_only(served, browser):
    served.add("Lea", "lead")
    number = served.add("Ann")
    page = log_in(browser.new_context(), served, "Lea", there="/team/people")
    page.get_by_role("link", name=re.compile(r"lead.*Ann")).click()
    page.wait_for_url(f"**/team/people/{number}/role")

    def role():
        with served.site.database.read() as connection:
            return people.person(connection, number).role

    assert role() == "annotator"
    page.locator("main a.button").click()
    page.wait_for_url("**/team/people")
    assert role() == "annotator"
    page.goto(f"{served.address}/team/people/{number}/role")
    page.locator("main button").click()
    page.wait_for_url("**/team/people")
    assert role() == "lead"
    assert page.locator(f'form[action$="/{number}/role"]').count() == 0
