"""Thumbnails: pixels and colours are kept, what a camera wrote is not."""

from io import BytesIO

import pytest
from PIL import Image
from PIL.ExifTags import GPS, IFD, Base

from lookalike.report.content import ReportPhoto
from lookalike.report.pictures import album, without_metadata


@pytest.fixture
def picture() -> bytes:
    exif = Image.Exif()
    exif[Base.Artist] = "Somebody"
    exif.get_ifd(IFD.GPSInfo)[GPS.GPSLatitudeRef] = "N"
    out = BytesIO()
    Image.new("RGB", (40, 30), (10, 120, 200)).save(
        out,
        "JPEG",
        exif=exif,
        comment=b"Somebody's comment",
        icc_profile=b"profile",
        xmp=b"Somebody's packet",
    )
    return out.getvalue()


def test_exif_gps_xmp_and_comments_are_dropped_and_pixels_kept(picture):
    clean = without_metadata(picture)
    assert b"Somebody" in picture
    assert b"Somebody" not in clean
    with Image.open(BytesIO(picture)) as before, Image.open(BytesIO(clean)) as after:
        assert not after.getexif()
        assert after.info["icc_profile"] == b"profile"
        assert before.tobytes() == after.tobytes()


def test_a_clean_picture_stays_as_it_is(picture):
    clean = without_metadata(picture)
    assert without_metadata(clean) == clean


def test_a_broken_file_ends_where_it_ends(picture):
    for end in range(2, 60):
        without_metadata(picture[:end])


def test_equal_pictures_share_a_name(picture):
    first, second = ReportPhoto("a", "a", "", picture), ReportPhoto("b", "b", "", picture)
    made = album([first, second, ReportPhoto("c", "c", "", b"")])
    assert made.name(first) == made.name(second) == "p1"
    assert made.name(ReportPhoto("c", "c", "", b"")) == ""
    assert len(made.pictures) == 1
