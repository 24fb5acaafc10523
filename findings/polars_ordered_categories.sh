#!/usr/bin/env bash
# polars 2.1.0 reads an ordered dictionary (low < mid < high) of a Parquet file that pyarrow 21.0.0 wrote as a
# Categorical, which sorts by the alphabet: the order, which the file's Arrow schema says and pyarrow reads back (the
# control), is gone without a word, also by pl.from_arrow. A model of such a column has another reference level.
# With pl.Enum(levels) cast by hand the order is back: the levels are all there.
set -eu
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install -q --disable-pip-version-check polars==2.1.0 pyarrow==21.0.0
cd "$dir" && "$dir/venv/bin/python" - <<'P'
import sys
import polars as pl, pyarrow as pa, pyarrow.parquet as pq
print("polars", pl.__version__, "pyarrow", pa.__version__)
levels = ["low", "mid", "high"]
ordered = pa.DictionaryArray.from_arrays(pa.array([2, 0, 1], pa.int8()), levels, ordered=True)
pq.write_table(pa.table({"g": ordered}), "g.parquet")
control = pq.read_table("g.parquet").schema.field("g").type
print("pyarrow:", control)
if not control.ordered:
    sys.exit("CHANGED: pyarrow loses the order itself")
for how, frame in (("read_parquet", pl.read_parquet("g.parquet")), ("from_arrow", pl.from_arrow(pa.table({"g": ordered})))):
    values = frame.sort("g")["g"].to_list()
    print(f"polars {how}:", frame.schema["g"], values)
    if values == levels:
        sys.exit(f"CHANGED: {how} keeps the order")
if frame.with_columns(pl.col("g").cast(pl.Enum(levels))).sort("g")["g"].to_list() != levels:
    sys.exit("CHANGED: an Enum has another order")
P
