"""Is this number to be trusted? Audits of measures under incomplete labels."""
