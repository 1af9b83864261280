"""Collect the contents of a workspace into one page."""
