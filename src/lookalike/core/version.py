"""The version of Lookalike."""

__version__ = "0.1.0"
