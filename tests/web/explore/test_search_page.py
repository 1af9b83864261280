"""The search page: what it shows is what the command prints; filters, pages, uploads, and addresses that are wrong."""

import io
import re
import struct
import zlib
from html import unescape

import pytest
from labelling_app import ANN, LEA, when
from PIL import Image
from sqlalchemy import select

from lookalike.core.types import Labels
from lookalike.store.labelling.gold import make_gold
from lookalike.store.sql.labelling_schema import question
from lookalike.web.serving.photos import uploaded_photo
from lookalike.web.serving.uploads import HELD_BYTES, HOUR_MS, UploadedPhoto, Uploads
from lookalike.web.site import Options
from lookalike.workflows.search.searcher import Searcher

LIST = re.compile(r'<section class="list".*?</section>', re.S)
HIT = re.compile(r'<li class="(\w*)">.*?alt="([^"]*)".*?</a>(.*?)<p><b>(\d+)</b> (-?[\d.]+)(.*?)</p>', re.S)
FAILURE = re.compile(r'class="failure" role="alert"><p><strong>(.*?)</strong></p><p>(.*?)</p>')


@pytest.fixture(scope="module")
def lea(shop):
    return shop.client(LEA)


@pytest.fixture(scope="module")
def query(shop):
    return str(shop.workspace.catalog.image[0])


def lists(page):
    """Of each encoder: item, score, label and whether only this encoder shows it, in order of rank."""
    words = {"similar": 1, "dissimilar": 0, "unjudged": None, "": None}
    found = []
    for part in LIST.findall(page.text):
        hits = [(unescape(item), float(score), words[kind], "only here" in mark)
                for kind, item, mark, _, score, _ in HIT.findall(part)]  # fmt: skip
        assert [int(hit[3]) for hit in HIT.findall(part)] == list(range(1, len(hits) + 1))
        found.append(hits)
    return found


def failures(page):
    return [tuple(map(unescape, one)) for one in FAILURE.findall(page.text)]


def photo(kind="PNG", size=(60, 40), **options):
    made = io.BytesIO()
    Image.new("RGB", size, (180, 40, 40)).save(made, kind, **options)
    return made.getvalue()


def upload(client, content, address="/search/photo", name="a.png"):
    return client.post(address, files={"photo": (name, content)}, allow_redirects=False)


def test_each_encoder_shows_what_the_command_prints_with_labels_and_differences(shop, lea, query):
    page = lea.get("/search", params={"image": query, "encoder": ["color", "hog"], "k": 7})
    answers = [Searcher.of(shop.workspace, name).by_image(query, 7).results for name in ("color", "hog")]
    items = [[hit.item for hit in one] for one in answers]
    expected = [
        [(hit.item, round(hit.score, 2), hit.label, hit.item not in items[1 - at]) for hit in one]
        for at, one in enumerate(answers)
    ]
    assert lists(page) == expected
    assert [label for _, _, label, _ in expected[0]][:4] == [1, 0, 1, 0]
    shown = {hit[0]: hit[2] for one in expected for hit in one}
    judged = sum(label is not None for label in shown.values())
    assert f"<dd>{judged} of {len(shown)} items</dd>" in page.text


def test_filters_leave_images_of_the_values_and_say_when_they_leave_too_few(shop, lea, query):
    catalog = shop.workspace.catalog
    category = {str(item): str(kind) for item, kind in zip(catalog.item, catalog.category, strict=True)}
    page = lea.get(
        "/search", params={"image": query, "filter": ["category=bed", "category=chair"], "encoder": "hog"}
    )
    ((*hits,),) = lists(page)
    assert len(hits) == 10
    assert {category[item] for item, *_ in hits} <= {"bed", "chair"}
    few = lea.get("/search", params={"image": query, "filter": f"item={hits[0][0]}", "encoder": "hog"})
    assert [hit[0] for hit in lists(few)[0]] == [hits[0][0]]
    assert "The filters leave only 1 item for this query." in few.text


def test_the_gallery_shows_every_image_once_a_page_at_a_time(shop, lea):
    seen, address, pages = [], "/search", 0
    while address:
        page = lea.get(address)
        found = re.findall(r'<li><a href="/search\?image=([^"&]*)"', page.text)
        assert len(found) <= 60
        seen += found
        pages += 1
        address = "".join(unescape(one) for one in re.findall(r'href="([^"]*)">Next<', page.text))
    assert len(seen) == len(set(seen)) == len(shop.workspace.catalog)
    assert pages == -(-len(seen) // 60)


def test_the_gallery_is_filtered_by_columns_and_words(shop, lea):
    catalog = shop.workspace.catalog
    beds = int((catalog.category == "bed").sum())
    assert f"{beds} photos</p>" in lea.get("/search?filter=category%3Dbed").text
    one = str(catalog.item[0])
    page = lea.get("/search", params={"words": f"{one.upper()} {catalog.category[0]}"})
    assert f"{int((catalog.item == one).sum())} photos</p>" in page.text
    assert "No photo matches." in lea.get("/search?words=no+such+thing").text


def test_a_box_of_a_catalog_photo_is_searched_without_its_own_item(shop, lea, query):
    page = lea.get("/search", params={"image": query, "box": ["20", "20", "120", "120"], "encoder": "color"})
    (hits,) = lists(page)
    assert len(hits) == 10
    assert str(shop.workspace.catalog.item[0]) not in [hit[0] for hit in hits]
    whole = lea.get("/search", params={"image": query, "encoder": "color"})
    assert [hit[1] for hit in hits] != [hit[1] for hit in lists(whole)[0]]
    assert (
        hits
        == lists(lea.get("/search", params={"image": query, "box": "20,20,120,120", "encoder": "color"}))[0]
    )


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({"image": "no.jpg"}, 404),
        ({"photo": "gone"}, 404),
        ({"box": "1,2,3"}, 400),
        ({"box": "0,0,9999,20"}, 400),
        ({"box": "20,20,21,21"}, 400),
        ({"k": 0}, 400),
        ({"k": 101}, 400),
        ({"filter": "category=no such"}, 400),
        ({"filter": "price=3"}, 400),
        ({"filter": "category"}, 400),
        ({"encoder": [f"e{n}" for n in range(5)]}, 400),
    ],
)
def test_a_wrong_address_gets_a_sentence_above_the_gallery(lea, query, asked, status):
    page = lea.get("/search", params={"image": query} | asked)
    assert page.status_code == status
    ((problem, fix),) = failures(page)
    assert problem.endswith(".")
    assert fix.endswith(".")
    assert 'class="drop"' in page.text


def test_an_encoder_that_cannot_search_says_so_beside_the_others(lea, query):
    page = lea.get("/search", params={"image": query, "encoder": ["color", "gone"]})
    assert page.status_code == 200
    assert [len(one) for one in lists(page)] == [10, 0]
    ((problem, _),) = failures(page)
    assert "gone" in problem


def test_an_uploaded_photo_is_searched_at_its_address_and_seen_as_it_is_shown(shop, lea, query):
    catalog = shop.workspace.catalog
    content = (shop.workspace.photos / catalog.path[0]).read_bytes()
    sent = upload(lea, content, "/search/photo?encoder=hog&k=5&filter=category%3Dbed&filter=category%3Dchair")
    assert sent.status_code == 303
    page = lea.get(sent.headers["location"])
    answer = Searcher.of(shop.workspace, "hog").by_photo(
        io.BytesIO(content), 5, [("category", "bed"), ("category", "chair")]
    )
    assert [(item, label) for item, _, label, _ in lists(page)[0]] == [
        (hit.item, None) for hit in answer.results
    ]
    preview = lea.get(re.search(r'src="(/search/photo/[^"]*)"', page.text)[1])
    assert Image.open(io.BytesIO(preview.content)).size == (int(catalog.width[0]), int(catalog.height[0]))
    assert preview.headers["cache-control"] == "no-store"


def test_a_photo_that_lies_on_its_side_is_turned_and_boxed_as_it_is_shown(lea):
    exif = Image.Exif()
    exif[0x0112] = 6
    found = uploaded_photo(photo("JPEG", (60, 40), exif=exif.tobytes()), 50)
    assert (found.width, found.height) == (40, 60)
    assert Image.open(io.BytesIO(found.preview)).size == (40, 60)
    address = upload(lea, photo("JPEG", (60, 40), exif=exif.tobytes())).headers["location"]
    assert lea.get(f"{address}&box=0,0,40,60").status_code == 200
    assert lea.get(f"{address}&box=0,0,60,40").status_code == 400


def test_of_an_animation_the_first_frame_is_searched(lea):
    frames = [Image.new("RGB", (40, 30), colour) for colour in ("red", "blue")]
    made = io.BytesIO()
    frames[0].save(made, "GIF", save_all=True, append_images=frames[1:])
    (red, _, blue) = Image.open(io.BytesIO(uploaded_photo(made.getvalue(), 50).preview)).getpixel((20, 15))
    assert red > 200
    assert blue < 50
    assert upload(lea, made.getvalue()).status_code == 303


def bomb(width=20_000, height=10_000):
    """A PNG whose header promises 200 megapixels."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(b"\0" * 1000)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "contains no photo"),
        (b"hello", "cannot be read as a photo"),
        (b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>', "cannot be read"),
        (bomb(), "20,000 x 10,000 pixels"),
        (photo(size=(300, 7)), "300 x 7 pixels"),
        (photo(size=(64, 64))[:60], "cannot be read"),
    ],
)
def test_what_is_no_usable_photo_is_refused_with_a_sentence(lea, content, words):
    page = upload(lea, content)
    assert page.status_code in (400, 413, 415)
    ((problem, _),) = failures(page)
    assert words in problem


def test_files_are_accepted_at_one_address_only_with_its_token_and_its_limit(shop, lea):
    assert upload(lea, b"\0" * Options().upload_limit).status_code == 413
    assert upload(lea, photo(), "/search/label").status_code == 400
    token = lea.headers.pop("X-CSRF-Token")
    try:
        assert upload(lea, photo()).status_code == 403
        sent = lea.post(
            "/search/photo", data={"csrf": token}, files={"photo": ("a", photo())}, allow_redirects=False
        )
        assert sent.status_code == 303
    finally:
        lea.headers["X-CSRF-Token"] = token


def test_uploads_end_after_an_hour_and_the_oldest_make_room():
    now = [0]
    held = Uploads(lambda: now[0], most_bytes=25)
    names = [held.keep(UploadedPhoto(b"1234567890", 1, 1, b"")) for _ in range(2)]
    now[0] = HOUR_MS - 1
    assert [held.get(name).width for name in names] == [1, 1]
    third = held.keep(UploadedPhoto(b"1234567890", 3, 1, b""))
    with pytest.raises(Exception, match="deleted an hour after"):
        held.get(names[0])
    now[0] = HOUR_MS
    with pytest.raises(Exception, match="deleted an hour after"):
        held.get(names[1])
    assert held.get(third).width == 3
    assert Options().upload_limit < HELD_BYTES


def test_leads_put_unjudged_results_in_front_of_the_queue_and_annotators_do_not(shop, lea, query):
    asked = {"image": query, "encoder": "color", "k": 6}
    page = lea.get("/search", params=asked)
    chosen = re.findall(r'name="candidate" value="([^"]*)"', page.text)
    wanted = [hit.image for hit in Searcher.of(shop.workspace, "color").by_image(query, 6).results[4:]]
    sent = lea.post("/search/label", params=asked, data={"candidate": chosen}, allow_redirects=False)
    assert sent.status_code == 303
    columns = (question.c.query, question.c.candidate, question.c.kind)
    rows = [tuple(row) for row in shop.rows(select(*columns).order_by(question.c.place))]
    assert rows[:2] == [(query, one, "chosen") for one in wanted]
    assert "2 pairs are at the front of the queue." in lea.get(sent.headers["location"]).text
    ann = shop.client(ANN)
    page = ann.get("/search", params=asked)
    assert page.status_code == 200
    assert 'name="candidate"' not in page.text
    assert ann.post("/search/label", params=asked, data={"candidate": chosen}).status_code == 403


def test_annotators_do_not_see_the_label_of_a_gold_pair(shop, lea):
    catalog = shop.workspace.catalog
    query = str(catalog.image[20])
    best = Searcher.of(shop.workspace, "hog").by_image(query, 2).results
    shop.workspace.add_labels(Labels.of([query] * 2, [hit.image for hit in best], [1, 1]), "a file")
    with shop.workspace.database.write() as connection:
        make_gold(connection, query, best[0].image, "similar", "", None, 1)
    for client in (shop.client(ANN), lea):
        expected = [1, 1] if client is lea else [None, 1]

        def shown(client=client) -> list[int | None]:
            (one,) = lists(client.get("/search", params={"image": query, "encoder": "hog", "k": 2}))
            return [label for _, _, label, _ in one]

        when(
            lambda expected=expected, shown=shown: shown() in ([None, 1], [1, 1])
        )  # labels are at most 3 s old
        assert shown() == expected
