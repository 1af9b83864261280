"""What a model is shown: photos of the catalog as small JPEGs, and a few decided pairs as examples."""

from threading import Lock

import numpy as np

from lookalike.core.errors import CatalogError
from lookalike.judge.judgments import JudgeExample
from lookalike.store.labelling.guidelines import examples
from lookalike.store.thumbnails import ListedImage, Thumbnails
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.judge.questions import photos_labelled


class CatalogPhotos:
    """The photos of a catalog as JPEG without metadata, of a bounded size."""

    def __init__(self, workspace: Workspace) -> None:
        self.catalog, self.made = workspace.catalog, Thumbnails(workspace.folder, workspace.settings)
        self.locks = [Lock() for _ in range(16)]  # one thread at a time makes a photo

    def jpeg(self, image: str, pixels: int) -> bytes:
        """A photo. Raises CatalogError if it cannot be read, or is not that of the catalog any more."""
        if image not in self.catalog.row:
            raise CatalogError(f"The catalog has no image {image!r} any more.", fix="Use another --name.")
        one = ListedImage(image, self.catalog.path[self.catalog.row[image]], self.digest(image))
        with self.locks[hash(one.digest) % len(self.locks)]:
            found = self.made.kept(one, pixels) or self.made.make(one, pixels)
        if not found.current:
            raise CatalogError(
                f"The photo of image {image!r} has changed.",
                fix="Update the catalog: lookalike catalog refresh",
            )
        return found.jpeg

    def digest(self, image: str) -> str:
        """The hash of a photo; the id of an image that is no longer in the catalog."""
        return self.catalog.digest[self.catalog.row[image]] if image in self.catalog.row else image


def choose_examples(workspace: Workspace, most: int, seed: int) -> tuple[JudgeExample, ...]:
    """Decided pairs to show to a model: the examples of the guidelines, then labels at random, both kinds in turn."""
    catalog = workspace.catalog
    found = [
        JudgeExample(one.query, one.candidate, one.label, one.note)
        for one in workspace.database.fetch(examples)
        if one.query in catalog.row and one.candidate in catalog.row
    ][:most]
    rows, label = photos_labelled(catalog, workspace.labels())
    order = np.random.Generator(np.random.PCG64(seed)).permutation(len(rows))
    left = {kind: [at for at in order.tolist() if label[at] == kind] for kind in (0, 1)}
    while len(found) < most and any(left.values()):
        similar = sum(one.label for one in found)
        kind = int(2 * similar <= len(found)) if all(left.values()) else int(not left[0])
        query, candidate = catalog.image[rows[left[kind].pop(0)]]
        if not any({query, candidate} == {one.query, one.candidate} for one in found):
            found.append(JudgeExample(query, candidate, kind))
    return tuple(found)
