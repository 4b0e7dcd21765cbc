"""Templates: annotations of pictures, new benchmarks built from them, audits, crops, files, and human verification."""
