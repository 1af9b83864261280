"""Where the state of a training run is kept, so that a stopped run can be resumed."""

from typing import Protocol, runtime_checkable


@runtime_checkable
class Keeper(Protocol):
    """Where the state of a run is kept. How often is its own business: every state leads to the same end."""

    def last(self) -> bytes | None:
        """The state that was kept last, None of a run that begins."""

    def due(self) -> bool:
        """Whether it is time to keep the state again."""

    def keep(self, state: bytes) -> None:
        """Keep a state for good."""


class Unkept:
    """A keeper for a run in memory: it saves nothing."""

    def last(self) -> bytes | None:
        """There is no earlier state."""
        return None

    def due(self) -> bool:
        """Never."""
        return False

    def keep(self, state: bytes) -> None:
        """Nothing is kept."""

    def resample(self, number: int) -> list[float] | None:
        """No resample was finished earlier."""
        return None

    def keep_resample(self, number: int, curve: list[float]) -> None:
        """Nothing is kept."""
