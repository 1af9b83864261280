"""Images that programs add and remove, and encoders that are swapped while requests run."""

import threading
import time

import pytest
from api_shop import as_file, with_token
from labelling_app import LEA
from PIL import Image

from lookalike.store.promotions import promote
from lookalike.store.workspace import Workspace
from lookalike.workflows.search.index import build_index
from lookalike.workflows.start import catalog as workflow


def striped(shade: int) -> bytes:
    image = Image.new("RGB", (120, 90), (250, shade, 10))
    image.paste((10, shade, 250), (0, 0, 60, 90))
    return as_file(image)


def first(client, photo: bytes) -> str:
    return client.post("/api/v1/search/photo?k=1", data=photo).json()["results"][0]["item"]


def test_an_added_image_is_found_shown_and_removed(own_shop):
    client, photo = with_token(own_shop, "catalog"), striped(90)
    before = len(own_shop.workspace.catalog)
    added = client.post(
        "/api/v1/images",
        files={"photo": photo},
        data={"image": "new/1", "item": "lamp 7", "category": "lamp", "set": "season=summer"},
    )
    assert (added.status_code, added.json()) == (200, {"images": before + 1, "stale": ["hog"]}), added.text
    assert first(client, photo) == "lamp 7"
    assert client.get("/images/240/new/1").headers["content-type"] == "image/jpeg"
    assert client.post("/api/v1/images?image=new/1", data=photo).status_code == 409
    moved = client.post("/api/v1/images?image=new/1&item=lamp 8&replace=true", data=striped(20))
    assert moved.status_code == 200, moved.text
    assert first(client, striped(20)) == "lamp 8"
    opened = Workspace(own_shop.workspace.folder)
    again = workflow.refresh(opened)  # the table of added images is read like every source
    assert (again.images, again.added, again.gone) == (before + 1, (), ())
    assert opened.served == "color"  # its vectors are newer than the other's now
    opened.database.close()
    removed = client.delete("/api/v1/images", params={"image": "new/1"})
    assert (removed.status_code, removed.json()["images"]) == (200, before), removed.text
    assert first(client, striped(20)) != "lamp 8"
    assert [path.name for path in (opened.folder / "uploads").iterdir() if path.suffix == ".png"] == []
    lines = own_shop.client(LEA).get("/team/audit").text
    assert "added image" in lines
    assert "removed images" in lines


def test_an_added_image_is_found_beside_an_index_that_lacks_it(own_shop):
    pytest.importorskip("usearch")
    workspace, client = own_shop.workspace, with_token(own_shop, "catalog")
    build_index(workspace, "color", engine="usearch")
    for _ in range(200):  # the server notices the index
        engine = client.post("/api/v1/search/photo?k=1", data=striped(9)).json()["engine"]
        if engine != "exact":
            break
        time.sleep(0.1)
    assert engine == "usearch"
    assert client.post("/api/v1/images?image=new/1&item=lamp", data=striped(90)).status_code == 200
    found = client.post("/api/v1/search/photo?k=1", data=striped(90)).json()
    assert (found["results"][0]["item"], found["engine"]) == ("lamp", "usearch")
    client.delete("/api/v1/images", params={"image": "new/1"})
    assert first(client, striped(90)) != "lamp"


def test_images_sent_together_are_all_added_and_bad_ones_keep_no_other_out(own_shop):
    client = with_token(own_shop, "catalog")
    answers = {}

    def send(number: int) -> None:
        photo = b"no photo" if number == 3 else striped(20 * number)
        answers[number] = client.post(f"/api/v1/images?image=new/{number % 5}", data=photo).status_code

    threads = [threading.Thread(target=send, args=(number,)) for number in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert answers.pop(3) == 415
    assert sorted([answers.pop(0), answers.pop(5)]) == [200, 409]  # both wanted to be new/0
    assert set(answers.values()) == {200}
    opened = Workspace(own_shop.workspace.folder)
    assert {f"new/{number}" for number in (0, 1, 2, 4)} <= set(opened.catalog.image)
    opened.database.close()


def test_a_promoted_encoder_takes_over_without_a_failed_request(own_shop):
    client = with_token(own_shop, "search")
    image, seen, ended = str(own_shop.workspace.catalog.image[0]), [], threading.Event()

    def ask() -> None:
        while not ended.is_set():
            answer = client.get("/api/v1/search", params={"image": image})
            seen.append(answer.json()["encoder"] if answer.status_code == 200 else answer.text)
            ended.wait(0.05)

    asking = threading.Thread(target=ask)
    asking.start()
    workspace = own_shop.workspace
    with workspace.database.write() as connection:
        promote(connection, "hog", workspace.manifest("hog").origin, gate={})
    for _ in range(200):
        if seen and seen[-1] == "hog":
            break
        ended.wait(0.1)
    ended.set()
    asking.join()
    assert set(seen) == {"color", "hog"}
    assert seen == sorted(seen)
