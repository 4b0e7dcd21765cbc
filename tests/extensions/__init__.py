"""Extensions: declarations, and a package from outside that is installed for real."""
