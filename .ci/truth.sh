#!/usr/bin/env bash
# truth.sh DIR: pho with no options, and its peers, next to networks whose function is known
# (benchmarks/truth); writes its results.jsonl, and docs/truth.md and tables.md. pho is built in a clone of
# HEAD, so that the commit on the page holds what was measured. Goes on where it was interrupted:
# cells are kept in bin/truth, and what results.jsonl has counts as well. The rows of a new commit
# of pho are made anew, those of peers stay. Makes a virtual environment in DIR from the package
# index, of the versions that benchmarks/truth/requirements.txt pins (used again until they change).
# PYTHON makes it, 3.11 or later; RSCRIPT has mgcv and jsonlite. QUICK=1: eight networks of 500 rows,
# into bin/truth-quick alone. ONLY=pho or peers, NETWORK and METHODS (regular expressions): a part.
# With --pin in place of DIR it writes the versions anew: the latest. PYTHON then needs uv.
set -euo pipefail
root=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
cd "$root"
python=${PYTHON:-python3} rscript=${RSCRIPT:-Rscript} go=${GO:-go}
export GOWORK=off OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 GOMAXPROCS=1
list=benchmarks/truth/requirements
if [ "${1:-}" = --pin ]; then
	"$python" -m uv pip compile -q --upgrade --no-header --no-annotate --universal --python-version 3.11 "$list.in" -o "$list.txt"
	exit
fi
dir=${1:?usage: truth.sh DIR}
if ! "$rscript" -e 'stopifnot(requireNamespace("mgcv", quietly = TRUE), requireNamespace("jsonlite", quietly = TRUE))' >/dev/null 2>&1; then
	echo "truth: needs R ($rscript) with mgcv and jsonlite (Debian: r-cran-mgcv r-cran-jsonlite)" >&2
	exit 1
fi
if ! cmp -s "$list.txt" "$dir/installed"; then
	rm -rf "$dir"
	"$python" -m venv "$dir"
	"$dir/bin/python" -m pip install -q --disable-pip-version-check -r "$list.txt"
	cp "$list.txt" "$dir/installed"
fi
dir=$(cd "$dir" && pwd)
if [ -n "$(git status --porcelain -- . ':!docs' ':!benchmarks/truth/results.jsonl')" ]; then
	echo "truth: note: what is not committed is not measured"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone -q "$root" "$work/tree"
(cd "$work/tree" && "$go" build -trimpath -buildvcs=true -o "$work/pho" ./cmd/pho)
out=$root/bin/truth${QUICK:+-quick}
judge=$work/tree/benchmarks/truth
export PYTHONDONTWRITEBYTECODE=1
"$dir/bin/python" "$judge/truth.py" --pho "$work/pho" --rscript "$rscript" --out "$out" --earlier benchmarks/truth/results.jsonl \
	${QUICK:+--quick} ${ONLY:+--only "$ONLY"} --network "${NETWORK:-}" --methods "${METHODS:-}"
if [ -n "${QUICK:-}" ]; then
	"$dir/bin/python" "$judge/page.py" --draft "$out/results.jsonl" "$out/truth.md" "$out/tables.md"
	echo "truth: $out/truth.md"
	exit
fi
cp "$out/results.jsonl" benchmarks/truth/results.jsonl
[ -n "${ONLY:-}${NETWORK:-}${METHODS:-}" ] || "$dir/bin/python" "$judge/page.py" benchmarks/truth/results.jsonl docs/truth.md benchmarks/truth/tables.md
