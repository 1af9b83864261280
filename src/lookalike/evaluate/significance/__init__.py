"""Confidence intervals and tests: bootstrap, permutation, Holm's adjustment."""
