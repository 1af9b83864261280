"""Soft positives: how positive a pair is that nobody labelled, from the graph of those that are (VSD 6.1)."""
