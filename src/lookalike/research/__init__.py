"""For researchers: the papers' tables, simulated pools with known ground truth, repeated trials."""
