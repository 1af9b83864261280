"""Which pairs experts should label: the pool, its provenance, and what labelling it costs (EDS 3)."""
