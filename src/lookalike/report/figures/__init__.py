"""Figures of the report as inline SVG."""
