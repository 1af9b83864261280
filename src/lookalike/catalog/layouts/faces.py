"""Pairs of photos that both show a face: the split of Totally-Looks-Like in ADAPT 4.1."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from lookalike.catalog.photos.decode import load_rgb
from lookalike.core.checks import install
from lookalike.core.errors import CatalogError
from lookalike.core.progress import Progress

SPLIT = "https://github.com/VieVie31/visual-similarity"
CASCADE = "haarcascade_frontalface_default.xml"
SCALE, NEIGHBOURS = 1.1, 3
HasFace = Callable[[Path], bool]


def haar_cascade() -> HasFace:
    """Whether a photo shows a face, by OpenCV's Haar cascade for frontal faces.

    ADAPT 4.1: "we labeled as face-pairs only pairs where faces were detected in both right and left images with a Haar
    Cascade classifier". The paper leaves open which cascade, its parameters, the least size of a face and the version
    of OpenCV. Here: `haarcascade_frontalface_default.xml` on the photo in grey and in full size, with OpenCV's own
    defaults (scale factor 1.1, 3 neighbours, faces of any size). So the split may differ from the published one.
    """
    try:
        from cv2 import CascadeClassifier
        from cv2.data import haarcascades

        file = Path(haarcascades, CASCADE).resolve(strict=True)
    except (ImportError, OSError):  # OpenCV 5 has no cascades, or none with their files
        raise CatalogError(
            "Finding faces needs the package opencv-python-headless, version 4.",
            fix=f"{install('faces')}. Or put TLL_obj.csv beside left and right: {SPLIT}",
        ) from None
    cascade = CascadeClassifier(str(file))

    def has_face(photo: Path) -> bool:
        try:
            grey = np.asarray(load_rgb(photo).convert("L"))
        except CatalogError:  # the photo is reported when all photos are checked
            return False
        return len(cascade.detectMultiScale(grey, scaleFactor=SCALE, minNeighbors=NEIGHBOURS)) > 0

    return has_face


def face_pairs(
    pairs: Sequence[tuple[Path, Path]], has_face: HasFace, progress: Progress | None = None
) -> Iterable[bool]:
    """For each pair, whether both photos show a face.

    >>> left, right, cup = Path("left/1.jpg"), Path("right/1.jpg"), Path("right/2.jpg")
    >>> list(face_pairs([(left, right), (left, cup)], has_face=lambda photo: photo != cup))
    [True, False]
    """
    for done, (left, right) in enumerate(pairs, 1):
        yield has_face(left) and has_face(right)
        if progress is not None:
            progress(done, len(pairs))
