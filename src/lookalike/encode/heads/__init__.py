"""Heads: small functions of one encoder's vectors that make another encoder of it."""
