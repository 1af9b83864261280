"""Accounts: people, passwords, invitations, tokens, the audit log."""
