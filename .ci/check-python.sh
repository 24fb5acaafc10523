#!/usr/bin/env bash
# check-python.sh DIR: the Python package with the command of this tree, bin/pho. Makes a
# virtual environment in DIR from the package index, of the versions that
# python/requirements-test.txt and -torch.txt pin (used again until they change), and runs
# ruff, mypy, pytest with the doctests and the README's snippet, and the notebook. PYTHON
# makes the environment, 3.11 or later; TORCH=no leaves PyTorch out, which is large: its
# tests are skipped then. Last come the blocks of Python in the documents.
# With --pin in place of DIR it writes the versions anew: the latest. PYTHON then needs uv.
set -euo pipefail
cd "$(dirname "$0")/../python"
python=${PYTHON:-python3}
if [ "${1:-}" = --pin ]; then
    for list in test torch; do
        "$python" -m uv pip compile -q --upgrade --no-header --no-annotate --universal --python-version 3.11 \
            "requirements-$list.in" -o "requirements-$list.txt"
    done
    exit
fi
dir=${1:?usage: check-python.sh DIR}
lists=(requirements-test.txt)
[ "${TORCH:-}" = no ] || lists+=(requirements-torch.txt)
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "check-python: the pinned versions need Python 3.11 or later; $python is $("$python" --version): set PYTHON"
    exit 1
}
if ! cat "${lists[@]}" | cmp -s - "$dir/installed"; then
    rm -rf "$dir"
    "$python" -m venv "$dir"
    for list in "${lists[@]}"; do "$dir/bin/python" -m pip install -q --disable-pip-version-check -r "$list"; done
    cat "${lists[@]}" >"$dir/installed"
fi
dir=$(cd "$dir" && pwd)
[ -z "${ONLY_INSTALL:-}" ] || exit 0
export PHO_BINARY=${PHO_BINARY:-$PWD/../bin/pho} PYTHONPATH=$PWD/src
"$dir/bin/python" -m ruff check .
"$dir/bin/python" -m mypy
"$dir/bin/python" -m pytest -q -rs --doctest-modules src tests
(cd ../tools && "${GO:-go}" run ./checkdocs -root .. -python "$dir/bin/python" -only-python)
