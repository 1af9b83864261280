"""K distinct items for a catalog image or a new photo."""
