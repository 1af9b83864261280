"""Decode photos, check each of them once, and compare them with what the catalog recorded."""
