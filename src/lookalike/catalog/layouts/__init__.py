"""Read published data sets in the layout in which they were published."""
