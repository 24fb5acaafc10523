#!/usr/bin/env bash
# pyarrow 21.0.0 takes use_byte_stream_split=True without a word and writes no column that way while dictionaries,
# which are on by default, are not turned off: a column whose values repeat is written as a dictionary, and one whose
# values do not falls back to PLAIN, not to BYTE_STREAM_SPLIT. Who makes a file to see whether a reader knows that
# encoding tests nothing, and who measures how much it saves measures zero.
# Seen: encodings of both columns without BYTE_STREAM_SPLIT; with use_dictionary=False (the control) both have it.
set -eu
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install -q --disable-pip-version-check pyarrow==21.0.0
cd "$dir" && "$dir/venv/bin/python" - <<'P'
import sys, random
import pyarrow as pa, pyarrow.parquet as pq
print("pyarrow", pa.__version__)
random.seed(3)
table = pa.table({"repeats": [float(i % 7) for i in range(200_000)], "differs": [random.gauss(0, 1) for _ in range(200_000)]})
def encodings(**how):
    pq.write_table(table, "t.parquet", use_byte_stream_split=True, **how)
    group = pq.ParquetFile("t.parquet").metadata.row_group(0)
    return {group.column(j).path_in_schema: set(group.column(j).encodings) for j in range(2)}
default, control = encodings(), encodings(use_dictionary=False)
print("dictionaries left on:", default)
print("use_dictionary=False:", control)
if not all("BYTE_STREAM_SPLIT" in e for e in control.values()):
    sys.exit("CHANGED: without dictionaries it is not written either")
if any("BYTE_STREAM_SPLIT" in e for e in default.values()):
    sys.exit("CHANGED: BYTE_STREAM_SPLIT is written while dictionaries are on")
P
