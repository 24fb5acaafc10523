#!/usr/bin/env bash
# DuckDB 2.0.1 gives sum() of a BIGINT column the type HUGEINT, and writes HUGEINT to Parquet as DOUBLE without a word:
# whole numbers from 2^53 on are rounded on the way, so that keys made by sum() (or any HUGEINT) meet in the file that
# were different in the table, and clusters of rows by them are too few.
# Seen: three keys 2^53, 2^53 + 1, 2^53 + 2 are two in the file, of type DOUBLE; the same keys as BIGINT (the control)
# stay three.
set -eu
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install -q --disable-pip-version-check duckdb==2.0.1
cd "$dir" && "$dir/venv/bin/python" - <<'P'
import sys, duckdb
print("duckdb", duckdb.__version__)
db = duckdb.connect()
db.execute("create table rows as select (9007199254740992 + i)::bigint as key from range(3) r(i)")
db.execute("copy (select sum(key) as key from rows group by key) to 'sum.parquet' (format parquet)")
db.execute("copy (select sum(key)::bigint as key from rows group by key) to 'bigint.parquet' (format parquet)")
see = lambda of: db.execute(f"select any_value(typeof(key)), count(distinct key) from {of}").fetchone()
table, file, control = see("(select sum(key) as key from rows group by key)"), see("'sum.parquet'"), see("'bigint.parquet'")
print("in DuckDB:", table, " sum() in the file:", file, " BIGINT in the file:", control)
if control != ("BIGINT", 3) or table != ("HUGEINT", 3):
    sys.exit("CHANGED: the control is wrong")
if file[1] == 3:
    sys.exit("CHANGED: the keys are all there")
P
