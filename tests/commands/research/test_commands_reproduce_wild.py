"""EDS Table 6 with trained encoders: queries of another style, checked against vectors and labels of the workspace."""

from pathlib import Path

import numpy as np
import pytest
from learning_studio import NETWORK, STUDIO
from oracles import scoring
from oracles.scoring import Row
from PIL import Image

from lookalike.core.types import Labels
from lookalike.store.workspace import Workspace
from lookalike.studio import studio, true_labels
from lookalike.studio.wild import wild_photo

EVERY, SIZE = 3, 32  # items of which one is photographed in another style; pixels
TINY = ("--encoders", "argus", "--epochs", 1, "--batch", 24, "--prototypes", 16)
KINDS = {
    "argus": "GT generators",
    "argus-id": "GT generators",
    "argus-cat": "New models",
    "argus-ft": "New models",
    "base": "New models",
}
FAR = 10**6
MEASURES = {
    "HR / @5": lambda lists, _: scoring.hr(lists, 5),
    "HR / @9": lambda lists, _: scoring.hr(lists, 9),
    "MRR / @5": lambda lists, _: scoring.mrr(lists, 5),
    "MRR / @9": lambda lists, _: scoring.mrr(lists, 9),
    "ROC-AUC / Micro / Anno.": lambda _, pairs: scoring.auc_mic(pairs),
    "ROC-AUC / Macro / Anno.": lambda _, pairs: scoring.auc_mac(pairs),
    "PR-AUC / Micro / Anno.": lambda _, pairs: scoring.pr_auc_mic(pairs),
    "PR-AUC / Macro / Anno.": lambda _, pairs: scoring.pr_auc_mac(pairs),
}


def flat(text: str) -> str:
    return " ".join(text.split())


def rows_of_studio(folder: Path) -> list[int]:
    """The photo of the studio that each wild query of the catalog shows, and each photo of the gallery."""
    catalog, known = Workspace(folder).catalog, studio(STUDIO, photos_per_item=2).catalog().row
    return [
        int(Path(image).stem) if role == "query" else known[image]
        for image, role in zip(catalog.image, catalog.role, strict=True)
    ]


@pytest.fixture
def wild(lookalike, unlabelled) -> Path:
    """The studio workspace with wild queries, trained encoders of which one feeds the pool, and the pool's labels."""
    drawn, random = studio(STUDIO, photos_per_item=2), np.random.default_rng(0)
    known, catalog = drawn.catalog().row, Workspace(unlabelled).catalog
    (unlabelled / "wild").mkdir()
    first = {item: row for row, item in reversed(list(enumerate(catalog.item)))}
    table = ["image,item,category"]
    for row in list(first.values())[::EVERY]:
        image = f"wild/{known[catalog.image[row]]}.png"
        Image.fromarray(wild_photo(drawn.draw(known[catalog.image[row]], SIZE), random)).save(
            unlabelled / image
        )
        table.append(f"{image},of {catalog.item[row]},{catalog.category[row]}")
    (unlabelled / "wild.csv").write_text("\n".join(table))
    for command in (
        ("catalog", "add", "wild.csv", "--set", "role=query"),
        ("embed", NETWORK, "--name", "base"),
        ("embed", NETWORK, "--name", "argus"),
        ("reproduce", "eds-table-6", "--train", *TINY, "--methods", "ID"),
        ("discover", "--generators", "argus,argus-id", "--where", "role=query", "--top", 8),
    ):
        done = lookalike(*command)
        assert done.status == 0, (command, done.out, done.err)
    opened, photos = Workspace(unlabelled), np.array(rows_of_studio(unlabelled))
    pool, at = opened.pool(), opened.catalog.row
    query, candidate = (photos[[at[one] for one in ends]] // 2 for ends in (pool.query, pool.candidate))
    opened.add_labels(
        Labels.of(pool.query, pool.candidate, true_labels(drawn, query, candidate)), "the truth"
    )
    opened.database.close()
    return unlabelled


def judged(folder: Path, encoder: str) -> tuple[list[Row], list[Row]]:
    """The labelled pairs of wild queries by definition: at the places of items in a list, and at those of photos.

    A list holds each item once, at its nearest photo; a pair of another photo of the item has no place in it.
    """
    opened = Workspace(folder)
    catalog, labels = opened.catalog, opened.labels()
    vectors = opened.embeddings(encoder).vectors.astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    lists, pairs = [], []
    for query, candidate, label in zip(labels.query, labels.candidate, labels.label.tolist(), strict=True):
        near = vectors @ vectors[catalog.row[query]]
        shown = [
            row
            for row in range(len(catalog))
            if catalog.role[row] != "query" and catalog.item[row] != catalog.item[catalog.row[query]]
        ]
        best: dict[str, int] = {}
        for row in shown:
            best[catalog.item[row]] = max(best.get(catalog.item[row], row), row, key=lambda one: near[one])
        own, score = catalog.row[candidate], float(near[catalog.row[candidate]])
        by_photo = sum(near[row] > near[own] for row in shown)
        by_item = sum(near[row] > near[own] for row in best.values())
        in_list = by_item if best[catalog.item[own]] == own else FAR
        pairs.append(Row(query, candidate, label, int(by_photo), 0, score, len(shown)))
        lists.append(Row(query, candidate, label, int(in_list), 0, score, len(best)))
    similar = {row.query for row in lists if row.label == 1}
    return [row for row in lists if row.query in similar], pairs


def test_trained_encoders_are_scored_on_wild_queries(lookalike, wild):
    done = lookalike("reproduce", "eds-table-6", "--train", *TINY, "--methods", "CAT,FT")
    assert done.status == 0, done.err
    words = flat(done.out)
    assert "2 encoders to train" in words
    assert "argus-cat: epoch 1 of 1" in words
    shown = lookalike("reproduce", "eds-table-6", "--json").json
    found = {(*cell["row"].values(), cell["column"]): cell["ours"] for cell in shown["cells"] if cell["ours"]}
    printed = {"argus": "Argus", "argus-id": "Argus ID", "argus-cat": "Argus CAT"}
    different = set()
    for encoder, kind in KINDS.items():
        lists, pairs = judged(wild, encoder)
        assert {row.label for row in pairs} == {0, 1}
        values = tuple(measure(lists, pairs) for measure in MEASURES.values())
        for column, value in zip(MEASURES, values, strict=True):
            assert found[kind, printed.get(encoder, encoder), column]["value"] == pytest.approx(100 * value)
        different.add(values)
    assert len(different) >= len(KINDS) - 1  # `base` and `argus` are one network
    assert {names[:2] for names in found} == {
        (kind, printed.get(encoder, encoder)) for encoder, kind in KINDS.items()
    }
    labels, is_wild = Workspace(wild).labels(), Workspace(wild).catalog.role == "query"
    queries, similar = np.sum(is_wild), np.sum(labels.label)
    read = np.sum(is_wild & (Workspace(wild).catalog.split == "train"))
    remarks = flat(" ".join(shown["remarks"]))
    assert f"{len(labels)} labelled pairs of {queries} queries, {similar} of them similar" in remarks
    assert "Trained without labels: argus-cat, argus-id and argus-ft." in remarks
    assert f"{read} wild queries are in the training split" in remarks
    text = flat(lookalike("reproduce", "eds-table-6", "--encoders", "argus").out)
    assert "Missing: 1 cell of 4. argus-id+c: not trained." in text
