"""`judge`: which pairs a judge is given, its scores, and what they are worth."""
