"""Vectors to ranks: judged ranks and lists of distinct items, by blocked products and counting."""
