"""The bias of each measure on simulated pools whose ground truth is known."""
