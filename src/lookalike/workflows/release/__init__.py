"""Publish labels and photos as a package."""
