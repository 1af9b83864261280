"""Commands that train encoders."""
