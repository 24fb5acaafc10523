#!/usr/bin/env bash
# golden.sh: runs every generator testdata/golden/*.R and *.py of the module
# from its root. Each writes its own files and says which tools made them.
set -euo pipefail
rscript=${RSCRIPT:-Rscript}
python=${PYTHON:-python3}

missing=()
r=$(git ls-files '*testdata/golden/*.R')
py=$(git ls-files '*testdata/golden/*.py')
if [ -n "$r" ]; then
	if ! command -v "$rscript" >/dev/null; then
		missing+=("R ($rscript): Debian r-base-core")
	else
		for p in mgcv statmod pscl survival; do
			"$rscript" -e "stopifnot(requireNamespace('$p', quietly = TRUE))" >/dev/null 2>&1 || missing+=("the R package $p: Debian r-cran-$p")
		done
	fi
fi
if [ -n "$py" ]; then
	if ! command -v "$python" >/dev/null; then
		missing+=("Python ($python): Debian python3, or set PYTHON")
	else
		for m in numpy torch onnx onnxruntime mpmath; do
			"$python" -c "import $m" >/dev/null 2>&1 || missing+=("the Python module $m for $python: Debian python3-$m, or PyPI")
		done
	fi
fi
if [ ${#missing[@]} -gt 0 ]; then
	echo "golden: the generators cannot run; missing:"
	printf '  %s\n' "${missing[@]}"
	exit 1
fi
for f in $r; do echo "$rscript $f"; "$rscript" "$f"; done
for f in $py; do echo "$python $f"; "$python" "$f"; done
git --no-pager diff --stat -- '*testdata/*'
