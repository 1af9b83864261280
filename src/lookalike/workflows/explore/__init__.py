"""Explore a workspace: the map of its images, results with the pictures behind them, the state of the catalog."""
