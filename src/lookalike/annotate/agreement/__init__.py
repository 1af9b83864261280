"""Figures from votes: agreement, consistency, pace, label errors, and the plan."""
