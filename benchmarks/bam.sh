#!/usr/bin/env bash
# bam.sh [ROWS]: PHOGAM-REML from zeta in memory (ranges, knots, moments,
# smoothing parameters) next to mgcv's bam on the paper's ten functions, in turns: with
# discretisation at ROWS (1000000) rows, ROUNDS (3) times, and exact once, which takes
# half a minute for a million rows. bam is called as it is fastest: with one or two
# threads or processes, QR or use.chol, and OpenBLAS with one or two threads and the code
# of several processors: the latter is decided on PROBE (30000) rows. Prints rows of
#   case, ours, peer and its setting, ratio, answer difference
# separated by tabs: medians and ranges. BASES="ps:20:1000000 tp:9:200000" are the bases,
# their columns, and the rows for exact bam (0: not run). Needs R with mgcv (RSCRIPT).
set -euo pipefail
cd "$(dirname "$0")/.."
export GOWORK=off
go=${GO:-go}
rscript=${RSCRIPT:-Rscript}
rows=${1:-1000000}
probe=${PROBE:-30000}
bases=${BASES:-ps:20:1000000 tp:9:200000}
source benchmarks/blas/settings.bash
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if ! "$rscript" -e 'library(mgcv)' >/dev/null 2>&1; then
	echo "bam: $rscript with mgcv is needed (Debian: r-base-core r-cran-mgcv; set RSCRIPT)" >&2
	exit 1
fi
"$rscript" -e 'cat("version\tmgcv ", format(packageVersion("mgcv")), " on R ", format(getRversion()), " with ", basename(La_library()), "\n", sep = "")'
"$go" build -C benchmarks -o "$dir/bam" ./bam
compare() { # BASIS COLUMNS ROWS ROUNDS discrete|exact
	local core threads seconds way
	[ "$3" != 0 ] || return 0
	for n in "$probe" "$3"; do
		[ -f "$dir/$n" ] || "$dir/bam" -rows "$n" -write "$dir/$n"
	done
	echo "bam $5, $1 k=$2: OPENBLAS_CORETYPE and threads, seconds, way"
	read -r core threads seconds way < <(fastest_way \
		"$rscript benchmarks/bam/peer.R probe $dir/$probe $probe $1 $2 $5" \
		"$rscript benchmarks/bam/peer.R probe $dir/$3 $3 $1 $2 $5")
	with_blas "$core" "$threads" "$rscript" benchmarks/bam/peer.R "$dir/$3" "$3" "$1" "$2" "$5" "$dir/bam" "$4" "$way" "$(blas_name "$core" "$threads")"
}
for basis in $bases; do
	IFS=: read -r bs k exact <<<"$basis"
	compare "$bs" "$k" "$rows" "${ROUNDS:-3}" discrete
	compare "$bs" "$k" "$exact" 1 exact
done
