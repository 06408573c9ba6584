"""The journey at scale, on Spark: ingest, match, plan, convert, dispatch, learn."""
