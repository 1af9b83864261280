"""Render values into one self-contained HTML page: the report.

This package reads only its own templates.
"""
