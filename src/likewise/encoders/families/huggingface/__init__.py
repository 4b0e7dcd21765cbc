"""Models of the transformers library, by id or folder."""
