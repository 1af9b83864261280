"""The demo: the complete workflow on a generated catalog."""
