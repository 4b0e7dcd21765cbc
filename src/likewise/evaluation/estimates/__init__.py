"""Estimates for the whole catalog, from labels drawn with known inclusion probabilities."""
