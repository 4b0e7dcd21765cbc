"""Looks: complete one, change one piece of it, rate it and say why, from any catalog and compatibility model."""
