"""Tables of vectors that live elsewhere: Parquet and Lance tables, Qdrant collections, PostgreSQL with pgvector."""
