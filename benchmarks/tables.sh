#!/usr/bin/env bash
# tables.sh [ROWS]: files of ROWS=1000000 rows and 12 columns read, of Parquet and Arrow batch by batch
# with the sum of every column (a file that is only mapped to memory has not been read), and CSV
# read and written again, next to DuckDB, Polars and pyarrow with as many threads, in turns. Each
# peer is tried with several settings, and its best time counts; all that is read and written
# is compared value by value. Lines "at least" tell what the parts that nobody avoids take on this
# machine. Needs Python (PYTHON) with the packages duckdb, polars, pyarrow
# and numpy. ROUNDS=9 turns, of which the fastest counts; WORKERS=2; CASE=text runs the cases
# whose names hold it.
set -euo pipefail
cd "$(dirname "$0")/.."
export GOWORK=off
go=${GO:-go}
python=${PYTHON:-python3}
export POLARS_MAX_THREADS=${WORKERS:-2}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if ! "$python" -c 'import duckdb, numpy, polars, pyarrow' 2>/dev/null; then
	echo "tables: $python lacks the packages duckdb, numpy, polars or pyarrow (pip install them; set PYTHON)" >&2
	exit 1
fi
echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1), $(nproc) processors; $("$go" version)"
"$go" build -C benchmarks -o "$dir/tables" ./tables
"$dir/tables" -dir "$dir" -rows "${1:-1000000}" -rounds "${ROUNDS:-9}" -workers "${WORKERS:-2}" -case "${CASE:-}" -peer "$python benchmarks/tables/peer.py"
