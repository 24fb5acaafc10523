#!/usr/bin/env bash
# DuckDB 2.0.1 keeps the order of an ENUM (low < mid < high) in its tables and in what it sorts, and writes it to
# Parquet as text without a trace: whoever reads the file, DuckDB included, sorts high, low, mid. An ordered factor
# that went through `COPY ... TO 'x.parquet'` is an unordered one, whose reference level is another.
# Seen: VARCHAR and the alphabetical order behind the file; ENUM and the declared order in the table (the control).
set -eu
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install -q --disable-pip-version-check duckdb==2.0.1
cd "$dir" && "$dir/venv/bin/python" - <<'P'
import sys, duckdb
print("duckdb", duckdb.__version__)
db = duckdb.connect()
db.execute("create type size as enum ('low', 'mid', 'high')")
db.execute("create table t as select unnest(['high', 'low', 'mid'])::size as g")
db.execute("copy t to 't.parquet' (format parquet)")
see = lambda of: ([g for (g,) in db.execute(f"select g from {of} order by g").fetchall()], db.execute(f"select typeof(g) from {of} limit 1").fetchone()[0])
table, file = see("t"), see("'t.parquet'")
print("table:", *table)
print("file: ", *file)
if table[0] != ["low", "mid", "high"]:
    sys.exit("CHANGED: the table itself is not in the order of its ENUM")
if file[0] == table[0]:
    sys.exit("CHANGED: the order is kept in Parquet")
P
