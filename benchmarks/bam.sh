#!/usr/bin/env bash
# bam.sh [ROWS [exact]]: PHOGAM-REML from zeta in memory next to mgcv's bam on the
# paper's ten functions, one table on stdout. Needs R with mgcv. "exact" runs bam
# without discretisation too (a minute for a million rows).
set -euo pipefail
cd "$(dirname "$0")/.."
export GOWORK=off
go=${GO:-go}
rscript=${RSCRIPT:-Rscript}
rows=${1:-1000000}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if ! "$rscript" -e 'library(mgcv)' >/dev/null 2>&1; then
	echo "bam: $rscript with mgcv is needed (Debian: r-base-core r-cran-mgcv; set RSCRIPT)" >&2
	exit 1
fi
echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1), $(nproc) processors; $("$go" version)"
"$go" build -o "$dir/bam" ./benchmarks/bam
"$dir/bam" -rows "$rows" -write "$dir/data"
for c in "ps 20" "tp 9"; do
	read -r bs k <<<"$c"
	"$dir/bam" -rows "$rows" -bs "$bs" -k "$k" >"$dir/ours"
	head -n 1 "$dir/ours"
	"$rscript" benchmarks/bam/peer.R "$dir/data" "$rows" "$bs" "$k" "$dir/ours" "${@:2}"
done
