"""Compute measures from judged ranks when labels are incomplete, with intervals and tests."""
