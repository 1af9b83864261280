"""Sampled negatives: their sources and numbers, and what measures make of them (EDS 4, 6.4)."""

from random import Random

import numpy as np
import pytest
from oracles import ranking, scoring
from oracles.matching import Vote
from oracles.ranking import Photo, Rules
from oracles.worlds import catalog_of, embeddings_of, labels_of, lattice, rows_from, rule_of

from lookalike.api.values import score
from lookalike.core.errors import ArgumentError, MeasureError, NotComparableError
from lookalike.core.types import Catalog, Embeddings, JudgedRanks, Rule
from lookalike.evaluate.measures.table import evaluate, parse
from lookalike.rank import negatives
from lookalike.rank.judged import judged_ranks
from lookalike.rank.negatives import add_negatives
from lookalike.rank.pairs import JudgedPairs, judged_pairs

FIRST, LAST = 3, 8


@pytest.fixture(autouse=True)
def short_lists(monkeypatch: pytest.MonkeyPatch):
    """Ranks 3 to 8 of small catalogs in place of 100 to 500."""
    monkeypatch.setattr(negatives, "FIRST", FIRST)
    monkeypatch.setattr(negatives, "LAST", LAST)


class Shop:
    """Twenty items of one to three photos, two baselines on a lattice (with ties), labels of four queries."""

    def __init__(self, seed: int, level: str) -> None:
        random = Random(seed)
        names = [f"p{i}" for i in range(20) for _ in range(random.randint(1, 3))]
        self.photos = [Photo(f"i{row:02d}", name) for row, name in enumerate(names)]
        self.vectors = [lattice(random, len(names), 3, 3) for _ in range(2)]
        self.rules = Rules(level=level)
        self.lists: dict[tuple[int, int], list[str]] = {}
        self.catalog: Catalog = catalog_of(self.photos)
        self.encoders: list[Embeddings] = [
            embeddings_of(self.catalog, vectors, name)
            for vectors, name in zip(self.vectors, "ab", strict=True)
        ]
        self.votes = [
            Vote(query, candidate, random.randint(0, 1))
            for query in ("i00", "i05", "i11", "i17")
            for candidate in random.sample([photo.image for photo in self.photos], 5)
        ]
        self.pairs: JudgedPairs = judged_pairs(self.catalog, labels_of(self.votes), rule_of(self.rules))

    def code(self, row: int) -> str:
        photo = self.photos[row]
        return photo.item if self.rules.level == "item" else photo.image

    def list_of(self, baseline: int, query: int) -> list[str]:
        if (baseline, query) not in self.lists:
            found = ranking.top(self.photos, self.vectors[baseline], query, LAST, self.rules)
            self.lists[baseline, query] = [self.code(row) for row in found]
        return self.lists[baseline, query]

    def labelled(self, query: str, labels: tuple[int, ...]) -> set[str]:
        rows = zip(self.pairs.query, self.pairs.candidate, self.pairs.label, strict=True)
        return {candidate for q, candidate, label in rows if q == query and label in labels}

    def eligible(self, query: str, how: str) -> set[str]:
        row = self.catalog.row[query]
        own = {
            self.code(other)
            for other in range(len(self.photos))
            if self.photos[other].item == self.photos[row].item
        }
        if how == "catalog":
            everything = {self.code(other) for other in range(len(self.photos))}
            return everything - own - self.labelled(query, (0, 1))
        lists = [self.list_of(baseline, row) for baseline in (0, 1)]
        deep = {name for one in lists for name in one[FIRST:]}
        return deep - {name for one in lists for name in one[:FIRST]} - own - self.labelled(query, (1,))


def negatives_of(pairs: JudgedPairs, query: str) -> list[str]:
    return pairs.candidate[(pairs.query == query) & (pairs.drawn > 0)].tolist()


LEVELS = pytest.mark.parametrize("level", ["item", "image", "paper"])
HOWS = pytest.mark.parametrize("how", ["sampled", "catalog"])


@LEVELS
@HOWS
@pytest.mark.parametrize("seed", range(4))
def test_sampled_negatives_are_eligible_and_n_or_all(level: str, how: str, seed: int):
    shop = Shop(seed, level)
    for n in (1, 3, 1000):
        pairs = add_negatives(shop.catalog, shop.pairs, how, n, seed, shop.encoders)
        short = 0
        for query in set(shop.pairs.query):
            eligible, sampled = shop.eligible(query, how), negatives_of(pairs, query)
            assert set(sampled) <= eligible
            assert len(sampled) == len(set(sampled)) == min(n, len(eligible))
            short += len(sampled) < n
        (made,) = pairs.basis.negatives
        assert (made.n, made.short, made.drawn) == (n, short, len(pairs) - len(shop.pairs))


@HOWS
def test_every_eligible_candidate_is_sampled_equally_often(how: str):
    shop, times = Shop(1, "image"), 300
    count: dict[str, int] = {}
    for seed in range(times):
        for name in negatives_of(add_negatives(shop.catalog, shop.pairs, how, 2, seed, shop.encoders), "i05"):
            count[name] = count.get(name, 0) + 1
    eligible = shop.eligible("i05", how)
    assert set(count) == eligible
    expected = 2 * times / len(eligible)
    assert sum((got - expected) ** 2 / expected for got in count.values()) < 2.5 * len(eligible)


@LEVELS
def test_labels_and_other_queries_do_not_move_a_querys_draw(level: str):
    shop = Shop(2, level)
    for how in ("sampled", "catalog"):
        whole = add_negatives(shop.catalog, shop.pairs, how, 2, 7, shop.encoders)
        part = add_negatives(
            shop.catalog, shop.pairs.only(shop.pairs.query == "i11"), how, 2, 7, shop.encoders[::-1]
        )
        assert negatives_of(part, "i11") == negatives_of(whole, "i11")


def ranked(shop: Shop, how: str, n: int = 3) -> JudgedRanks:
    pairs = add_negatives(shop.catalog, shop.pairs, how, n, 0, shop.encoders)
    return judged_ranks(shop.catalog, shop.encoders[1], pairs)


@LEVELS
@pytest.mark.parametrize("seed", range(4))
def test_areas_equal_their_definitions_on_the_rows_they_see(level: str, seed: int):
    shop = Shop(seed, level)
    for how, seen in (
        ("sampled", lambda label, sampled: sampled or label == 1),
        ("catalog", lambda label, sampled: True),
    ):
        judged = ranked(shop, how)
        rows = [
            row
            for row, sampled in zip(rows_from(judged), judged.drawn, strict=True)
            if seen(row.label, sampled > 0)
        ]
        oracles = (
            scoring.auc_mac(rows),
            scoring.pr_auc_mac(rows),
            scoring.auc_mic(rows),
            scoring.pr_auc_mic(rows),
        )
        for name, exact in zip(("AUC_mac", "PR-AUC_mac", "AUC_mic", "PR-AUC_mic"), oracles, strict=True):
            assert parse(f"{name}(n=3,negatives={how})")(judged).value == pytest.approx(exact, nan_ok=True)


@LEVELS
def test_what_does_not_ask_for_them_does_not_see_them(level: str):
    shop = Shop(3, level)
    plain = evaluate(judged_ranks(shop.catalog, shop.encoders[1], shop.pairs))
    for how in ("sampled", "catalog"):
        beside = evaluate(ranked(shop, how))
        assert {m: s.value for m, s in beside.scores.items()} == pytest.approx(
            {m: s.value for m, s in plain.scores.items()}, nan_ok=True
        )


def test_another_number_or_another_kind_is_undefined_with_a_reason():
    judged = ranked(Shop(0, "item"), "sampled")
    for measure, word in (
        ("AUC_mac(n=4,negatives=sampled)", "n=3"),
        ("AUC_mac(negatives=catalog)", "catalog"),
    ):
        found = parse(measure)(judged)
        assert np.isnan(found.value)
        assert word in found.reason


def test_scores_on_other_negatives_refuse_to_be_compared():
    shop = Shop(0, "item")
    measure = "AUC_mac(n=2,negatives=sampled)"

    def basis(measures: str = measure, **options: object):
        (first, second) = score(shop.catalog, shop.encoders, shop.pairs, measures, **options)
        first.basis.require_same(second.basis)
        return first.basis

    basis().require_same(basis())
    for other in (
        basis(seed=1),
        basis("AUC_mac(n=1,negatives=sampled)"),
        basis("AUC_mac(n=2,negatives=catalog)"),
        basis(baselines=shop.encoders[:1]),
        basis("AUC_mac"),
    ):
        with pytest.raises(NotComparableError, match="negatives"):
            basis().require_same(other)


def test_two_numbers_at_once_and_no_baselines_are_refused():
    shop = Shop(0, "item")
    with pytest.raises(MeasureError):
        score(
            shop.catalog,
            shop.encoders,
            shop.pairs,
            "AUC_mac(n=2,negatives=sampled),AUC_mic(negatives=sampled)",
        )
    with pytest.raises(ArgumentError):
        add_negatives(shop.catalog, shop.pairs, "sampled", 2, 0, [])


def test_the_whole_of_a_large_gallery_can_be_sampled():
    """More candidates than are listed one by one: sampled by number, without repeats."""
    photos = [Photo(f"i{row:04d}", f"p{row // 2}") for row in range(3000)]
    catalog = catalog_of(photos)
    votes = [Vote("i0000", f"i{row:04d}", row % 3 == 0) for row in range(2, 400)]
    pairs = judged_pairs(catalog, labels_of(votes), Rule(level="image"))
    sampled = negatives_of(add_negatives(catalog, pairs, "catalog", 100, 0), "i0000")
    assert len(sampled) == len(set(sampled)) == 100
    assert all(int(name[1:]) >= 400 for name in sampled)
