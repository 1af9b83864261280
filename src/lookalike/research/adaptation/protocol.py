"""The settings of ADAPT's experiment; nothing here needs PyTorch."""

from pydantic import Field

from lookalike.core.settings import CheckedSettings

KS = (1, 3, 5, 10, 20, 50, 100)
SIGMAS = (1.0, 15.0)


class AdaptationProtocol(CheckedSettings):
    """How often and how long the heads of ADAPT are trained (ADAPT 4.2)."""

    repeats: int = Field(20, ge=1, le=1_000, description="For ADAPT: number of random splits of the pairs.")
    resamples: int = Field(
        20, ge=1, le=1_000, description="For ADAPT: number of resamples that choose the number of epochs."
    )
    epochs: int = Field(150, ge=1, description="For ADAPT: the largest number of epochs.")
    seed: int = Field(0, ge=0, lt=2**31, description="For ADAPT: seed of the splits and the matrices.")
