"""From photos to network inputs: worker processes, preprocessing, augmented views."""
