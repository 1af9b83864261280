"""Search a catalog over HTTP, by the id of an image and by a photo, with the standard library only."""

import json
import os
import sys
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

SERVER = os.environ.get("LOOKALIKE", "http://127.0.0.1:8321")
TOKEN = os.environ.get("TOKEN", "")
USAGE = (
    "Usage: LOOKALIKE=http://127.0.0.1:8321 TOKEN=lk_... python examples/search_client.py IMAGE_ID [PHOTO]"
)


def ask(path: str, body: bytes | None = None) -> dict:
    """The answer to a request. A request that comes too early is sent again when the server says so."""
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/octet-stream"}
    while True:
        try:
            with urlopen(Request(SERVER + path, body, headers), timeout=60) as answer:
                return json.load(answer)
        except HTTPError as error:
            if error.code not in (429, 503):
                sys.exit(json.load(error)["error"]["problem"])
            time.sleep(int(error.headers.get("Retry-After", 1)))


def show(answer: dict) -> None:
    """Print the items found."""
    for one in answer["results"]:
        print(f"{one['score']:.3f}  {one['item']}  {one['image']}")


def main() -> None:
    """Search by id, then by photo."""
    if "--help" in sys.argv:
        print(USAGE)
        return
    if not TOKEN or len(sys.argv) < 2:
        sys.exit(USAGE)
    show(ask("/api/v1/search?" + urlencode({"image": sys.argv[1], "k": 5})))
    for photo in sys.argv[2:]:
        print(photo)
        show(ask("/api/v1/search/photo?k=5", Path(photo).read_bytes()))


if __name__ == "__main__":
    main()
