"""Every image of a catalog checked once: it decodes, its size as shown, the hash of its bytes, its signature."""

import hashlib
import math
import os
import stat
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

from lookalike.catalog.duplicates.signature import LEAST_DECODED, signature
from lookalike.catalog.photos.decode import MODES, SIDEWAYS, open_photo, orientation, why
from lookalike.core.cores import cores
from lookalike.core.errors import ArgumentError
from lookalike.core.parallel import in_order
from lookalike.core.progress import Progress

LEAST_SIDE = 8
MAX_MEGAPIXELS = 100.0


class Checked(NamedTuple):
    """What a look at one image gave: either its hash, size as shown and signature, or the reason it is left out.

    `reason` is `kind: detail`, "" for a good image; a bad one has digest "", size 0 x 0 and no signature.
    """

    digest: str
    width: int
    height: int
    reason: str = ""
    signature: bytes = b""


def check_images(
    paths: Sequence[str],
    root: str | os.PathLike[str],
    *,
    max_megapixels: float = MAX_MEGAPIXELS,
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[Checked]:
    """One Checked for every path, in their order; a bad image never stops the rest.

    Paths are relative to `root` or absolute within it. Threads share the work (decoding and hashing let
    go of Python's lock), `threads` of them or one more than there are processors. `progress(done, total)` is called
    from the calling thread after each image.
    """
    if not max_megapixels > 0:
        raise ArgumentError(
            f"--max-megapixels is {max_megapixels}; it must be above 0.", fix="Leave it at 100."
        )
    checked: list[Checked] = []
    look = partial(_check_within, os.path.abspath(root), max_megapixels)
    with ThreadPoolExecutor(threads or cores() + 1) as pool:
        for one in in_order(pool, look, paths):
            checked.append(one)
            if progress is not None:
                progress(len(checked), len(paths))
    return checked


def check_image(path: str | os.PathLike[str], *, max_megapixels: float = MAX_MEGAPIXELS) -> Checked:
    """One image decoded in full (of an animation the first frame), measured and hashed; never raises for it.

    Left out are: missing files, folders and other things that are no regular file, files without a byte,
    without permission, that are no photo whatever their name, truncated or damaged ones, those under 8
    pixels on a side, and those over `max_megapixels` by their header, which are not decoded.
    """
    try:
        reason = _refused(os.stat(path))
        return Checked("", 0, 0, reason) if reason else _look(path, max_megapixels)
    except Exception as error:  # decoders fail in any way there is; each is this image's reason
        return Checked("", 0, 0, why(error))


def within(path: str, root: str | os.PathLike[str]) -> str | None:
    """A catalog's path as it leads from its (absolute) root, None if it leads out of it.

    Links inside the root may lead anywhere: whoever laid them meant it.

    >>> within("a/../b.jpg", "/photos"), within("/photos/b.jpg", "/photos"), within("../b.jpg", "/photos")
    ('b.jpg', 'b.jpg', None)
    """
    if "\0" in path:  # no file system has such a name
        return None
    if not os.path.isabs(path):
        inside = os.path.normpath(path)
    elif _leads_out(inside := os.path.relpath(path, root)):  # the root itself may be reached through a link
        inside = os.path.relpath(os.path.realpath(path), os.path.realpath(root))
    return None if _leads_out(inside) else inside.replace(os.sep, "/")


def _leads_out(relative: str) -> bool:
    return relative.split(os.sep, 1)[0] == os.pardir


def _check_within(root: str, max_megapixels: float, path: str) -> Checked:
    inside = within(path, root)
    if inside is None:
        return Checked("", 0, 0, f"outside the photo folder: the path leads out of {root}")
    found = check_image(os.path.join(root, inside), max_megapixels=max_megapixels)
    return (
        found._replace(reason=found.reason + _hint(path))
        if found.reason.startswith("missing file")
        else found
    )


def _hint(path: str) -> str:
    """What a missing path looks like, if it looks like something."""
    if "://" in path:
        return " (it is an address; download the photos first)"
    return " (it has backslashes; folders are separated by /)" if "\\" in path else ""


def _refused(status: os.stat_result) -> str:
    """Why a file is not even opened: opening a pipe named .jpg would wait for ever."""
    if stat.S_ISDIR(status.st_mode):
        return "folder: this is a folder, not a photo"
    if not stat.S_ISREG(status.st_mode):
        return "not an image: this is no regular file"
    return "" if status.st_size else "empty file: it has 0 bytes"


def _look(path: str | os.PathLike[str], max_megapixels: float) -> Checked:
    with open_photo(path) as image:
        width, height = image.size
        if reason := _unfit(width, height, image.mode, max_megapixels):
            return Checked("", 0, 0, reason)
        # Of a JPEG: read to its end all the same, in less time and memory.
        image.draft(None, (LEAST_DECODED, LEAST_DECODED))
        image.load()
        look = signature(image, width, height)
        if orientation(image) in SIDEWAYS:
            width, height = height, width
    with open(path, "rb") as file:
        return Checked(hashlib.file_digest(file, "sha256").hexdigest(), width, height, "", look)


def _unfit(width: int, height: int, mode: str, max_megapixels: float) -> str:
    if min(width, height) < LEAST_SIDE:
        return f"too small: {width} x {height} pixels, at least {LEAST_SIDE} x {LEAST_SIDE} are needed"
    if width * height > max_megapixels * 1e6:
        size = f"{width:,} x {height:,} pixels are {width * height / 1e6:,.1f} megapixels"
        return (
            f"too large: {size}, the limit is {max_megapixels:g}; to use it: init --max-megapixels "
            f"{math.ceil(width * height / 1e6)}"
        )
    return "" if mode in MODES else f"not an image: colours of kind {mode} are not supported; save it as RGB"
