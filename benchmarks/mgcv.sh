#!/usr/bin/env bash
# mgcv.sh [NAME ...]: real data side by side with mgcv, as Markdown on stdout; all
# models, or those of benchmarks/mgcv/real.R that are named. Needs R with mgcv and
# jsonlite (RSCRIPT) and the data sets in ../shared (PHO_SHARED); without them it says
# so and does nothing. Takes a few minutes and several GB, most of them mgcv's.
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
"$rscript" benchmarks/mgcv/real.R "$shared/data" "$dir" "$@" >&2
"${GO:-go}" run ./benchmarks/mgcv "$dir"
