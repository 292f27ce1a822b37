"""Engines turn records into true counts, and do nothing else; each is imported when it is first used."""
