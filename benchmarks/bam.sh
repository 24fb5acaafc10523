#!/usr/bin/env bash
# bam.sh [ROWS [EXACT]]: PHOGAM-REML from zeta in memory (ranges, knots, moments,
# smoothing parameters) next to mgcv's bam on the paper's ten functions, in turns: with
# discretisation and two threads at ROWS (1000000) rows, ROUNDS (3) times, and exact at
# EXACT (200000) rows, once: a million rows take it a minute or more. Prints rows of
#   case, ours, peer, ratio, answer difference
# separated by tabs: medians and ranges. BASES="ps:20 tp:9" are the bases. Needs R with
# mgcv (RSCRIPT).
set -euo pipefail
cd "$(dirname "$0")/.."
export GOWORK=off
go=${GO:-go}
rscript=${RSCRIPT:-Rscript}
rows=${1:-1000000}
exact=${2:-200000}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if ! "$rscript" -e 'library(mgcv)' >/dev/null 2>&1; then
	echo "bam: $rscript with mgcv is needed (Debian: r-base-core r-cran-mgcv; set RSCRIPT)" >&2
	exit 1
fi
"$rscript" -e 'cat("version\tmgcv ", format(packageVersion("mgcv")), " on R ", format(getRversion()), "\n", sep = "")'
"$go" build -o "$dir/bam" ./benchmarks/bam
for n in "$rows" "$exact"; do
	[ "$n" = 0 ] || [ -f "$dir/$n" ] || "$dir/bam" -rows "$n" -write "$dir/$n"
done
for basis in ${BASES:-ps:20 tp:9}; do
	IFS=: read -r bs k <<<"$basis"
	[ "$rows" = 0 ] || "$rscript" benchmarks/bam/peer.R "$dir/bam" "$dir/$rows" "$rows" "$bs" "$k" "${ROUNDS:-3}" discrete
	[ "$exact" = 0 ] || "$rscript" benchmarks/bam/peer.R "$dir/bam" "$dir/$exact" "$exact" "$bs" "$k" 1 exact
done
