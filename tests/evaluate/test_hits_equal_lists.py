"""HR, EHR and coverage by judged ranks equal what people see: positives counted in the top lists themselves."""

import numpy as np
import pytest
from oracles.matching import Vote
from oracles.ranking import Photo
from oracles.worlds import catalog_of, embeddings_of, labels_of

from lookalike.core.types import Rule
from lookalike.evaluate.measures.table import evaluate
from lookalike.rank.distinct import top_lists
from lookalike.rank.judged import judged_ranks

ITEMS, PHOTOS, QUERIES = 40, 120, 30


@pytest.mark.parametrize("k", [1, 5, 39])
@pytest.mark.parametrize("similarity", ["cosine", "dot", "euclidean"])
def test_hits_of_top_lists(similarity: str, k: int):
    random = np.random.default_rng(k)
    catalog = catalog_of([Photo(f"i{row}", f"p{row % ITEMS}") for row in range(PHOTOS)])
    embeddings, rule = embeddings_of(catalog, random.normal(size=(PHOTOS, 12))), Rule(similarity=similarity)
    label = random.integers(-1, 2, (QUERIES, ITEMS))  # -1: unjudged
    votes = [
        Vote(f"i{q}", f"i{item + ITEMS * int(random.integers(1, 3))}", int(label[q, item]))
        for q in range(QUERIES)
        for item in range(ITEMS)
        if label[q, item] >= 0 and q % ITEMS != item
    ]
    found = top_lists(catalog, embeddings, np.arange(QUERIES), k, rule)
    seen = [[int(label[q, row % ITEMS]) for row in found.row[q]] for q in range(QUERIES)]
    scores = evaluate(
        judged_ranks(catalog, embeddings, labels_of(votes), rule), [f"HR@{k}", f"EHR@{k}", f"coverage@{k}"]
    )
    labelled = [[y for y in top if y >= 0] for top in seen]
    assert scores[f"HR@{k}"].value == pytest.approx(np.mean([sum(top) / k for top in labelled]))
    assert scores[f"coverage@{k}"].value == pytest.approx(np.mean([len(top) / k for top in labelled]))
    assert scores[f"EHR@{k}"].value == pytest.approx(np.mean([np.mean(top) for top in labelled if top]))
