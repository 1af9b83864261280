"""The image addresses: only what the catalog lists, small, upright, and without a word about camera and place."""

import json
import os
import threading
from io import BytesIO
from urllib.parse import quote

import pytest
from PIL import Image, ImageCms, PngImagePlugin
from serving import Clock, make_shop, serving
from sqlalchemy import insert, update

from lookalike.store.sql.schema import image as images

SECRET = b"a secret that is no photo"


@pytest.fixture
def place(tmp_path):
    """Photos with names of all kinds, and private files next to them."""
    photos = tmp_path / "photos"
    for name in ("a/1.png", "a/with blank & mark?.png", "ü/ö.png", "a/100%.png"):
        (photos / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (400, 300), (200, len(name), 30)).save(photos / name)
    Image.new("RGBA", (300, 300), (255, 0, 0, 0)).save(photos / "a" / "clear.png")
    (photos / "big").mkdir()
    Image.effect_noise((3000, 2000), 60).convert("RGB").save(photos / "big" / "big.jpg")
    Image.new("RGB", (500, 500), "red").save(tmp_path / "outside.png")
    (tmp_path / "secret.txt").write_bytes(SECRET)
    (photos / "unlisted.txt").write_bytes(SECRET)
    return tmp_path


@pytest.fixture
def shop(place):
    with serving(make_shop(place / "work", place / "photos", place), Clock()) as served:
        yield served


def opened(answer) -> Image.Image:
    assert answer.status == 200
    assert answer.headers["content-type"] == "image/jpeg"
    return Image.open(BytesIO(answer.body))


def address(image: str, size: int = 240) -> str:
    return f"/images/{size}/{quote(image)}?v=12345678"


def change(shop, image: str, **values) -> None:
    with shop.site.database.write() as connection:
        connection.execute(update(images).where(images.c.image == image).values(**values))


def test_names_of_all_kinds_are_served_small_and_never_larger_than_they_are(shop):
    ann = shop.logged_in("Ann")
    for name in ("a/1.png", "a/with blank & mark?.png", "ü/ö.png", "a/100%.png"):
        assert opened(ann.get(address(name))).size == (240, 180)
        assert opened(ann.get(address(name, 960))).size == (400, 300)
    assert opened(ann.get(address("big/big.jpg", 240))).size == (240, 160)
    assert opened(ann.get(address("big/big.jpg", 960))).size == (960, 640)
    assert opened(ann.get(address("big/big.jpg", 2400))).size == (2400, 1600)
    assert min(opened(ann.get(address("a/clear.png"))).getpixel((9, 9))) >= 254  # clear is white


def test_it_is_kept_by_browsers_and_in_the_workspace(shop, place):
    ann = shop.logged_in("Ann")
    first = ann.get(address("a/1.png"))
    assert first.headers["cache-control"] == "private, max-age=31536000, immutable"
    again = ann.get(address("a/1.png"), If_None_Match=first.headers["etag"])
    assert (again.status, again.body) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    (kept,) = (place / "work" / "thumbnails").rglob("*.jpg")
    assert kept.read_bytes() == first.body
    (place / "photos" / "a" / "1.png").unlink()
    assert ann.get(address("a/1.png")).body == first.body  # from what was kept


TRICKS = (
    "/images/240/",
    "/images/240/a",
    "/images/240/none.png",
    "/images/240/A/1.PNG",
    "/images/240/a//1.png",
    "/images/240//a/1.png",
    "/images/240/./a/1.png",
    "/images/240/a/../a/1.png",
    "/images/240/a/%2e%2e/a/1.png",
    "/images/240/../../secret.txt",
    "/images/240/..%2f..%2fsecret.txt",
    "/images/240/%2e%2e/secret.txt",
    "/images/240/%252e%252e/secret.txt",
    "/images/240/..%5c..%5csecret.txt",
    "/images/240//etc/passwd",
    "/images/240/%2fetc%2fpasswd",
    "/images/240/file:///etc/passwd",
    "/images/240/unlisted.txt",
    "/images/240/a/1.png%00",
    "/images/240/a/1.png%00.jpg",
    "/images/240/%ff%fe",
    "/images/240/a/1.png/",
    "/images/240/a/_.png",
    "/images/240/a/%25.png",
    "/images/241/a/1.png",
    "/images/-240/a/1.png",
    "/images/99999999999999999999/a/1.png",
    "/static/../app.py",
    "/static/%2e%2e/app.py",
    "/static//etc/passwd",
)


def test_nothing_but_catalog_images_is_opened(shop):
    ann = shop.logged_in("Ann")
    for path in TRICKS:
        answer = ann.get(path)
        assert answer.status == (400 if "%00" in path else 422 if "-240" in path or "999" in path else 404), (
            path
        )
        assert SECRET not in answer.body
        assert b"root:" not in answer.body


def test_a_size_that_is_no_number(shop):
    assert shop.logged_in("Ann").get("/images/large/a/1.png").status == 422


def test_catalog_paths_that_leave_the_photo_folder_are_not_followed(shop):
    ann = shop.logged_in("Ann")
    for path in ["../secret.txt", "../outside.png", "/etc/passwd", "a/../../outside.png", "", "a"]:
        change(shop, "a/1.png", path=path)
        answer = ann.get(address("a/1.png"))
        assert (answer.status, answer.headers["content-type"]) == (404, "image/svg+xml")
        assert b"photo missing" in answer.body


def test_absolute_catalog_paths_inside_are_fine(shop, place):
    change(shop, "a/1.png", path=str(place / "photos" / "a" / "1.png"))
    assert opened(shop.logged_in("Ann").get(address("a/1.png"))).size == (240, 180)


def test_a_link_out_of_the_folder_shows_only_the_very_photo_the_catalog_was_read_from(shop, place):
    ann, photo = shop.logged_in("Ann"), place / "photos" / "a" / "1.png"
    original = photo.read_bytes()
    for target in (place / "outside.png", place / "secret.txt", place / "none", place):
        photo.unlink()
        photo.symlink_to(target)
        assert ann.get(address("a/1.png")).status == 404, target
    folder = place / "photos" / "ü"
    folder.rename(place / "moved")
    folder.symlink_to(place / "moved")
    Image.new("RGB", (50, 50)).save(place / "moved" / "ö.png")
    assert ann.get(address("ü/ö.png")).status == 404
    (place / "elsewhere.png").write_bytes(original)
    photo.unlink()
    photo.symlink_to(place / "elsewhere.png")
    assert opened(ann.get(address("a/1.png"))).size == (240, 180)


def test_pipes_and_folders_are_no_photos(shop, place):
    ann, photo = shop.logged_in("Ann"), place / "photos" / "a" / "1.png"
    photo.unlink()
    os.mkfifo(photo)
    assert ann.get(address("a/1.png")).status == 404
    photo.unlink()
    photo.mkdir()
    assert ann.get(address("a/1.png")).status == 404


def test_missing_and_broken_photos_are_a_small_picture_or_json(shop, place):
    ann = shop.logged_in("Ann")
    (place / "photos" / "a" / "1.png").unlink()
    (place / "photos" / "ü" / "ö.png").write_bytes(b"\x89PNG\r\n\x1a\nbroken")
    for name in ("a/1.png", "ü/ö.png"):
        answer = ann.get(address(name))
        assert (answer.status, answer.headers["content-type"]) == (404, "image/svg+xml")
        assert answer.headers["cache-control"] == "no-store"
        assert "etag" not in answer.headers
        error = json.loads(ann.get(address(name), Accept="application/json").body)["error"]
        assert error["code"] == "photo-missing"
    Image.new("RGB", (400, 300)).save(place / "photos" / "a" / "1.png")
    assert opened(ann.get(address("a/1.png"))).size == (240, 180)  # back, if not the same


def test_a_photo_that_was_replaced_is_shown_but_not_kept(shop, place):
    ann = shop.logged_in("Ann")
    Image.new("RGB", (400, 300), (0, 250, 0)).save(place / "photos" / "a" / "1.png")
    answer = ann.get(address("a/1.png"))
    assert opened(answer).getpixel((9, 9))[1] > 240
    assert answer.headers["cache-control"] == "no-store"
    assert not list((place / "work" / "thumbnails").rglob("*.jpg"))


def test_more_pixels_than_the_catalog_takes_are_not_decoded(shop, place):
    big = place / "photos" / "a" / "1.png"
    Image.new("1", (30_000, 30_000)).save(big)  # 900 megapixels in a few kilobytes
    assert big.stat().st_size < 200_000
    assert shop.logged_in("Ann").get(address("a/1.png")).status == 404


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_nothing_of_camera_and_place_reaches_a_thumbnail(tmp_path, kind):
    photos = tmp_path / "photos"
    photos.mkdir()
    exif = Image.Exif()
    exif[0x0112], exif[0x010F], exif[0x9286] = 6, "TELLTALE camera", "TELLTALE comment"
    exif.get_ifd(0x8825).update({1: "N", 2: (48.0, 8.0, 30.0), 29: "TELLTALE date"})
    text = PngImagePlugin.PngInfo()
    text.add_text("Author", "TELLTALE author")
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    metadata = {"exif": exif, "icc_profile": profile, "quality": 95}
    metadata |= {"JPEG": {"comment": b"TELLTALE", "xmp": b"<x>TELLTALE</x>"}, "PNG": {"pnginfo": text}}.get(
        kind, {}
    )
    metadata |= {"xmp": b"<x>TELLTALE</x>"} if kind == "WEBP" else {}
    made = Image.new("RGB", (400, 200), "blue")
    made.paste("red", (0, 0, 200, 200))
    made.save(photos / "one.img", kind, **metadata)
    assert b"TELLTALE" in (photos / "one.img").read_bytes()
    (photos / "one.img").rename(photos / f"one.{kind.lower()}")
    with serving(make_shop(tmp_path / "work", photos, tmp_path)) as served:
        answer = served.logged_in("Ann").get(address(f"one.{kind.lower()}"))
    shown = opened(answer)
    assert shown.size == (120, 240)  # turned as EXIF says
    red, _, blue = shown.getpixel((60, 20))
    assert (red > 200, blue < 50) == (True, True)
    assert not dict(shown.getexif())
    assert {"exif", "icc_profile", "comment", "xmp"}.isdisjoint(shown.info)
    assert b"TELLTALE" not in answer.body
    assert markers(answer.body) <= {0xE0, 0xDB, 0xC0, 0xC2, 0xC4, 0xDA}  # JFIF, tables, frame, scan


def markers(jpeg: bytes) -> set[int]:
    """The kinds of segments up to the pixels."""
    found, at = set(), 2
    while jpeg[at] == 0xFF and jpeg[at + 1] != 0xDA:
        found.add(jpeg[at + 1])
        at += 2 + int.from_bytes(jpeg[at + 2 : at + 4])
    return found


def test_many_requests_for_one_photo_get_the_same_and_it_is_made_once(shop, monkeypatch):
    made, make = [], shop.site.thumbnails.make
    monkeypatch.setattr(shop.site.thumbnails, "make", lambda one, size: made.append(one) or make(one, size))
    ann, answers = shop.logged_in("Ann"), []
    threads = [
        threading.Thread(target=lambda: answers.append(ann.get(address("big/big.jpg", 2400)).body))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8
    assert len(set(answers)) == 1
    assert len(made) == 1


def test_a_disk_that_refuses_keeps_nothing_and_shows_everything(shop, place):
    (place / "work" / "thumbnails").write_text("in the way")
    assert opened(shop.logged_in("Ann").get(address("a/1.png"))).size == (240, 180)


@pytest.mark.parametrize(
    "name", ["etc:passwd;x=1#2", "a/two\nlines.png", "a/end.png\n", "\n", "a\r\nb", "a\u2028b"]
)
def test_an_id_that_looks_like_a_path_is_an_id(shop, name):
    """Ids come from tables too: what they say is looked up, never opened. Names of files can have line breaks."""
    with shop.site.database.write() as connection:
        row = dict(connection.execute(images.select().where(images.c.image == "a/1.png")).mappings().one())
        connection.execute(insert(images).values({**row, "row": 900, "image": name}))
    assert opened(shop.logged_in("Ann").get(address(name))).size == (240, 180)
