"""Rendering of pages: templates, text, error pages."""
