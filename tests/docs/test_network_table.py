"""The table of networks in the docs is that of the zoo."""

from pathlib import Path

from lookalike.encode.zoo.networks import licence, networks

PAGE = Path(__file__).parents[2] / "docs/reference/networks.md"


def expected() -> list[str]:
    rows = []
    for one in networks():
        terms = licence(one.licence)
        names = ", ".join(f"`{name}`" for name in (one.name, *one.aliases))
        allowed = f"{terms.commercial}, {terms.derivatives}, {terms.serving}"
        rows.append(
            f"| {names} | `{one.source}` | {one.dimension:,} | {one.licence} ({allowed}) | {', '.join(one.papers)} "
            f"| {one.note} |"
        )
    return rows


def test_the_table_of_networks_is_that_of_the_zoo():
    assert [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")] == expected()
