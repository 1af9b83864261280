"""ADAPT's experiment: pairs of left and right images, split again and again, before and after adaptation."""
