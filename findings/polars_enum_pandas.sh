#!/usr/bin/env bash
# A polars 2.1.0 Enum (ordered levels) in a Parquet file is a dictionary with indices of uint8, by the Arrow schema that
# the file holds. pyarrow 21.0.0 reads that as a table, and refuses to make a pandas 3.1.1 frame of it, whatever the
# levels are ("unsigned dictionary indices"): pandas.read_parquet fails on a file that polars wrote a moment before.
# The same column with its indices cast to int8 (the control) comes through.
set -eu
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install -q --disable-pip-version-check polars==2.1.0 pyarrow==21.0.0 pandas==3.1.1
cd "$dir" && "$dir/venv/bin/python" - <<'P'
import sys
import pandas as pd, polars as pl, pyarrow as pa, pyarrow.parquet as pq
print("polars", pl.__version__, "pyarrow", pa.__version__, "pandas", pd.__version__)
levels = ["low", "mid", "high"]
pl.DataFrame({"g": ["high", "low", "mid"]}, schema={"g": pl.Enum(levels)}).write_parquet("enum.parquet")
table = pq.read_table("enum.parquet")
print("pyarrow:", table.schema.field("g").type)
control = table.cast(pa.schema([("g", pa.dictionary(pa.int8(), pa.large_string()))])).to_pandas()
print("control, indices of int8:", list(control.g))
if list(control.g) != ["high", "low", "mid"]:
    sys.exit("CHANGED: the control is wrong")
try:
    frame = pd.read_parquet("enum.parquet", engine="pyarrow")
except Exception as e:
    print("pandas:", type(e).__name__, str(e)[:90])
else:
    sys.exit(f"CHANGED: pandas reads it, as {frame.g.dtype}")
P
