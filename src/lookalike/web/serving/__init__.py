"""Search behind an address: encoders that are loaded, work that waits, metrics."""
