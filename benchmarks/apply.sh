#!/usr/bin/env bash
# apply.sh [ROWS]: `pho apply` next to `pho decompose` of the same rows, and next to the
# network run once over them, as processes that take turns: rows in Parquet, Arrow and CSV,
# contributions in Parquet and CSV, with and without standard errors. Prints lines of
#   case, ours, peer, ratio, answer difference
# separated by tabs: seconds, medians over ROUNDS=5 turns; the difference is that of the
# contributions that both have written, relative to the largest. CASE=text runs the cases
# whose names hold it, WORKERS=2 changes goroutines. Arrow needs Python (PYTHON) with
# pyarrow, which writes the file; without it its rows are missing.
set -euo pipefail
cd "$(dirname "$0")/.."
export GOWORK=off
go=${GO:-go}
python=${PYTHON:-python3}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$go" build -o "$dir/pho" ./cmd/pho
"$go" build -C benchmarks -o "$dir/decompose" ./decompose
"$dir/decompose" -write "$dir" -rows "${1:-1000000}"
"$python" - "$dir" <<'PY' || echo "apply: $python lacks the package pyarrow: Arrow's rows are missing" >&2
import sys
import pyarrow.ipc
import pyarrow.parquet

table = pyarrow.parquet.read_table(sys.argv[1] + "/rows.parquet")
with pyarrow.ipc.new_file(sys.argv[1] + "/rows.arrow", table.schema) as out:
    out.write_table(table, 1 << 16)
PY
"$dir/decompose" -apply -pho "$dir/pho" -dir "$dir" -rounds "${ROUNDS:-5}" -workers "${WORKERS:-2}" -case "${CASE:-}"
