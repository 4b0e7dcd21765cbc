"""Every command that writes is ended at every write call, and run again."""
