"""Training networks: which part of one learns, views of photos, and the gradient of a batch in pieces."""
