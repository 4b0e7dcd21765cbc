"""When to stop labelling: the question an owner named, and whether the labels of now settle it."""
