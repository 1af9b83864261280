"""`lookalike evaluate`."""
