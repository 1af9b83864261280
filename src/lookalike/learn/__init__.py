"""Train an encoder from labels: losses, batches, and the training loop."""
