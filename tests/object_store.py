"""An S3 server on this machine (moto), and its credentials in the environment."""

import contextlib
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

SECRET = "a-secret-of-the-tests"


@contextlib.contextmanager
def object_store(patch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of an empty bucket. Nothing outside this machine is asked."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "a-key-of-the-tests",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        patch.setenv(name, value)
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()
    try:
        bucket = f"shop-{uuid.uuid4().hex}"  # servers of one process share their buckets
        s3fs.S3FileSystem().mkdir(bucket)
        yield f"s3://{bucket}"
    finally:
        s3fs.S3FileSystem.clear_instance_cache()
        server.stop()


def upload(folder: Path, address: str) -> None:
    """Copy a folder of files to an address."""
    import s3fs

    files = s3fs.S3FileSystem()
    for path in folder.rglob("*"):
        if path.is_file():
            files.pipe_file(f"{address}/{path.relative_to(folder)}", path.read_bytes())
