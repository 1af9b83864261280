"""A person with a keyboard and no mouse: moves by Tab, follows links by Enter, and always sees where they are."""

from playwright.sync_api import Page

MOST = 200  # presses of Tab on one page
SIGNS = "✓✕?∅ "  # before the words of a button

FOCUSED = """() => {
    const one = document.activeElement, named = id => document.getElementById(id)?.innerText;
    if (!one || one === document.body || one.tabIndex < 0) return null;
    if (!window.reached) window.reached = [];
    if (!window.reached.includes(one)) window.reached.push(one);
    const style = getComputedStyle(one), box = one.getBoundingClientRect();
    const seen = one.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    const x = Math.min(Math.max(box.x + box.width / 2, 0), innerWidth - 1);
    const y = Math.min(Math.max(box.y + Math.min(box.height, innerHeight) / 2, 0), innerHeight - 1);
    const top = document.elementFromPoint(x, y);
    const words = one.getAttribute("aria-label") ?? named(one.getAttribute("aria-labelledby"))
        ?? one.labels?.[0]?.innerText ?? one.innerText;
    return {
        place: window.reached.indexOf(one), tag: one.tagName.toLowerCase(), id: one.id,
        html: one.outerHTML.slice(0, 120),
        words: (words || one.value || "").replace(/\\s+/g, " ").trim(),
        outlined: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
        shown: seen && box.width > 0 && box.height > 0 && Boolean(top) && (one.contains(top) || top.contains(one)),
    };
}"""

CONTROLS = "a[href], button, input, select, textarea, summary, [tabindex='0']"
LEFT = """controls => [...document.querySelectorAll(controls)].filter(one => one.tabIndex >= 0 && !one.disabled
    && one.type !== "hidden" && !window.reached.includes(one) && one.checkVisibility({ visibilityProperty: true })
).map(one => one.outerHTML.slice(0, 120))"""


def tab(page: Page, key: str = "Tab") -> dict | None:
    """Press Tab. Whatever has the focus then can be seen, and shows it. None outside of the page's content."""
    page.keyboard.press(key)
    one = page.evaluate(FOCUSED)
    assert one is None or (one["outlined"] and one["shown"]), (page.url, one)
    return one


def walk(page: Page) -> list[dict]:
    """Tab through a whole page, until the first place comes again. All controls must have been reached."""
    page.evaluate("() => { window.reached = []; document.activeElement.blur(); }")
    found: list[dict] = []
    for _ in range(MOST):
        one = tab(page)
        if one is not None and one["place"] < len(found):
            break
        found += [] if one is None else [one]
    assert found[-1]["place"] == len(found) - 1, (page.url, found[-3:])
    assert page.evaluate(LEFT, CONTROLS) == [], page.url
    return found


def reach(page: Page, words: str, tag: str = "", key: str = "Tab") -> None:
    """Tab until the control with these words (of this tag) has the focus."""
    seen = []
    for _ in range(MOST):
        one = tab(page, key)
        if one and one["words"].lstrip(SIGNS).startswith(words) and tag in ("", one["tag"]):
            return
        seen.append(one and one["words"])
    raise AssertionError(f"{page.url}: {words!r} is not among {seen}")


def follow(page: Page, words: str, tag: str = "") -> None:
    """Reach a link or button and press Enter; wait for the page that follows."""
    reach(page, words, tag)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def fill(page: Page, words: str, value: str) -> None:
    """Reach a field and type its value in the place of what it held."""
    reach(page, words)
    page.keyboard.press("Control+a")
    page.keyboard.type(value)
