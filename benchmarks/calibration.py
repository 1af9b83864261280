"""How often the intervals hold: the share of 95 % intervals that cover the value of the whole population.

    python benchmarks/calibration.py [--workspace FOLDER] [--draws 2000] [--queries 200] [--tests]

The population is a studio catalog with 5,200 queries, its pool labelled by two simulated experts (made in FOLDER
if given, and kept there; else thrown away). A second population keeps a quarter of the labels, so that most queries
have three or four. From each, queries are drawn with replacement, and every draw makes intervals for one generator,
for an encoder that did not feed the pool, and for their difference. With --tests, two equal encoders are made of these
two, by taking each query from either at random, and the tests are asked whether they differ.
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from lookalike.core.checks import strings
from lookalike.core.types import JudgedRanks, Rule, Score, Scores
from lookalike.evaluate.groups import only_queries
from lookalike.evaluate.measures.pooled import folded
from lookalike.evaluate.measures.table import DEFAULT, evaluate
from lookalike.evaluate.significance.bootstrap import Resampling, divided
from lookalike.evaluate.significance.intervals import METHODS, SAME, interval
from lookalike.evaluate.significance.summary import Settings, significance
from lookalike.rank.judged import judged_ranks
from lookalike.rank.pairs import judged_pairs
from lookalike.store.workspace import Workspace
from lookalike.studio import studio
from lookalike.workflows.demo.demo import GENERATORS, OUTSIDE, PHOTOS
from lookalike.workflows.demo.truth import simulated_labels
from lookalike.workflows.label.discover import discover
from lookalike.workflows.start.embed import embed
from lookalike.workflows.start.init import init
from lookalike.workflows.start.studio import write_studio

ENCODERS = ("hog", "color+hog+layout")
MEASURES = (*DEFAULT, "DCS(alpha=10,average=macro)", "HR@1", "EHR@1")
IMAGES, QUERIES = 5400, 5200
REPLICATES = 2000
ALLOWED = (0.93, 0.97)


def main(folder: Path, draws: int, queries: int) -> None:
    """Print one table per population."""
    for title, ranks in populations(folder):
        scores = [evaluate(one, MEASURES) for one in ranks]
        count = len(ranks[0].query_codes[0])
        print(f"\n{title}: {count:,} queries, {len(ranks[0]):,} labels; {draws:,} draws of {queries}")
        print(f"{'':30}{'hog':^20}{'outside':^20}{'difference':^20}{'undefined':>10}")
        print(f"{'measure':30}" + "".join(f"{method:>10}" for _ in range(3) for method in METHODS))
        inside = covered(scores, draws, queries)
        for at, measure in enumerate(scores[0].scores):
            cells = "".join(
                mark(np.nanmean(inside[:, at, i, j])) for i in range(3) for j in range(len(METHODS))
            )
            print(f"{measure:30}{cells}{np.isnan(inside[:, at]).mean(axis=0).max():10.3f}", flush=True)


def tests(folder: Path, draws: int, queries: int) -> None:
    """Print how often two equal encoders are told apart at p < .05, before any adjustment."""
    _, (one, other) = next(populations(folder))
    random = np.random.Generator(np.random.PCG64(2))
    starts = np.append(0, np.cumsum(np.bincount(one.query_codes[1])))
    found: dict[str, list[tuple[float, float, float]]] = {}
    for draw in range(draws):
        sample = random.integers(0, len(starts) - 1, queries)
        rows = np.concatenate([np.arange(starts[query], starts[query + 1]) for query in sample])
        place = np.repeat(np.arange(queries), np.diff(starts)[sample])
        swap = random.integers(0, 2, queries)[place] == 1
        scores = [
            replace(evaluate(mixed(*pair, rows, place, swap), MEASURES), encoder=name)
            for name, pair in (("a", (one, other)), ("b", (other, one)))
        ]
        settings = Settings(replicates=REPLICATES, seed=draw, method="percentile")
        for measure, (pair,) in significance(scores, settings).comparisons.items():
            found.setdefault(measure, []).append((pair.p_t, pair.p_permutation, pair.p_bootstrap))
    print(f"\nTwo equal encoders, {draws:,} draws of {queries}: % with p < .05")
    print(f"{'measure':30}{'t-test':>12}{'permutation':>12}{'bootstrap':>12}")
    for measure, p in found.items():
        shares = 100 * np.mean(np.array(p) < 0.05, axis=0)
        told = np.where(np.isnan(np.array(p)).all(axis=0), np.nan, shares)
        print(f"{measure:30}" + "".join(f"{share:12.1f}" for share in told))


def mixed(
    one: JudgedRanks, other: JudgedRanks, rows: np.ndarray, place: np.ndarray, swap: np.ndarray
) -> JudgedRanks:
    """Drawn queries, each ranked by one of two encoders at random: which is which makes no difference."""
    columns = {
        name: np.where(swap, getattr(other, name)[rows], getattr(one, name)[rows])
        for name in ("above", "tied", "score", "candidates")
    }
    fixed = {"query": strings(place), "candidate": one.candidate[rows], "label": one.label[rows]}
    return JudgedRanks(encoder=one.encoder, basis=one.basis, tolerance=one.tolerance, **fixed, **columns)


def mark(share: float) -> str:
    """A share in per cent, with a star outside the limits."""
    return f"{100 * share:9.1f}{' ' if ALLOWED[0] <= share <= ALLOWED[1] else '*'}"


def populations(folder: Path) -> Iterator[tuple[str, list[JudgedRanks]]]:
    """All labels of the demo's pool, and a quarter of them."""
    if not (folder / "lookalike.toml").exists():
        make(folder)
    workspace = Workspace(folder)
    pairs = judged_pairs(workspace.catalog, workspace.labels(), Rule())
    ranks = [judged_ranks(workspace.catalog, workspace.embeddings(name), pairs) for name in ENCODERS]
    keep = np.random.default_rng(0).random(len(pairs)) < 0.25
    yield "All labels", ranks
    yield "A quarter of the labels", [one.only(keep) for one in ranks]


def make(folder: Path) -> None:
    """Draw a studio, embed its photos, pool three encoders and let two simulated experts label, as the demo does."""
    drawn = studio(IMAGES, photos_per_item=2, seed=0)
    write_studio(folder / PHOTOS, drawn)
    workspace, _ = init(folder / PHOTOS, folder, generated=True)
    for spec in (*GENERATORS, OUTSIDE):
        embed(workspace, spec)
    names = [spec.partition(":")[2] for spec in GENERATORS]
    found = discover(workspace, names, top=5, queries=QUERIES)
    labels, _ = simulated_labels(drawn, workspace.catalog, found.questions, 0)
    workspace.add_labels(labels, "simulated experts")


def covered(scores: Sequence[Scores], draws: int, queries: int) -> np.ndarray:
    """Whether each interval covers, NaN where it is undefined: draw, measure, (one, other, difference), method."""
    names = list(scores[0].scores)
    random = np.random.Generator(np.random.PCG64(1))
    inside = np.full((draws, len(names), 3, len(METHODS)), np.nan)
    for draw in range(draws):
        sample = random.integers(0, len(scores[0][names[0]].query), queries)
        weights = np.concatenate(list(Resampling(np.arange(queries), REPLICATES, draw).weights()))
        asked = np.concatenate([np.ones((1, queries)), weights, 1.0 - np.eye(queries)])
        drawn = Sample(len(scores[0][names[0]].query), sample, asked)
        for at, name in enumerate(names):
            inside[draw, at] = cover([one[name] for one in scores], drawn)
    return inside


class Sample:
    """Queries drawn with replacement, each place a query of its own, and how often each place is counted.

    Row 0 counts every place once, then come the replicates, then the sample without each place.
    """

    def __init__(self, population: int, sample: np.ndarray, weights: np.ndarray) -> None:
        self.sample, self.weights = sample, weights
        self.which = np.isin(np.arange(population), sample)
        self.place = (np.cumsum(self.which) - 1)[sample]
        as_queries = np.zeros((len(sample), int(self.which.sum())))
        as_queries[np.arange(len(sample)), self.place] = 1.0
        self.parts = np.array_split(weights @ as_queries, 32)

    def values(self, score: Score) -> np.ndarray:
        """The measure on each row of weights."""
        if score.pooled is not None:
            pooled = only_queries(score, self.which).pooled
            return np.concatenate([folded(pooled, part) for part in self.parts])
        return divided(
            self.weights @ score.numerator[self.sample], self.weights @ score.denominator[self.sample]
        )

    def counted(self, score: Score) -> int:
        """How many places count."""
        if score.pooled is not None:
            return len(self.sample)
        return int(np.count_nonzero(score.denominator[self.sample]))


def cover(scores: Sequence[Score], drawn: Sample) -> np.ndarray:
    """Whether the intervals of two scores and of their difference cover what the population has, by each method."""
    truth = [scores[0].value, scores[1].value, scores[0].value - scores[1].value]
    columns = [drawn.values(score) for score in scores]
    counted = min(drawn.counted(score) for score in scores)
    found = np.full((3, len(METHODS)), np.nan)
    for at, values in enumerate((*columns, columns[0] - columns[1])):
        for j, method in enumerate(METHODS):
            replicates, without = values[1 : 1 + REPLICATES], values[1 + REPLICATES :]
            ends = interval(float(values[0]), counted, replicates, without, method=method)
            if not ends.reason:
                found[at, j] = ends.low <= truth[at] + SAME and truth[at] - SAME <= ends.high
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--workspace", type=Path)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument(
        "--tests", action="store_true", help="test equal encoders instead of making intervals"
    )
    given = parser.parse_args()
    work = tests if given.tests else main
    if given.workspace is not None:
        work(given.workspace, given.draws, given.queries)
    else:
        with tempfile.TemporaryDirectory() as made:
            work(Path(made) / "studio", given.draws, given.queries)
