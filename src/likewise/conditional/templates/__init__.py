"""Templates: facts about pictures, new benchmarks built from them, audits, crops, files, and people's verification."""
