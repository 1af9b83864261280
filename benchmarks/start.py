"""How long `import lookalike` and a short command take, against a bare interpreter, in one run."""

import statistics
import subprocess
import sys
import time

COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import typer": ["-c", "import typer"],
    "import lookalike": ["-c", "import lookalike"],
    "import lookalike.evaluate.measures.table": ["-c", "import lookalike.evaluate.measures.table"],
    "lookalike --version": ["-m", "lookalike", "--version"],
    "lookalike --help": ["-m", "lookalike", "--help"],
}


def main(repeats: int = 7) -> None:
    """Print the median of each command and its ratio to the bare interpreter."""
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(repeats):
        for name, arguments in COMMANDS.items():
            started = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
            seconds[name].append(time.perf_counter() - started)
    bare = statistics.median(seconds["python -c pass"])
    print(f"median of {repeats}")
    for name, times in seconds.items():
        print(
            f"{name:36} {statistics.median(times):6.3f} s  {statistics.median(times) / bare:5.1f} x bare python"
        )
    parser = statistics.median(seconds["import typer"])
    shown = statistics.median(seconds["lookalike --help"]) / parser
    print(f"lookalike --help takes {shown:.2f} times as long as import typer (at most 2.5)")


if __name__ == "__main__":
    main()
