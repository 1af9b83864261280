"""Render an item, a view and a room to pixels."""
