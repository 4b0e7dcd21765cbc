"""Training compatibility models: examples, fair negatives, a trainer that resumes, a remedy for a weakness."""
