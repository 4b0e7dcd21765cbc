"""Similarity under a condition: "like this, but …" (GeneCIS).

A similarity f(target; reference, condition text): templates that test it, methods that compute it, and a search
that uses it.  `protocol.py` holds the three things everything here speaks in: templates, two-tower encoders, methods.
"""
