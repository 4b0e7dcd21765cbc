"""Designs: how the pairs to label are chosen, and with which inclusion probability each one is."""
