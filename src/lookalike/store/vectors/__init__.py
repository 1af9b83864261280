"""Embeddings, vectors of augmented views, and training runs on disk."""
