"""The embedded runtime: SQLite log, keys and identity, Qdrant Edge episodes."""
