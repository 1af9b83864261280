"""Better encoders from labels: losses, batches, and the one training loop."""
