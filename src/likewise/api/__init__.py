"""The public Python API: arrays in, tables out, nothing written to disk; and `Workspace`, which has every step.

`likewise/__init__.py` lists these names; import them from there.
"""
