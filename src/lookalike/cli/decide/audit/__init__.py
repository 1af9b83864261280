"""`lookalike audit`."""
