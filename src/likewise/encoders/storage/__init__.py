"""Vectors on disk: the files, reading, writing, and vectors made elsewhere."""
