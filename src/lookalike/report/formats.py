"""How numbers and names are written on the page: one way each."""

import math
import unicodedata

UNSHOWABLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
JOINERS = "\u200c\u200d"


def printable(text: str) -> str:
    r"""A name as one safe line: control, direction and half characters are written out, not obeyed.

    >>> printable("a\nb\udcff")
    'a\\nb\\udcff'
    """
    if text.isprintable():
        return text
    return "".join(_written_out(sign) for sign in text)


def _written_out(sign: str) -> str:
    if sign in JOINERS or unicodedata.category(sign) not in UNSHOWABLE:
        return sign
    return sign.encode("unicode_escape").decode("ascii")


def whole(value: int) -> str:
    """A count with thousands separators.

    >>> whole(1234567)
    '1,234,567'
    """
    return f"{value:,}"


def value(number: float) -> str:
    """A measure or a score: three decimals everywhere.

    >>> value(0.5), value(float("nan"))
    ('0.500', 'undefined')
    """
    return f"{number:.3f}" if math.isfinite(number) else "undefined"


def ends(low: float, high: float) -> str:
    """An interval: its ends as values are written; "" for one that is undefined.

    >>> ends(0.7081, 0.75), ends(float("nan"), float("nan"))
    ('0.708–0.750', '')
    """
    if not math.isfinite(low + high):
        return ""
    return f"{low:.3f}–{high:.3f}" if low >= 0 else f"{low:.3f} to {high:.3f}"


def tenth(number: float) -> str:
    """A mean or a percentage: one decimal, thousands separated.

    >>> tenth(1234.56)
    '1,234.6'
    """
    return f"{number:,.1f}" if math.isfinite(number) else "undefined"


def percent(share: float) -> str:
    """A share from 0 to 1 in %, one decimal.

    The space does not break.

    >>> percent(0.1837).replace("\N{NO-BREAK SPACE}", " ")
    '18.4 %'
    """
    return f"{tenth(100 * share)}\N{NO-BREAK SPACE}%" if math.isfinite(share) else "undefined"


def significant(number: float) -> str:
    """Two digits that count, without an exponent: for rates from 1 in 2 to 1 in a million.

    >>> significant(0.000436), significant(84.8), significant(20_000)
    ('0.00044', '85', '20,000')
    """
    if not math.isfinite(number):
        return "undefined"
    whole_part, _, rest = f"{float(f'{number:.2g}'):,.15f}".partition(".")
    return f"{whole_part}.{rest.rstrip('0')}".rstrip(".")


def rate(share: float) -> str:
    """A share that may be tiny, in % with two digits that count. The space does not break.

    >>> rate(0.000436).replace("\N{NO-BREAK SPACE}", " ")
    '0.044 %'
    """
    return f"{significant(100 * share)}\N{NO-BREAK SPACE}%" if math.isfinite(share) else "undefined"


def rough(number: float) -> str:
    """A factor or an estimate: one decimal below 10, none from there on.

    >>> rough(9.94), rough(1234.5)
    ('9.9', '1,234')
    """
    if not math.isfinite(number):
        return "undefined"
    return f"{number:.1f}" if abs(number) < 9.95 else f"{number:,.0f}"


def span(low: float, high: float) -> str:
    """An estimate from low to high.

    >>> span(3.14, 4.2), span(450.2, 450.3)
    ('3.1 to 4.2', '450')
    """
    first, last = rough(low), rough(high)
    return first if first == last else f"{first} to {last}"


def plural(count: int, one: str, many: str = "") -> str:
    """A count with its noun.

    >>> plural(1, "query", "queries"), plural(2000, "query", "queries")
    ('1 query', '2,000 queries')
    """
    return f"{whole(count)} {one if count == 1 else many or one + 's'}"


def listed(names: list[str]) -> str:
    """Names as a phrase.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
