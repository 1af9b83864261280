"""Soft positives: weights of unlabelled pairs from the graph of labelled positives (VSD 6.1)."""
