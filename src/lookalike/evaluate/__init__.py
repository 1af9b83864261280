"""Judged ranks to scores: every measure of the papers, for labels that are never complete."""
