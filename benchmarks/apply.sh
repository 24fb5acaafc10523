#!/usr/bin/env bash
# apply.sh [ROWS]: `pho apply` next to `pho decompose` of the same rows, and next to the
# network run once over them, as processes that take turns: rows in Parquet, Arrow and CSV,
# contributions in Parquet and CSV, with and without standard errors; and, in the same turns, to
# a plain write of as many bytes to the same place, which says what of it is the disk's. The
# longest text is also written to memory (MEMORY=/dev/shm, where that is). Prints lines of
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
memory=
if [ -w "${MEMORY:=/dev/shm}" ]; then
	memory=$(mktemp -d "$MEMORY/pho.XXXXXX")
fi
trap 'rm -rf "$dir" ${memory:+"$memory"}' EXIT
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
"$dir/decompose" -apply -pho "$dir/pho" -dir "$dir" -memory "$memory" -rounds "${ROUNDS:-5}" -workers "${WORKERS:-2}" -case "${CASE:-}"
