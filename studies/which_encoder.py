"""What do labels of a pool buy: the frozen encoder, a diagonal, adaptation or residual head, or a blend of encoders?

    python studies/which_encoder.py --journal which.jsonl --weights FOLDER --out FOLDER

Each repeat draws a studio catalog with one photo of each item. The pool holds the top 5 of each encoder, within the
query's split. Two simulated experts label it, query by query in random order, up to a number of pairs (`--counts`).
Each way learns from the labels of the training split with the default settings, except for the number of resamples.
The score is the true HR@5 of the test split minus that of the frozen encoder. The verdict comes from 100 drawn pairs
that are answered by the truth. Seconds are of one core (median). Finished trainings are not repeated.
"""

import csv
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from io import StringIO
from itertools import product
from pathlib import Path

import numpy as np
import torch
from PIL import Image

sys.path.insert(0, str(Path(__file__).parent))
from adaptation import NETWORKS
from soft_positives import fresh, pairs
from soft_positives_tables import mean_of
from study import write
from training_verdicts import is_wrong

import lookalike
from lookalike.api.training_verdict import TrainedEmbeddings, with_verdict
from lookalike.core.errors import LookalikeError
from lookalike.core.types import Catalog, Embeddings, Labels, Rule
from lookalike.encode.sources.blend import blended
from lookalike.learn.blend import blend_weights
from lookalike.store.journal import Entry, Journal
from lookalike.studio.simulated_encoders import observed
from lookalike.workflows.demo.truth import simulated_labels, true_pairs

FIRST, CATALOGS, ITEMS, SIZE, INPUT, TOP = 7_000, 5, 1_000, 64, 128, 5
COUNTS = (100, 300, 1_000)
SETS = {
    "color": ("color", "hog"),
    "mobilenetv2": ("mobilenetv2", "color", "hog"),
    "as-if": ("as-if", "mobilenetv2", "color"),
}
"""The encoders of each blend; the first is the frozen one. As-if is a simulated network that fits the catalog."""
WAYS = ("diagonal", "adaptation", "residual", "blend")
WORDS = ("won_said", "lost_said", "not_worse_said", "cannot_be_told_said", "wrong_said")
COLUMNS = (
    *("encoder", "labels", "training_labels", "way", "catalogs", "frozen", "gain", "low", "high"),
    *("won", "lost", "seconds", *WORDS),
)


@dataclass(frozen=True, eq=False)
class Shop:
    """A catalog with the vectors of its encoders, the labels of its pool, and the truth of its test split."""

    catalog: Catalog
    vectors: Mapping[str, Embeddings]
    labels: Labels
    truth: Labels

    @classmethod
    def of(cls, seed: int, asked: Namespace) -> "Shop":
        """The catalog of a seed."""
        made = fresh(seed, asked.items)
        catalog, drawn = made.catalog, made.drawn
        network = NETWORKS["mobilenetv2"].format(asked.weights) + f"&size={INPUT}"
        specs = {"color": "descriptor:color", "hog": "descriptor:hog", "mobilenetv2": network}
        vectors = {"as-if": observed(drawn, made.learners["good"])}
        with tempfile.TemporaryDirectory(prefix="lookalike-study-") as folder:
            for at, path in enumerate(catalog.path):
                (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
                Image.fromarray(drawn.draw(at, SIZE)).save(Path(folder) / path)
            for name, spec in specs.items():
                found = lookalike.embed(catalog, spec, photos=Path(folder)).vectors
                vectors[name] = np.asarray(found, np.float32)
        known = {name: Embeddings(name, catalog.image, one) for name, one in vectors.items()}
        pool = lookalike.make_pool(catalog, known.values(), top=TOP, within_splits=True)
        labels, _ = simulated_labels(drawn, catalog, pool, seed)
        truth = true_pairs(drawn, catalog, np.flatnonzero(catalog.split == "test"))
        here = np.array([catalog.split[catalog.row[image]] == "test" for image in truth.candidate])
        truth = Labels.of(truth.query[here], truth.candidate[here], truth.label[here])
        return cls(catalog, known, labels, truth)

    def first_labels(self, count: int, seed: int) -> Labels:
        """The labels of queries in random order, up to `count` unordered pairs."""
        order = np.random.default_rng(seed).permutation(len(self.catalog))
        place = order[[self.catalog.row[query] for query in self.labels.query]]
        kept, seen = list[int](), set[frozenset[str]]()
        for row in np.argsort(place, kind="stable").tolist():
            pair = frozenset((self.labels.query[row], self.labels.candidate[row]))
            if pair in seen or len(seen) < count:
                seen.add(pair)
                kept.append(row)
        return Labels(self.labels.query[kept], self.labels.candidate[kept], self.labels.label[kept])


def main(arguments: list[str]) -> None:
    """Run what is left and print the tables."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--journal", type=Path, required=True)
    parser.add_argument("--weights", type=Path, required=True, help="the folder of the network's weights")
    parser.add_argument("--out", type=Path, help="a folder for the table")
    parser.add_argument("--catalogs", type=int, default=CATALOGS)
    parser.add_argument("--items", type=int, default=ITEMS)
    parser.add_argument("--counts", type=int, nargs="+", default=COUNTS, help="labelled pairs")
    parser.add_argument("--resamples", type=int, default=5)
    parser.add_argument("--tell", action="store_true", help="print the results so far; run nothing")
    asked = parser.parse_args(arguments)
    torch.set_num_threads(1)  # products too small to share
    journal = Journal(asked.journal, repair=not asked.tell)
    shop = cache(lambda seed: Shop.of(seed, asked))
    places = product(asked.counts, range(FIRST, FIRST + asked.catalogs), SETS, WAYS)
    for count, seed, base, way in () if asked.tell else places:
        key = f"{seed} {asked.items} {asked.resamples} {base} {count} {way}"
        if journal.get(key) is None:
            about = {"key": key, "items": asked.items, "base": base, "count": count, "way": way}
            journal.add(about | learned(shop(seed), base, way, count, seed, asked.resamples))
            print(f"{key}: {journal.get(key)}", flush=True)
    rows = [told(journal, asked.items, *place) for place in product(SETS, asked.counts, WAYS)]
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows([COLUMNS, *filter(None, rows)])
    print(tables(text.getvalue()))
    write(asked, "which-encoder.csv", text.getvalue())
    names = ("training", "before", "after", "seconds", "word", "wrong")
    each = [[*one["key"].split(), *(str(one.get(name, "")) for name in names)] for one in journal]
    heads = ["seed", "items", "resamples", "encoder", "labels", "way", *names]
    write(asked, "which-encoder-catalogs.csv", "".join(",".join(row) + "\n" for row in [heads, *each]))


def learned(shop: Shop, base: str, way: str, count: int, seed: int, resamples: int) -> Entry:
    """One way on some labels: the true HR@5 before and after, what 100 drawn labels say, and seconds."""
    labels = shop.first_labels(count, seed)
    about: dict[str, object] = {"pairs": pairs(labels), "training": pairs(in_training(shop.catalog, labels))}
    frozen, started = shop.vectors[base], time.process_time()
    try:
        if way == "blend":
            better = blend(shop, base, labels, seed)
        else:
            more = {} if way == "residual" else {"resamples": resamples}
            better = lookalike.finetune(
                shop.catalog, frozen, labels, head=way, seed=seed, device="cpu", **more
            )
    except LookalikeError as error:
        return about | {"refused": str(error)}
    about["seconds"] = time.process_time() - started
    found = lookalike.score(shop.catalog, [frozen, better], shop.truth, "HR@5", rule=Rule(split="test"))
    before, after = (one["HR@5"].value for one in found)
    said = lookalike.training_verdict(better, shop.catalog, shop.truth)
    wrong = is_wrong(said, round(after - before, 9))
    return about | {"before": before, "after": after, "word": said.word, "wrong": wrong}


def in_training(catalog: Catalog, labels: Labels) -> Labels:
    """The labels of pairs in the training split, where both images are if one is."""
    rows = np.array([catalog.split[catalog.row[query]] == "train" for query in labels.query])
    return Labels(labels.query[rows], labels.candidate[rows], labels.label[rows])


def blend(shop: Shop, base: str, labels: Labels, seed: int) -> TrainedEmbeddings:
    """The blend of an encoder and others, judged against that encoder."""
    known = in_training(shop.catalog, labels)
    rows = [np.array([shop.catalog.row[image] for image in side]) for side in (known.query, known.candidate)]
    parts = [shop.vectors[name].vectors for name in SETS[base]]
    units = [part / np.linalg.norm(part, axis=1, keepdims=True) for part in parts]
    cosines = np.stack([(unit[rows[0]] * unit[rows[1]]).sum(axis=1) for unit in units], axis=1)
    weights = blend_weights(cosines.astype(np.float64), known.label.astype(np.int64)).weights
    made = Embeddings("blend", shop.catalog.image, blended(parts, weights.tolist()))
    return with_verdict(shop.catalog, shop.vectors[base], made, labels, seed)


def told(journal: Journal, items: int, base: str, count: int, way: str) -> list[object]:
    """A row of the table over the catalogs that are done; none without one."""
    place = (items, base, count, way)
    entries = [one for one in journal if (one["items"], one["base"], one["count"], one["way"]) == place]
    done = [one for one in entries if "after" in one]
    if not done:
        return []
    before, after, seconds = (
        np.array([one[name] for one in done]) for name in ("before", "after", "seconds")
    )
    change = (after - before).round(9) + 0.0  # without differences of rounding
    gain, said = mean_of(change), Counter(one["word"] for one in done)
    figures = (f"{one:.4f}" for one in (before.mean(), gain.value, gain.low, gain.high))
    words = (said[word] for word in ("won", "lost", "not worse", "cannot be told"))
    known = round(np.mean([one["training"] for one in done]))
    sides = int((change > 0).sum()), int((change < 0).sum())
    wrong = sum(one["wrong"] for one in done)
    return [
        base,
        count,
        known,
        way,
        len(done),
        *figures,
        *sides,
        f"{np.median(seconds):.2f}",
        *words,
        wrong,
    ]


def tables(text: str) -> str:
    """The gains by encoder, labels and way, and then seconds and words by way, of what `--out` writes."""
    rows = list(csv.DictReader(StringIO(text)))
    cell = {(row["encoder"], row["labels"], row["way"]): row for row in rows}
    heads = ["encoder", "frozen", "labels", "training", "catalogs", *WAYS]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for place in dict.fromkeys(place[:2] for place in cell):
        known = [cell.get((*place, way)) for way in WAYS]
        first = next(one for one in known if one)
        about = f"{float(first['frozen']):.3f}", place[1], first["training_labels"], first["catalogs"]
        lines.append(f"| {' | '.join([place[0], *about, *map(gained, known)])} |")
    counts = list(dict.fromkeys(row["labels"] for row in rows))
    heads = [
        "way",
        *(f"seconds, {count} labels" for count in counts),
        *(name.replace("_", " ") for name in WORDS),
    ]
    lines += ["", f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for way in WAYS:
        of = [row for row in rows if row["way"] == way]
        spent = [[float(row["seconds"]) for row in of if row["labels"] == count] for count in counts]
        shown = (f"{min(one):.1f} to {max(one):.1f}" if one else "" for one in spent)
        words = (str(sum(int(row[name]) for row in of)) for name in WORDS)
        lines.append(f"| {' | '.join([way, *shown, *words])} |")
    return "\n".join(lines)


def gained(row: Mapping[str, str] | None) -> str:
    """A gain with its interval, and the catalogs won and lost."""
    if row is None:
        return ""
    gain, low, high = (float(row[name]) for name in ("gain", "low", "high"))
    return f"{gain:+.3f} [{low:+.3f}, {high:+.3f}], {row['won']}:{row['lost']}"


if __name__ == "__main__":
    main(sys.argv[1:])
