"""Encoders over a whole catalog: chunks, worker processes, and vectors derived from vectors."""
