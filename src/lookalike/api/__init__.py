"""The functions of `import lookalike`. They take and return values and need no workspace."""
