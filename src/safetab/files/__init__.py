"""Tables on disk and in memory: delimited text, Parquet and Arrow, read with every fault named."""
