"""Commands that compare encoders."""
