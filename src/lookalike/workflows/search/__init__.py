"""Search a catalog."""
