#!/usr/bin/env bash
# mgcv.sh [NAME ... | all]: real data side by side with mgcv, as Markdown on stdout:
# the smaller models of benchmarks/mgcv/real.R, those that are named, or all, which
# takes a few minutes and several GB, most of them mgcv's. Needs R with mgcv and
# jsonlite (RSCRIPT) and the data sets in ../shared (PHO_SHARED); without them it says
# so and does nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
export GOWORK=off
rscript=${RSCRIPT:-Rscript}
shared=${PHO_SHARED:-../shared}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

if ! "$rscript" -e 'stopifnot(requireNamespace("mgcv", quietly = TRUE), requireNamespace("jsonlite", quietly = TRUE))' >/dev/null 2>&1; then
	echo "mgcv: SKIPPED: needs R ($rscript) with mgcv and jsonlite (Debian: r-cran-mgcv r-cran-jsonlite)" >&2
	exit 0
fi
if [ ! -f "$shared/data/covid_us_county.csv.gz" ]; then
	echo "mgcv: SKIPPED: no data in $shared/data; set PHO_SHARED" >&2
	exit 0
fi
case $* in
"") set -- bike covid flights ;;
all) set -- ;;
esac
printf 'version\t%s\n' "$("$rscript" -e 'cat("mgcv", format(packageVersion("mgcv")), "with R", format(getRversion()))')"
"$rscript" benchmarks/mgcv/real.R "$shared/data" "$dir" "$@" >&2
"${GO:-go}" run ./benchmarks/mgcv "$dir"
