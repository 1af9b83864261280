"""Find the K most similar distinct items for a catalog image or a new photo."""
