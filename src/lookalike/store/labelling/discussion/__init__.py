"""Pairs in discussion, resolved and excluded: their lists, votes, comments and decisions."""
