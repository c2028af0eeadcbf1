"""The LanceDB tables: schema, writer (one committer) and reader."""
