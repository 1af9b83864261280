"""Two results made on different labels, catalogs or candidate rules refuse to be compared."""

import pytest
from oracles.matching import Vote
from oracles.ranking import Photo
from oracles.worlds import catalog_of, embeddings_of, labels_of

from lookalike.core.errors import NotComparableError
from lookalike.core.types import Basis, Rule
from lookalike.evaluate.measures.table import evaluate
from lookalike.rank.judged import judged_ranks

SHOP = [Photo("a", "a"), Photo("b", "b"), Photo("c", "c")]
VOTES = [Vote("a", "b", 1), Vote("a", "c", 0)]


def basis(photos: list[Photo] = SHOP, votes: list[Vote] = VOTES, rule: Rule | None = None) -> Basis:
    catalog = catalog_of(photos)
    embeddings = embeddings_of(catalog, [[1, row] for row in range(len(photos))])
    return evaluate(judged_ranks(catalog, embeddings, labels_of(votes), rule)).basis


def test_one_basis_is_comparable_for_any_order_of_the_labels():
    basis().require_same(basis(votes=VOTES[::-1]))


@pytest.mark.parametrize(
    "other",
    [
        {"photos": [*SHOP, Photo("d", "d")]},
        {"photos": [*SHOP[:2], Photo("c", "c", "gallery")]},
        {"photos": [*SHOP[:2], Photo("c", "c", split="test")]},
        {"photos": [*SHOP[:2], Photo("c", "other item")]},
        {"votes": VOTES[:1]},
        {"votes": [VOTES[0], VOTES[1]._replace(label=1)]},
        {"rule": Rule(level="image")},
        {"rule": Rule(similarity="dot")},
        {"rule": Rule(own_item=True)},
        {"rule": Rule(split="train")},
    ],
    ids=str,
)
def test_another_catalog_other_labels_or_another_rule_do_not(other: dict[str, object]):
    with pytest.raises(NotComparableError) as caught:
        basis().require_same(basis(**other))
    assert "again" in caught.value.fix
