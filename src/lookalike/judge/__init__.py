"""A machine's opinions of pairs, beside the experts: covariates of estimates, never labels (SPEC 17)."""
