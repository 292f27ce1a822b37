"""Whether a published release is what it says: its files, its ledger, its tables, its estimates.

It reads OUT, and the parameters where they are named; never a record. `sealed` compares files with their hashes and the
ledger with its seals; `spending` recomputes what the ledger states; `domain` says which rows there can be; `totals` and
`cells` recompute T1 and T2; `texts` compares the text files with the Parquet files; `parameters` compares the ledger
with a parameters folder; `content` says which file cannot be read; `verify` is the order of all this.
"""
