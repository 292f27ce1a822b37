"""What a release may choose, loaded from `release.toml` or from the Bureau's parameters folder into one model."""
