"""Tables on disk: pipe-separated text and Parquet, read into Arrow columns of text with every fault named."""
