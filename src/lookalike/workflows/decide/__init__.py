"""Compare encoders: evaluation, audits, the verdict, pairs to label next."""
