#!/usr/bin/env bash
# readme.sh: the commands that README.md begins with, in a fresh clone: it is cloned, and its first
# command runs. Its second, make test, is looked at alone: its tests are some of make test-long's, which
# make check runs.
set -euo pipefail
export GOWORK=off
root=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
mapfile -t commands < <(awk '/^```/ { if (inside) exit; inside = 1; next } inside { sub(/ *#.*/, ""); print }' "$root/README.md")
[[ ${#commands[@]} = 3 && ${commands[0]} = "git clone "*" && cd pho" && ${commands[2]} = "make test" ]] || {
	printf 'readme: README.md is to begin with a clone, one command that runs the main job, and make test; it has\n'
	printf '  %s\n' "${commands[@]}"
	exit 1
}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
git clone -q "$root" "$dir/pho"
cd "$dir/pho"
grep -qE ' test -vet=off -short \./\.\.\.$' <<<"$(make -n test)" || { echo "readme: make test does not run the tests of the main module"; exit 1; }
bash -ec "${commands[1]}" >"$dir/said" || { cat "$dir/said"; echo "readme: FAILED: ${commands[1]}"; exit 1; }
[ -s pho-demo/nam/report.html ] || { echo "readme: ${commands[1]} left no pho-demo/nam/report.html"; exit 1; }
echo "readme: ${commands[1]}: ran in a fresh clone"
