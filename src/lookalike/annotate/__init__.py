"""The rules of labelling: the state of a pair, the order of pairs, what votes resolve to, how far annotators agree."""
