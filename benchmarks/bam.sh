#!/usr/bin/env bash
# bam.sh [ROWS]: PHOGAM-REML from zeta in memory (ranges, knots, moments,
# smoothing parameters) next to mgcv's bam on the paper's ten functions, in turns: with
# discretisation and two threads at ROWS (1000000) rows, ROUNDS (3) times, and exact once,
# which takes a minute for a million rows. Prints rows of
#   case, ours, peer, ratio, answer difference
# separated by tabs: medians and ranges. BASES="ps:20:1000000 tp:9:200000" are the bases,
# their columns, and the rows for exact bam (0: not run). Needs R with mgcv (RSCRIPT).
set -euo pipefail
cd "$(dirname "$0")/.."
export GOWORK=off
go=${GO:-go}
rscript=${RSCRIPT:-Rscript}
rows=${1:-1000000}
bases=${BASES:-ps:20:1000000 tp:9:200000}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if ! "$rscript" -e 'library(mgcv)' >/dev/null 2>&1; then
	echo "bam: $rscript with mgcv is needed (Debian: r-base-core r-cran-mgcv; set RSCRIPT)" >&2
	exit 1
fi
"$rscript" -e 'cat("version\tmgcv ", format(packageVersion("mgcv")), " on R ", format(getRversion()), "\n", sep = "")'
"$go" build -o "$dir/bam" ./benchmarks/bam
compare() { # BASIS COLUMNS ROWS ROUNDS discrete|exact
	[ "$3" != 0 ] || return 0
	[ -f "$dir/$3" ] || "$dir/bam" -rows "$3" -write "$dir/$3"
	"$rscript" benchmarks/bam/peer.R "$dir/bam" "$dir/$3" "$3" "$1" "$2" "$4" "$5"
}
for basis in $bases; do
	IFS=: read -r bs k exact <<<"$basis"
	compare "$bs" "$k" "$rows" "${ROUNDS:-3}" discrete
	compare "$bs" "$k" "$exact" 1 exact
done
