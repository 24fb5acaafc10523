#!/usr/bin/env bash
# flights.sh [ROWS ...]: an additive model with factors of many levels (carrier,
# origin, destination, 1,600 routes, four splines; 1,946 columns) of flight delays,
# streamed from Parquet; tables of ROWS drawn flights, 1000000 and 10000000 unless
# said otherwise. Next to bam(discrete = TRUE) on the first table if R has mgcv, with
# one or two threads, whichever is faster, and the threads and code of OpenBLAS that PROBE
# (20000) rows decide; and on the real flights if they are in ../shared (PHO_SHARED). 1e8 rows take 1.3 GB of
# disk in TMPDIR, and some minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
export GOWORK=off
go=${GO:-go}
rscript=${RSCRIPT:-Rscript}
shared=${PHO_SHARED:-../shared}
source benchmarks/blas/settings.bash
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
[ $# -gt 0 ] || set -- 1000000 10000000
"$go" build -C benchmarks -o "$dir/flights" ./flights

# field NAME: the number behind a name in the first line of our own or mgcv's.
field() { awk -v name="$1" 'NR == 1 { for (i = 1; i < NF; i++) if ($i == name) { print $(i + 1); exit } }' "$2"; }
row() { printf 'row\t%s\t%s\t%s\t%s\t%s\n' "$@"; }
over() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }

first=
for rows in "$@"; do
	mkdir "$dir/data"
	"$dir/flights" -generate "$dir/data" -rows "$rows"
	"$dir/flights" -truth -values "$dir/values" "$dir/data/*.parquet" | tee "$dir/ours"
	rm -r "$dir/data"
	seconds=$(field seconds "$dir/ours")
	passes=$(awk -v a="$(field scan "$dir/ours")" -v b="$(field moments "$dir/ours")" -v n="$rows" 'BEGIN { printf "%.4f", (a + b) / n * 1e6 }')
	peak=$(field MiB "$dir/ours")
	# The noise has a standard deviation of 25: that the fitted values are off by
	# 25 sqrt(edf / rows) is what chance allows.
	error=$(awk '/^error sum of terms/ { print $5 }' "$dir/ours")
	chance=$(awk -v edf="$(field edf "$dir/ours")" -v n="$rows" 'BEGIN { printf "%.4f", 25 * sqrt(edf / n) }')
	row "$rows rows: error of fitted values" "$error" "$chance by chance" "$(over "$error" "$chance")" -
	row "$rows rows: peak memory" "$peak MiB" "1536 MiB" "$(over "$peak" 1536)" -
	if [ -n "$first" ]; then
		row "$rows rows: linear in rows" "$passes s a million" "$first s a million" "$(over "$passes" "$first")" -
		continue
	fi
	first=$passes
	if "$rscript" -e 'library(mgcv)' >/dev/null 2>&1; then
		printf 'version\t%s\n' "$("$rscript" -e 'cat("mgcv", format(packageVersion("mgcv")), "with R", format(getRversion()))')"
		probe=${PROBE:-20000}
		"$dir/flights" -binary "$dir/binary" -rows "$probe"
		"$dir/flights" -binary "$dir/all" -rows "$rows"
		echo "bam discrete: OPENBLAS_CORETYPE and threads, seconds, nthreads"
		read -r core blas _ threads < <(fastest_way "$rscript benchmarks/flights/peer.R probe $dir/binary $probe" "$rscript benchmarks/flights/peer.R probe $dir/all $rows")
		with_blas "$core" "$blas" "$rscript" benchmarks/flights/peer.R "$dir/all" "$rows" "$dir/values" "$threads" >"$dir/theirs"
		cat "$dir/theirs"
		theirs=$(field seconds "$dir/theirs")
		row "$rows rows, bam discrete" "$seconds s, $peak MiB" "$theirs s, $(field peak "$dir/theirs") MiB: nthreads=$threads; $(blas_name "$core" "$blas")" "$(over "$theirs" "$seconds")" "$(field differ "$dir/theirs")"
	else
		echo "flights: no peer: $rscript with mgcv is needed (Debian: r-cran-mgcv; set RSCRIPT)" >&2
	fi
done

real=$shared/data/flights_nyc_2013_2017.csv.gz
if [ -f "$real" ]; then
	mkdir "$dir/real"
	"$dir/flights" -convert "$dir/real" "$real"
	"$dir/flights" "$real" | tee "$dir/csv"
	"$dir/flights" "$dir/real/*.parquet" | tee "$dir/parquet"
	row "real flights from Parquet, and from CSV.gz" "$(field seconds "$dir/parquet") s" "$(field seconds "$dir/csv") s" \
		"$(over "$(field seconds "$dir/csv")" "$(field seconds "$dir/parquet")")" \
		"$(awk -v a="$(field score "$dir/csv")" -v b="$(field score "$dir/parquet")" 'BEGIN { printf "%.1e", (a - b) / b }')"
fi
