"""How far measures can be trusted when labels are incomplete, and which pairs to label next."""
