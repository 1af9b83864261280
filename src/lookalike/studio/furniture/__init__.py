"""The furniture of the studio: each kind is built from solids."""
