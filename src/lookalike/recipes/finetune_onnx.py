"""The ONNX file of `finetune`: whether it can be written, asked before a run that may take hours, and its writing."""

import os
from pathlib import Path

from lookalike.core.errors import ArgumentError
from lookalike.encode.checkpoint_file import heads_down, require_folder
from lookalike.encode.spec import parse
from lookalike.store.disk import write_file
from lookalike.store.workspace import Workspace

SUFFIX = ".onnx"


def require_writable(file: Path | None) -> None:
    """Refuse a file that could not be written at the end, and a machine without the libraries to make it."""
    if file is None:
        return
    from lookalike.encode.export import require_onnx

    require_onnx()
    folder = file.parent
    wrong = (
        (file.suffix.lower() != SUFFIX, f"its name does not end with {SUFFIX}"),
        (file.is_dir(), "it is a folder"),
        (not folder.is_dir(), f"there is no folder {folder}"),
        (folder.is_dir() and not os.access(folder, os.W_OK | os.X_OK), f"{folder} may not be written to"),
    )
    said = [what for is_so, what in wrong if is_so]
    if said:
        raise ArgumentError(
            f"The ONNX file cannot be {str(file)!r}: {'; '.join(said)}.",
            fix=f"Give a file in a folder that is there, such as head{SUFFIX}.",
        )


def export(workspace: Workspace, spec: str, file: Path) -> None:
    """The encoder as one ONNX file; of a head on vectors from a file the head alone, which is all there is."""
    from lookalike.encode.checkpoint import read_head
    from lookalike.encode.export import onnx_bytes
    from lookalike.encode.opening import open_encoder

    parsed = parse(spec)
    if heads_down(parsed, workspace.folder)[-1].source == "precomputed":
        exported = onnx_bytes(read_head(require_folder(parsed, workspace.folder), spec).head)
    else:
        exported = onnx_bytes(open_encoder(parsed, workspace.folder))
    write_file(file, exported)
