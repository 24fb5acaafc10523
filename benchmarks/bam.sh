#!/usr/bin/env bash
# bam.sh [ROWS]: PHOGAM-REML from zeta in memory (levels, ranges, knots, moments,
# smoothing parameters, standard errors by the projection) next to mgcv's bam, in turns:
# on the paper's ten functions with discretisation at ROWS (1000000) rows, ROUNDS (3)
# times, and exact once, which takes half a minute for a million rows; and with factors of
# many levels at FACTORROWS (500000) rows with discretisation, terms compared with exact
# bam's on few rows; then also what the default bands add to the last pass, next to a pass of the
# moments. bam is called as it is fastest: with one or two
# threads or processes, QR or use.chol, and OpenBLAS with one or two threads and the code
# of several processors: the latter is decided on PROBE rows. Prints rows of
#   case, ours, peer and its setting, ratio, answer difference
# separated by tabs: medians and ranges. BASES="ps:20:1000000 tp:9:200000" are the bases,
# their columns, and the rows for exact bam (0: not run); CASES="factor by fs" those with
# factors. Behind each case stands what a fit must cost at least on this machine (bound.go). Needs R with mgcv (RSCRIPT).
set -euo pipefail
cd "$(dirname "$0")/.."
export GOWORK=off
go=${GO:-go}
rscript=${RSCRIPT:-Rscript}
rows=${1:-1000000}
probe=${PROBE:-30000}
bases=${BASES-ps:20:1000000 tp:9:200000}
cases=${CASES-factor by fs levels slopes plane}
source benchmarks/blas/settings.bash
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if ! "$rscript" -e 'library(mgcv)' >/dev/null 2>&1; then
	echo "bam: $rscript with mgcv is needed (Debian: r-base-core r-cran-mgcv; set RSCRIPT)" >&2
	exit 1
fi
"$rscript" -e 'cat("version\tmgcv ", format(packageVersion("mgcv")), " on R ", format(getRversion()), " with ", basename(La_library()), "\n", sep = "")'
"$go" build -C benchmarks -o "$dir/bam" ./bam
compare() { # CASE ROWS ROUNDS discrete|exact
	# Few rows: of more than 10000 bam takes a sample for its bases and the scales of
	# penalties, and of more than 2000 points both sides make thin plates of some.
	local core threads seconds way data=$dir/${1%%:*} few=10000
	case $1 in factor|plane) few=2000 ;; esac
	[ "$2" != 0 ] || return 0
	for n in "$few" "$probe" "$2"; do
		[ -f "$data.$n" ] || "$dir/bam" -case "${1%%:*}" -rows "$n" -write "$data.$n"
	done
	echo "bam $4, $1: OPENBLAS_CORETYPE and threads, seconds, way"
	read -r core threads seconds way < <(fastest_way \
		"$rscript benchmarks/bam/peer.R probe $1 $data.$probe $probe $4" \
		"$rscript benchmarks/bam/peer.R probe $1 $data.$2 $2 $4")
	with_blas "$core" "$threads" "$rscript" benchmarks/bam/peer.R "$1" "$data.$2" "$2" "$4" "$dir/bam" "$3" "$way" \
		"$(blas_name "$core" "$threads")" "$data.$few" "$few"
	[ "$4" = exact ] || bound "$1" "$data.$2" "$2"
}
bound() { # CASE DATA ROWS
	local case bs k knots=0
	IFS=: read -r case bs k <<<"$1"
	case $1 in ten:tp*|factor|plane) knots=500 ;; esac
	"$dir/bam" -case "$case" ${bs:+-bs "$bs" -k "$k"} -knots "$knots" -data "$2" -rows "$3" -rounds 3 -bound | grep -v '^term\|^sp'
}
for basis in $bases; do
	IFS=: read -r bs k exact <<<"$basis"
	compare "ten:$bs:$k" "$rows" "${ROUNDS:-3}" discrete
	compare "ten:$bs:$k" "$exact" 1 exact
done
for case in $cases; do
	compare "$case" "${FACTORROWS:-500000}" "${ROUNDS:-3}" discrete
done
