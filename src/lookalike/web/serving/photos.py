"""A photo that somebody sent: read into memory only, and checked by its header before a pixel is decoded."""

import io
from collections.abc import AsyncGenerator, Mapping
from typing import NamedTuple

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from lookalike.catalog.photos.boxes import Box
from lookalike.catalog.photos.decode import SIDEWAYS, load_rgb, open_photo, orientation, why
from lookalike.core.errors import ArgumentError, CatalogError
from lookalike.web.safety import FORM, MULTIPART, wrong_in
from lookalike.web.serving.uploads import UploadedPhoto

PHOTO = "photo"
LEAST_SIDE = 8  # pixels of a photo or a box: less shows nothing
MOST_FIELDS = 100
PREVIEW = 960  # pixels of the longer side


class SentPhoto(NamedTuple):
    """The bytes of a photo, and the fields beside it, each with all its values."""

    content: bytes
    fields: Mapping[str, list[str]]


class PhotoHeader(NamedTuple):
    """The format of a photo, and its size as it is shown."""

    kind: str
    width: int
    height: int


class _InMemory(MultiPartParser):
    """Never writes a file: the limit on the whole request is the limit on its memory."""

    spool_max_size = 1 << 40


async def sent_photo(request: Request) -> SentPhoto:
    """The photo of a request: its whole body, or the field `photo` of a multipart form.

    Raises ArgumentError if there is none.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    fields = {name: request.query_params.getlist(name) for name in request.query_params}
    if kind == MULTIPART:
        content, more = await _from_form(request, request.stream())
        fields |= more
    elif kind == FORM:
        content = b""
    else:
        content = b"".join([part async for part in request.stream()])
    if not content:
        raise ArgumentError(
            "The request contains no photo.",
            fix=f"Send the bytes of the photo as the body, or a multipart form with the file {PHOTO}.",
            code="not-a-photo",
        )
    if wrong := wrong_in(text for texts in fields.values() for text in texts):
        raise ArgumentError(wrong, fix="Correct the text and send it again.", code="text")
    return SentPhoto(content, fields)


async def _from_form(
    request: Request, stream: AsyncGenerator[bytes, None]
) -> tuple[bytes, dict[str, list[str]]]:
    try:
        form = await _InMemory(request.headers, stream, max_files=1, max_fields=MOST_FIELDS).parse()
    except (MultiPartException, KeyError, ValueError) as error:
        raise ArgumentError(
            "The body is not a valid multipart form with one file.",
            fix=f"Send one file in the field {PHOTO}.",
        ) from error
    photo = form.get(PHOTO)
    content = await photo.read() if isinstance(photo, UploadFile) else b""
    fields = {name: [one for one in form.getlist(name) if isinstance(one, str)] for name in form}
    await form.close()
    return content, {name: texts for name, texts in fields.items() if texts}


def require_photo(content: bytes, most_megapixels: float, box: Box | None = None) -> PhotoHeader:
    """The header of a photo that can be decoded safely.

    Raises ArgumentError for what is no photo, has too many or too few pixels, and for a box that leads out of it.
    """
    try:
        with open_photo(io.BytesIO(content)) as header:
            width, height, kind = *header.size, str(header.format)
            if orientation(header) in SIDEWAYS:
                width, height = height, width
    except Exception as error:  # decoders fail in any way there is
        raise ArgumentError(
            f"The file cannot be read as a photo ({why(error)}).",
            fix="Send a photo, for example a JPEG, PNG or WebP file.",
            code="not-a-photo",
        ) from error
    if width * height > most_megapixels * 1e6:
        raise ArgumentError(
            f"The photo has {width:,} x {height:,} pixels. The limit is {most_megapixels:g} megapixels.",
            fix="Make it smaller and send it again.",
            code="too-large",
        )
    require_inside(box or Box(0, 0, width, height), width, height, "box" if box else "photo")
    return PhotoHeader(kind.lower(), width, height)


def require_inside(part: Box, width: int, height: int, what: str = "box") -> None:
    """Raise ArgumentError for a part that leads out of a photo, or has too few pixels."""
    if part.x1 > width or part.y1 > height:
        raise ArgumentError(
            f"The box {','.join(map(str, part))} leads out of the photo, which has {width} x {height} pixels.",
            fix="Give a box inside the photo, in pixels of the photo as it is shown.",
        )
    if min(part.width, part.height) < LEAST_SIDE:
        raise ArgumentError(
            f"The {what} has {part.width} x {part.height} pixels. It needs at least {LEAST_SIDE} x {LEAST_SIDE}.",
            fix=f"Send a larger {what}.",
        )


def uploaded_photo(content: bytes, most_megapixels: float) -> UploadedPhoto:
    """Check and decode a photo. Of an animation it is the first frame.

    Raises ArgumentError for what cannot be searched with. A photo that is too large is not decoded.
    """
    header = require_photo(content, most_megapixels)
    try:
        small = load_rgb(io.BytesIO(content), size_hint=PREVIEW)
    except CatalogError as error:
        raise ArgumentError(
            f"The file cannot be read as a photo ({why(error.__cause__ or error)}).",
            fix="Send a photo, for example a JPEG, PNG or WebP file.",
            code="not-a-photo",
        ) from error
    small.thumbnail((PREVIEW, PREVIEW))
    written = io.BytesIO()
    small.save(written, "JPEG", quality=85)
    return UploadedPhoto(content, header.width, header.height, written.getvalue())
