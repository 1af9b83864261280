"""Embeddings, augmented views and trained models on disk."""
