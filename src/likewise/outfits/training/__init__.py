"""Training compatibility models: examples, fair negatives, a trainer that resumes, more data for a weak dimension."""
