"""Whole workflows as short functions: the one place that knows every stage."""
