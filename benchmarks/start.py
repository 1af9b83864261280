"""How long `import lookalike` and a short command take, against a bare interpreter, in one run.

With arguments, a command of yours beside them: python benchmarks/start.py search photo.jpg --encoder NAME -w WORKSPACE
"""

import resource
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
    commands = dict(COMMANDS)
    if given := sys.argv[1:]:
        commands |= {
            "import torch": ["-c", "import torch"],
            f"lookalike {given[0]}": ["-m", "lookalike", *given],
        }
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    computed: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(repeats):
        for name, arguments in commands.items():
            started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds[name].append(time.perf_counter() - started)
            computed[name].append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    bare = statistics.median(seconds["python -c pass"])
    print(f"median of {repeats}")
    for name, times in seconds.items():
        print(
            f"{name:40} {statistics.median(times):6.3f} s  {statistics.median(times) / bare:5.1f} x bare python, "
            f"{statistics.median(computed[name]):6.3f} s of processor time"
        )
    parser = statistics.median(seconds["import typer"])
    shown = statistics.median(seconds["lookalike --help"]) / parser
    print(f"lookalike --help takes {shown:.2f} times as long as import typer (at most 2.5)")


if __name__ == "__main__":
    main()
