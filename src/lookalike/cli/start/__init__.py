"""Commands that set up and inspect a workspace."""
