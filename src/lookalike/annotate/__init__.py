"""The rules of labelling: who is asked what, what answers settle to, how far people agree. No web, no database."""
