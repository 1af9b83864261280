"""Commands around labels and annotators."""
