"""True values of measures from a few labels that are drawn at random."""
