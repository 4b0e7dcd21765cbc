"""The same steps on more than one machine: Ray runs the code of the other rooms, and the files come out the same."""
