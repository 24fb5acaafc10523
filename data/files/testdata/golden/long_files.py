"""Whole numbers beyond 2^53 in a column of int64, of which float64 would make half as many; needs
pandas and pyarrow."""

import os

import pandas

os.chdir(os.path.dirname(os.path.abspath(__file__)))
n = 120
frame = pandas.DataFrame({f"x{j}": [float((i * (j + 3)) % 11) - 5 for i in range(n)] for j in range(5)})
frame["id"] = [9007199254740993 + i % 6 for i in range(n)]
frame.to_parquet("long.parquet", index=False)
frame.to_feather("long.arrow", compression="uncompressed")
