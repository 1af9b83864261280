"""Losses of a batch as pure functions: by soft positives, and of left and right images."""
