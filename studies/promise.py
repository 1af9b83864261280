"""How often a threshold for "nothing similar" breaks its promise: the naive one against the tested one.

    python studies/promise.py [--studios 40] [--out FOLDER]

Independent studio catalogs seen by simulated encoders. On every catalog each encoder gets one draw of labels. Half of
the catalog's queries are there to draw from; the promise is judged on the other half, the new queries.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import isnan
from pathlib import Path

import numpy as np

from lookalike.audit.promise import PromiseTerms, draw_places, promised_threshold
from lookalike.rank.distinct import top_lists
from lookalike.research.bias.ground_truths import as_if_encoders
from lookalike.store.disk import write_file
from lookalike.studio import studio
from lookalike.studio.truth import true_labels

K, TERMS = 10, PromiseTerms()
LABELS = (100, 300, 600)
WAYS = ("naive", "tested")


@dataclass(frozen=True)
class Cell:
    """One threshold of one draw. `error` is its share of dissimilar results for new queries, `kept` of similar ones."""

    studio: int
    encoder: str
    similar: float
    labels: int
    way: str
    made: bool
    error: float
    kept: float

    @property
    def broken(self) -> bool:
        """Whether the promise is broken."""
        return self.made and self.error > TERMS.dissimilar


def main(arguments: list[str]) -> None:
    """Run the study and print its table."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--studios", type=int, default=40)
    parser.add_argument("--images", type=int, default=4000)
    parser.add_argument("--first", type=int, default=0, help="seed of the first studio")
    parser.add_argument("--out", type=Path, help="a folder for every threshold (CSV)")
    asked = parser.parse_args(arguments)
    cells = list[Cell]()
    for seed in range(asked.first, asked.first + asked.studios):
        cells += _cells(asked.images, seed)
        print(f"\rstudio {seed}", end="", flush=True, file=sys.stderr)
    print(file=sys.stderr)
    print(
        "| labels | threshold | made | broken, of all draws | broken, of those made | similar results kept |"
    )
    print("|---|---|---|---|---|---|")
    for labels in LABELS:
        for way in WAYS:
            mine = [one for one in cells if (one.labels, one.way) == (labels, way)]
            made = [one for one in mine if one.made]
            kept = f"{100 * np.mean([one.kept for one in made]):.0f}%" if made else "-"
            broken = [100 * np.mean([one.broken for one in some]) if some else 0.0 for some in (mine, made)]
            shares = " | ".join(f"{one:.1f}%" for one in broken)
            print(f"| {labels} | {way} | {100 * len(made) / len(mine):.0f}% | {shares} | {kept} |")
    if asked.out is not None:
        rows = [asdict(one) for one in cells]
        lines = [",".join(rows[0]), *(",".join(map(_shown, row.values())) for row in rows)]
        asked.out.mkdir(parents=True, exist_ok=True)
        write_file(asked.out / "promise.csv", ("\n".join(lines) + "\n").encode())


def _cells(images: int, seed: int) -> Iterator[Cell]:
    drawn = studio(images, photos_per_item=2, seed=seed)
    catalog = drawn.catalog()
    item = catalog.item_codes[1]
    for at, encoder in enumerate(as_if_encoders(drawn)):
        lists = top_lists(catalog, encoder, np.arange(images), K)
        similar = true_labels(drawn, np.repeat(item, K), item[lists.row].ravel()).reshape(-1, K) == 1
        half = np.random.default_rng((seed, at)).permutation(images) < images // 2
        score, answers = lists.score[half], similar[half]
        new, truth = lists.score[~half], similar[~half]
        for labels in LABELS:
            places = draw_places(score, labels, seed)
            label = answers[places.query, places.place].astype(np.float64)
            shown = [places.score >= t for t in places.thresholds]
            fitting = [
                t
                for t, here in zip(places.thresholds, shown, strict=True)
                if here.any() and 1 - label[here].mean() <= TERMS.dissimilar
            ]
            found = {
                "naive": float(min(fitting, default=np.nan)),
                "tested": promised_threshold(places, label, TERMS).threshold,
            }
            for way, threshold in found.items():
                above = new >= threshold
                made = not isnan(threshold)
                error = float(1 - truth[above].mean()) if above.any() else 0.0
                kept = float(truth[above].sum() / truth.sum())
                yield Cell(seed, encoder.encoder, float(truth.mean()), labels, way, made, error, kept)


def _shown(value: object) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main(sys.argv[1:])
