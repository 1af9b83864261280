"""`lookalike labels export --package`."""

from dataclasses import asdict
from pathlib import Path

from lookalike.cli.console import megabytes, next_step, plural, print_json, progress, say
from lookalike.core.errors import ArgumentError


def export_package(
    file: Path, workspace: Path, license: str | None, *, names: bool, replace: bool, json: bool
) -> None:
    """Write the release and say what is in it."""
    from lookalike.recipes.package import estimated_size, package
    from lookalike.store.workspace import Workspace

    if license is None:
        raise ArgumentError(
            "A package needs --license.",
            fix="Say under which licence you may and want to release photos and labels: --license CC0-1.0, "
            "--license CC-BY-4.0, or a text file of your own.",
        )
    opened = Workspace(workspace)
    if not json:
        say(f"The photos take about {megabytes(estimated_size(opened))}.")
    with progress("Writing photos", quiet=json) as bar:
        done = package(opened, file, license, names=names, replace=replace, progress=bar)
    if json:
        print_json({"package": str(file), **asdict(done)})
        return
    say(
        f"{file}: {plural(done.images, 'photo')} written anew without metadata, {plural(done.labels, 'label')}, "
        f"{plural(done.rows['vote'], 'vote')} by {'name' if names else 'A1, A2, ...'}; {megabytes(done.size)}."
    )
    for image, reason in done.missing[:5]:
        say(f"Missing: {image} ({reason})")
    if len(done.missing) > 5:
        say(f"and {len(done.missing) - 5:,} more photos; README.md lists them.")
    next_step("lookalike status", workspace=workspace)
