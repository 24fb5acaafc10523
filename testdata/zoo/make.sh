#!/usr/bin/env bash
# make.sh DIR [script...]: writes the networks of testdata/zoo/networks anew, all of
# them or those of the named scripts (torch_dynamo, keras_zoo, ...). DIR gets a virtual
# environment for each requirements-*.txt, whose first line names its scripts; what is
# there is used as it is. Needs Python with venv, and the package index.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:?usage: make.sh DIR [script...]}
shift
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
export OMP_NUM_THREADS=1 PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1
for list in "$here"/requirements-*.txt; do
	name=$(basename "$list" .txt)
	python=$dir/${name#requirements-}/bin/python
	for script in $(sed -n '1s/^# //p' "$list" | tr -d ,); do
		if [ $# -gt 0 ] && [[ " $* " != *" $script "* ]]; then continue; fi
		if [ ! -x "$python" ]; then
			"${PYTHON:-python3}" -m venv "$dir/${name#requirements-}"
			"$python" -m pip install -q -r "$list"
		fi
		echo "$script"
		(cd "$dir" && "$python" "$here/$script.py")
	done
done
git -C "$here" --no-pager status --short -- networks
