"""Make a workspace of 92 objects in which people judged every pair, for `lookalike bias --workspace FOLDER`.

    python examples/complete_judgments.py DATA FOLDER

DATA is as in `human_judgments.py`. Thirteen encoders: the four networks' vectors and nine descriptors of the photos.
"""

import sys
from pathlib import Path

from lookalike.workflows.start.embed import embed
from lookalike.workflows.start.init import init

sys.path.insert(0, str(Path(__file__).parent))
from human_judgments import NETWORKS, complete_labels

DESCRIPTORS = (
    "color",
    "hog",
    "layout",
    "lbp",
    "color+hog",
    "color+lbp",
    "hog+lbp",
    "color+hog+layout",
    "color+hog+layout+lbp",
)


def prepare(data: Path, folder: Path) -> None:
    """The catalog, the vectors and a label for every ordered pair."""
    objects = data / "objects92"
    workspace, _ = init(objects / "catalog.csv", folder, images=objects / "images")
    for name in NETWORKS:
        embed(workspace, f"precomputed:{data / 'embeddings' / 'objects92' / name}.npy", name=name)
    for name in DESCRIPTORS:
        embed(workspace, f"descriptor:{name}")
    workspace.add_labels(complete_labels(objects / "judgments.csv"), "judgments.csv")


if __name__ == "__main__":
    prepare(Path(sys.argv[1]), Path(sys.argv[2]))
