#!/usr/bin/env bash
# check-wheels.sh DIR: what make wheels left in dist/. Its contents (python/check_wheels.py)
# and the packagers' checkers; then the wheel of this machine, installed without an index in a
# fresh environment with nothing else (python/tests/smoke.py) and in one with the pinned
# peers, where all tests run; then the same short test after a compilation from the source distribution.
# Environments with packages of the index are kept in DIR. PYTHON makes them, 3.11 or later;
# PYTHONS are further interpreters for the short test; TORCH=no leaves PyTorch out.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=${1:?usage: check-wheels.sh DIR}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
python=${PYTHON:-python3}
dist=$PWD/dist
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PHO_BINARY PYTHONPATH PHO_WHEEL_BINARY PHO_WHEEL_TAG

"$python" python/check_wheels.py ${SOME:+--some} "$dist"

tools=$dir/wheels
if ! cmp -s python/requirements-wheels.txt "$tools/installed"; then
    rm -rf "$tools"
    "$python" -m venv "$tools"
    "$tools/bin/python" -m pip install -q --disable-pip-version-check -r python/requirements-wheels.txt
    cp python/requirements-wheels.txt "$tools/installed"
fi
"$tools/bin/twine" --no-color check --strict "$dist"/pho_go-*
"$tools/bin/check-wheel-contents" "$dist"/pho_go-*.whl
for wheel in "$dist"/pho_go-*linux*.whl; do
    PATH=$tools/bin:$PATH "$tools/bin/auditwheel" show "$wheel" >"$work/audit"
    grep -q 'requires no external shared libraries' "$work/audit" || { cat "$work/audit"; exit 1; }
done

# The tests without the tree: what is imported and run is the installed package.
cp -R python/tests python/examples python/README.md "$work"
fresh() { # NAME PYTHON: an environment with the wheel alone
    "$2" -m venv "$work/$1"
    "$work/$1/bin/python" -m pip install -q --disable-pip-version-check --no-index --find-links "$dist" --only-binary :all: pho-go
    (cd "$work" && "$work/$1/bin/python" tests/smoke.py)
}
fresh bare "$python"
for other in ${PYTHONS:-}; do fresh "other-$(basename "$other")" "$other"; done

# From the sources: hatchling comes from the checkers' environment, so nothing is fetched.
"$tools/bin/python" -m pip install -q --disable-pip-version-check --no-index --no-build-isolation --no-deps \
    --target "$work/compiled" "$dist"/pho_go-*.tar.gz
(cd "$work" && PHO_BINARY=$work/compiled/bin/pho PYTHONPATH=$work/compiled "$tools/bin/python" tests/smoke.py)

TORCH=${TORCH:-} PYTHON=$python ONLY_INSTALL=1 bash .ci/check-python.sh "$dir/python"
"$dir/python/bin/python" -m venv --system-site-packages "$work/peers"
# A venv of a venv sees the base's packages, not the first one's: they are named.
"$dir/python/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
    >"$("$work/peers/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/peers.pth"
"$work/peers/bin/python" -m pip install -q --disable-pip-version-check --no-index --find-links "$dist" --only-binary :all: pho-go
(cd "$work" && PHO_BINARY=$work/peers/bin/pho "$work/peers/bin/python" -m pytest -q -rs -p no:cacheprovider tests)
echo "check-wheels: passed"
