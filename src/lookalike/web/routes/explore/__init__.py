"""The pages to explore a catalog and its results."""
