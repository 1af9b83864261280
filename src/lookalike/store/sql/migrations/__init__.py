"""Numbered steps from one version of the database to the next. Nothing else changes its tables."""
