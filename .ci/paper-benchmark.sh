#!/usr/bin/env bash
# paper-benchmark.sh [TIME]: a sitting of the benchmark of examples/paper, in which no
# task begins after TIME (2h). It is built in a clone of one commit, so that the commit
# in its results holds the program: that of the journal an earlier sitting has left,
# else HEAD. Fails while tasks are left; the last sitting writes the results and puts
# them into examples/paper/README.md.
set -euo pipefail
root=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
cd "$root"
export GOWORK=off
go=${GO:-go}
journal=examples/paper/results/benchmark.unfinished.jsonl
commit=$(git rev-parse HEAD)
if [ -s "$journal" ]; then
	commit=$(sed -n '1s/.*"commit":"\([0-9a-f]*\)".*/\1/p' "$journal")
	echo "paper-benchmark: goes on with $journal, of commit $commit"
elif [ -n "$(git status --porcelain -- . ':!docs')" ]; then
	echo "paper-benchmark: note: what is not committed does not take part"
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
git clone -q "$root" "$dir/tree"
git -C "$dir/tree" checkout -q --detach "$commit"
# Commits before the programs had a module of their own are built, and find their
# files, from the root.
module=examples/paper
[ -f "$dir/tree/$module/go.mod" ] || module=.
(cd "$dir/tree" && "$go" build -C "$module" -buildvcs=true -o "$dir/benchmark" "$([ "$module" = . ] && echo ./examples/paper/benchmark || echo ./benchmark)")
export PHO_DATA
PHO_DATA=$(realpath -m "${PHO_DATA:-../shared/data}")
(cd "$module" && "$dir/benchmark" -for "${1:-2h}")
cd examples/paper
"$go" test ./benchmark -run '^TestPage$' -count=1 -update-docs
