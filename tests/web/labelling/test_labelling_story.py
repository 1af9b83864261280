"""The whole story in a browser: invited, labelled by keyboard, disagreed, discussed, decided, exported."""

import pytest
from labelling_app import (
    LEA,
    PASSWORD,
    changed,
    log_in,
    make_workspace,
    ready,
    sent,
    serving_shop,
    token,
)  # fmt: skip

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PAIRS = 60


def invited(browser, shop, lead, name):
    """A page of a person whom the lead invites by a link, and who chooses a name and a password."""
    lead.goto(f"{shop.address}/team/people")
    lead.get_by_role("button", name="Create link").click()
    link = lead.locator("input.secret").input_value()
    page = browser.new_context().new_page()
    page.goto(link)
    page.get_by_label("Name").fill(name)
    page.locator("#password").fill(PASSWORD)
    page.locator("#again").fill(PASSWORD)
    with page.expect_navigation():
        page.get_by_role("button").last.click()
    page.goto(f"{shop.address}/label")
    return page


def label_all(shop, page, differs):
    """Answer everything by keyboard; `differs` says which of them otherwise than the rest."""
    for _ in range(PAIRS):
        ready(page)
        held = token(page)
        page.keyboard.press("ArrowLeft" if shop.question(held) in differs else "ArrowRight")
        changed(page, held)
    sent(page)
    page.locator("#nothing[data-why=done] a").click(trial=True)


def listed(page, address, name):
    """The link of a list that fills as pairs are resolved, within a second or two after the last vote."""
    for _ in range(60):
        page.goto(address)
        link = page.get_by_role("link", name=name).first
        if link.count():
            return link
        page.wait_for_timeout(500)
    raise AssertionError(page.inner_text("main"))


def test_two_annotators_label_disagree_and_discuss_and_the_lead_decides(tmp_path, team, browser):
    workspace = make_workspace(tmp_path / "shop", team, pairs=PAIRS)
    with serving_shop(workspace) as shop:
        lead = log_in(browser.new_context(), shop, LEA, there="/plan/campaign")
        for name, value in (("undo_seconds", "0"), ("repeats", "0"), ("gold_every", "0")):
            lead.locator(f"#{name}").fill(value)
        lead.get_by_role("button", name="Save").click()
        ada, eve = (invited(browser, shop, lead, name) for name in ("Ada", "Eve"))
        label_all(shop, ada, differs={3, 5})
        label_all(shop, eve, differs={3, 7})
        listed(ada, f"{shop.address}/discuss?whose=mine", "Pair 5").click()
        ada.get_by_label("Your comment").fill("<b>Look</b> at the legs")
        ada.get_by_role("button", name="Add").click()
        ada.get_by_text("<b>Look</b> at the legs").wait_for()
        for page in (ada, eve):
            page.goto(f"{shop.address}/discuss/5")
            ready(page)
            page.get_by_role("form", name="Propose").get_by_role("button", name="Dissimilar").click()
        eve.locator("#said .verdict.no").wait_for()
        lead.goto(f"{shop.address}/discuss/7")
        ready(lead)
        lead.get_by_role("form", name="Decide").get_by_role("button", name="Exclude").click()
        lead.wait_for_url("**/discuss?said=7")  # that was the last one of the list
        for page in (lead, ada, eve):
            page.context.close()
    labels = shop.workspace.labels()
    assert len(labels) == PAIRS - 1
    assert int((labels.label == 0).sum()) == 2
