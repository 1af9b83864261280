"""What ranking may take of the machine: memory, and a GPU where there is one."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lookalike.core.checks import at_least

if TYPE_CHECKING:
    import torch

HELD = 2**30
ROWS = 2**30
SLAB = 2**23
QUERIES_SHARE = 4  # queries are held too if they take at most this part of what the gallery may
NVIDIA = Path("/dev/nvidiactl"), Path("/dev/dxg")  # the driver's own file, and the one inside Windows' Linux


@dataclass(frozen=True)
class Machine:
    """How much one ranking may hold, in bytes, and where it runs.

    Vectors whose shaped copy would take more than `held` stay where they are and are gone through in slabs of about
    `slab`; then the finished rows of one tall block take at most `rows` (or one row, where that is more).
    `device` is "auto" (a CUDA device if there is one and torch is installed), "numpy" (never a device),
    or torch's name of a device.
    """

    held: int = HELD
    rows: int = ROWS
    slab: int = SLAB
    device: str = "auto"

    def __post_init__(self) -> None:
        at_least(self.held, 0, "held")
        at_least(self.rows, 1, "rows")
        at_least(self.slab, 1, "slab")

    def torch_device(self) -> "torch.device | None":
        """The device to rank on, None for the processors. Looks for the driver before it loads torch."""
        if self.device == "numpy" or (self.device == "auto" and not any(file.exists() for file in NVIDIA)):
            return None
        try:
            import torch
        except ImportError:
            if self.device == "auto":
                return None
            raise
        if self.device != "auto":
            return torch.device(self.device)
        return torch.device("cuda") if torch.cuda.is_available() else None


DEFAULT = Machine()
