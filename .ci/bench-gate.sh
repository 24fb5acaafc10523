#!/usr/bin/env bash
# bench-gate.sh BASE BENCH PKG: the benchmarks of the working tree against those
# of the commit BASE, six runs each in turn, compared by benchstat. Fails if a
# time per operation has grown by more than 15 % (GATE), significantly.
set -euo pipefail
base=$1 bench=$2 pkg=$3
go=${GO:-go}
gate=${GATE:-15}
root=$(git rev-parse --show-toplevel)
dir=$(mktemp -d)
trap 'git -C "$root" worktree remove --force "$dir/base" 2>/dev/null || true; rm -rf "$dir"' EXIT
git -C "$root" worktree add -q --detach "$dir/base" "$base"
for _ in 1 2 3 4 5 6; do # in turn, so that a slow minute hits both
	(cd "$dir/base" && "$go" test -run '^$' -bench "$bench" -benchmem "$pkg") >>"$dir/old.txt"
	(cd "$root" && "$go" test -run '^$' -bench "$bench" -benchmem "$pkg") >>"$dir/new.txt"
done
cd "$root"
stat() { "$go" tool -modfile=tools/go.mod benchstat "$@" base="$dir/old.txt" tree="$dir/new.txt"; }
stat
# CSV: name, base, CI, tree, CI, vs base ("+12.34%" or "~"), p; a header names the unit.
stat -format csv 2>/dev/null | awk -F, -v gate="$gate" '
	$2 ~ /\/op$|\/s$/ { unit = $2; next }
	unit == "sec/op" && $6 ~ /^\+/ { grown = substr($6, 2) + 0; if ($1 != "geomean" && grown > gate) { print "bench-gate: " $1 " takes " $6 " more time"; bad = 1 } }
	END { exit bad }'
