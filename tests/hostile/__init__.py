"""Files that somebody damaged, or made to do damage."""
