"""The sender of a request: sessions, tokens, roles, limits on login attempts."""
