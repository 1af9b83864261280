"""Select the pairs to label: queries, the pool, random pairs, provenance and cost (EDS 3)."""
