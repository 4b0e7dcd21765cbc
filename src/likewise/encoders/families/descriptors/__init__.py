"""The built-in descriptors: colour, texture, shape, layout, and their blend."""
