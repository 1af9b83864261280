"""The parts of the report page."""
