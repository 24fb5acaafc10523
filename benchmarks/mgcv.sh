#!/usr/bin/env bash
# mgcv.sh [NAME ... | all]: real data side by side with mgcv's bam, exact and with
# discretisation, as Markdown on stdout: the models of benchmarks/mgcv/real.R, bike, covid
# and flights unless others are named; all takes several GB, most of them mgcv's. bam
# is called as it is fastest: with one or two threads or processes, QR or use.chol, and
# OpenBLAS with one or two threads and the code of several processors, the best of up to
# three calls of each. With PAGE=benchmarks/results/mgcv.md what is for people goes there. Needs R with
# mgcv and jsonlite (RSCRIPT) and the data sets in ../shared (PHO_SHARED).
set -euo pipefail
cd "$(dirname "$0")/.."
export GOWORK=off
rscript=${RSCRIPT:-Rscript}
shared=${PHO_SHARED:-../shared}
source benchmarks/blas/settings.bash
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

if ! "$rscript" -e 'stopifnot(requireNamespace("mgcv", quietly = TRUE), requireNamespace("jsonlite", quietly = TRUE))' >/dev/null 2>&1; then
	echo "mgcv: needs R ($rscript) with mgcv and jsonlite (Debian: r-cran-mgcv r-cran-jsonlite)" >&2
	exit 1
fi
if [ ! -f "$shared/data/covid_us_county.csv.gz" ]; then
	echo "mgcv: no data in $shared/data; set PHO_SHARED" >&2
	exit 1
fi
case $* in
"") set -- bike covid flights ;;
all) set -- ;;
esac
printf 'version\t%s\n' "$("$rscript" -e 'cat("mgcv", format(packageVersion("mgcv")), "with R", format(getRversion()))')"
for core in $(blas_cores); do
	for threads in 1 2; do
		with_blas "$core" "$threads" "$rscript" benchmarks/mgcv/real.R "$shared/data" - "$@" | sed "s/^/$(blas_name "$core" "$threads")\t/"
	done
done | tee "$dir/seconds" | tr "\t" "," >&2 # five fields between tabs would be a row
"$rscript" benchmarks/mgcv/real.R "$shared/data" "$dir" "$@" >&2
"${GO:-go}" build -C benchmarks -o "$dir/mgcv" ./mgcv
"$dir/mgcv" -page "${PAGE:-}" "$dir"
