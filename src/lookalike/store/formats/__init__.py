"""File formats for labels, runs, judged ranks and packages."""
