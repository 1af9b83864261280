"""`lookalike search` with what is no photo: one sentence, what to do, and no traceback."""

import struct
import zlib

import pytest
from PIL import Image


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def bomb():
    """The header of a PNG of 200 megapixels; its pixels are never read."""
    header = struct.pack(">IIBBBBB", 20_000, 10_000, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"0"))
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"hello", "not an image"),
        (b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>', "not an image"),
        (bomb(), "200.0 megapixels"),
        (b"", "cannot be searched with"),
    ],
)
def test_what_is_no_photo_is_refused(lookalike, workspace, content, problem):
    (workspace / "query.png").write_bytes(content)
    (workspace / "queries.txt").write_text("box/001\nquery.png\n")
    for words in (["query.png"], ["--queries", "queries.txt"]):
        result = lookalike("search", *words, "--encoder", "color")
        assert (result.status, result.out) == (1, "")
        assert problem in result.err
        assert "Search with another photo." in result.err
        assert "catalog" not in result.err
        assert "init" not in result.err


@pytest.mark.parametrize(
    ("box", "problem"),
    [("0,0,500,500", "leads out of the photo"), ("3,3,4,4", "1 x 1 pixels"), ("9,9,3,3", "is not a box")],
)
def test_boxes_that_show_nothing_are_refused(lookalike, workspace, box, problem):
    Image.new("RGB", (64, 48), "red").save(workspace / "query.png")
    result = lookalike("search", "query.png", "--encoder", "color", "--box", box)
    assert result.status == 1
    assert problem in result.err


def test_a_turned_photo_and_an_animation_are_searched_as_they_are_shown(lookalike, workspace):
    photo = Image.new("RGB", (64, 48), "red")
    photo.paste("blue", (0, 0, 32, 48))
    exif = Image.Exif()
    exif[0x0112] = 6
    photo.save(workspace / "turned.png", exif=exif)
    photo.transpose(Image.Transpose.ROTATE_270).save(workspace / "upright.png")
    photo.save(workspace / "moving.gif", save_all=True, append_images=[Image.new("RGB", (64, 48), "green")])
    photo.save(workspace / "still.gif")
    for given, same in (("turned.png", "upright.png"), ("moving.gif", "still.gif")):
        one, other = (
            lookalike("search", x, "--encoder", "hog", "--json").json["results"] for x in (given, same)
        )
        assert [hit["score"] for hit in one] == pytest.approx([hit["score"] for hit in other], abs=1e-5)
