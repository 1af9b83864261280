"""92 objects whose every pair people judged: learn from a pool's labels, score on all pairs of the test images.

    python studies/people.py DATA --journal people.jsonl --out FOLDER

DATA is as in `examples/human_judgments.py`. Labels are those of the pairs that
two networks rank in their top 5; a head is trained on the vectors of MobileNetV2.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from human_judgments import complete_labels, pooled
from study import WAYS, journal_of, options, run, tell, trials

import lookalike
from lookalike.research.trials.run import Ground

GENERATORS = ("mobilenetv1_100", "mobilenetv2_100")
ENCODER = "mobilenetv2_100"


def main(arguments: list[str]) -> None:
    """Run what is left of the trials and tell."""
    parser = options(__doc__)
    parser.add_argument("data", type=Path, help="the data pack")
    asked = parser.parse_args(arguments)
    tell(run({ENCODER: people(asked.data)}, trials(WAYS, asked), journal_of(asked)), asked, "people")


def people(data: Path) -> Ground:
    """The catalog, MobileNetV2's vectors, the pool's labels and the complete ones."""
    folder = data / "objects92"
    catalog = lookalike.read_catalog(folder / "catalog.csv", images=folder / "images")
    networks = {
        name: lookalike.embed(
            catalog, f"precomputed:{data / 'embeddings' / 'objects92' / name}.npy", name=name
        )
        for name in GENERATORS
    }
    truth = complete_labels(folder / "judgments.csv")
    labels = pooled(truth, lookalike.make_pool(catalog, networks.values(), top=5))
    return Ground("people", catalog, np.asarray(networks[ENCODER].vectors, np.float32), labels, truth)


if __name__ == "__main__":
    main(sys.argv[1:])
