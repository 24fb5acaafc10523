"""Columns of ordered categories, by pandas (through pyarrow) and polars: low < mid < high, mid on no
row; ordered_back.* declare them the other way round. Needs pandas, pyarrow and polars."""

import os

import pandas
import polars

os.chdir(os.path.dirname(os.path.abspath(__file__)))
cells = ["high", "low", None, "high", "low", "low"]
for name, order in (("ordered", ["low", "mid", "high"]), ("ordered_back", ["high", "mid", "low"])):
    frame = pandas.DataFrame({"g": pandas.Categorical(cells, categories=order, ordered=True), "x": [1.0, 2, 3, 4, 5, 6]})
    frame.to_parquet(f"{name}.parquet", row_group_size=3)
    frame.to_feather(f"{name}.arrow")
enum = polars.DataFrame({"g": cells, "x": [1.0, 2, 3, 4, 5, 6]}, schema={"g": polars.Enum(["low", "mid", "high"]), "x": polars.Float64})
enum.write_parquet("enum.parquet")
enum.write_ipc("enum.arrow")
