"""The gate for new models: is the new one at least as good as the old one, within a margin?"""
