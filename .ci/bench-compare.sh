#!/usr/bin/env bash
# bench-compare.sh BASE BENCH PKG: the benchmarks of the working tree against
# those of the commit BASE, six runs each in turn, compared by benchstat.
set -euo pipefail
base=$1 bench=$2 pkg=$3
go=${GO:-go}
root=$(git rev-parse --show-toplevel)
dir=$(mktemp -d)
trap 'git -C "$root" worktree remove --force "$dir/base" 2>/dev/null || true; rm -rf "$dir"' EXIT
git -C "$root" worktree add -q --detach "$dir/base" "$base"
for _ in 1 2 3 4 5 6; do # in turn, so that a slow minute hits both
	(cd "$dir/base" && "$go" test -run '^$' -bench "$bench" -benchmem "$pkg") >>"$dir/old.txt"
	(cd "$root" && "$go" test -run '^$' -bench "$bench" -benchmem "$pkg") >>"$dir/new.txt"
done
cd "$root"
"$go" tool -modfile=tools/go.mod benchstat base="$dir/old.txt" tree="$dir/new.txt"
