"""Compare four networks on complete human judgments, and on the labels that a pool of two would contain.

    python examples/human_judgments.py DATA

DATA holds objects92/ (92 images, judgments.csv: image_a, image_b, dissimilarity of all 4,186 pairs) and
embeddings/objects92/NETWORK.npy. The most similar 10% of pairs are taken as similar, the rest as not. Then only the
labels of the pool of two networks' top 5 are kept, as an annotation project would have them, for every choice of two.
"""

import sys
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

import lookalike
from lookalike.core.types import Labels, Pool

NETWORKS = ("mobilenetv1_100", "mobilenetv2_100", "mobilenet_edgetpu_075", "squeezenet1_0")
MEASURES = ("DCS(alpha=10)", "HR@5", "EHR@5", "coverage@5", "AUC_mic", "AUC_mac", "BPREF")


def main(data: Path) -> None:
    """Print the scores on all labels, then how measures on pools of two order the four networks."""
    catalog = lookalike.read_catalog(data / "objects92" / "catalog.csv", images=data / "objects92" / "images")
    vectors = data / "embeddings" / "objects92"
    networks = [lookalike.embed(catalog, f"precomputed:{vectors / name}.npy", name=name) for name in NETWORKS]
    labels = complete_labels(data / "objects92" / "judgments.csv")
    complete = lookalike.score(catalog, networks, labels, MEASURES)
    print(f"All {len(labels):,} labels, {100 * labels.label.mean():.1f}% similar")
    print_table(complete)
    truth = np.array([one["HR@5"].value for one in complete])
    found = {name: [] for name in MEASURES}
    excess = {True: [], False: []}
    for two in combinations(networks, 2):
        pool = lookalike.make_pool(catalog, two, top=5)
        scores = lookalike.score(catalog, networks, pooled(labels, pool), MEASURES)
        print(f"\nPool of {two[0].encoder} and {two[1].encoder}: {len(pool)} labels")
        print_table(scores)
        for name in MEASURES:
            found[name].append(spearmanr([one[name].value for one in scores], truth).statistic)
        for one, true in zip(scores, truth, strict=True):
            excess[one.encoder in pool.generators].append(one["EHR@5"].value - true)
    print("\nSpearman correlation with the true HR@5 over the four networks, mean and least of six pools")
    for name, values in found.items():
        print(f"  {name:16}{np.mean(values):6.2f}{np.min(values):6.2f}")
    print("\nEHR@5 minus the true HR@5")
    for generator, values in excess.items():
        who = "generators" if generator else "networks that did not feed the pool"
        above = np.mean(np.array(values) > 0)
        print(f"  {who}: {np.mean(values):+.3f} on average, above in {100 * above:.0f}% of cases")


def complete_labels(judgments: Path) -> Labels:
    """A label for every ordered pair: the most similar 10% of pairs are similar."""
    rows = [line.split(",") for line in judgments.read_text().splitlines()[1:]]
    apart = np.array([float(value) for _, _, value in rows])
    similar = (apart <= np.quantile(apart, 0.10)).astype(np.int8)
    one, other = [row[0] for row in rows], [row[1] for row in rows]
    return Labels.of(one + other, other + one, np.concatenate([similar, similar]))


def pooled(labels: Labels, pool: Pool) -> Labels:
    """The labels whose pair is in the pool."""
    pairs = set(zip(pool.query, pool.candidate, strict=True))
    keep = [pair in pairs for pair in zip(labels.query, labels.candidate, strict=True)]
    return Labels.of(labels.query[keep], labels.candidate[keep], labels.label[keep])


def print_table(scores: list[lookalike.Scores]) -> None:
    """Encoders in rows, measures in columns."""
    print(f"{'':24}" + "".join(f"{name:>15}" for name in MEASURES))
    for one in scores:
        print(f"{one.encoder:24}" + "".join(f"{one[name].value:15.3f}" for name in MEASURES))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
