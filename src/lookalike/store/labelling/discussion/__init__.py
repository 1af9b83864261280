"""Pairs that are no longer open: the lists of them, and what is said about each."""
