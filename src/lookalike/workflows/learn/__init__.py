"""Train encoders from labels."""
