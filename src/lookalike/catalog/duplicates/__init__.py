"""Detect exact and near duplicates: signatures, their distance, and groups."""
