#!/usr/bin/env bash
# modules.sh: vets and tests every module of the repository but the main one, each by
# its own go.mod.
set -euo pipefail
go=${GO:-go}
export GOWORK=off
root=$(git rev-parse --show-toplevel)
count=0
for mod in $(git -C "$root" ls-files '*/go.mod'); do
	dir=${mod%/go.mod}
	echo "== $dir"
	(cd "$root/$dir" && "$go" mod verify >/dev/null && "$go" vet ./... && "$go" test ./...)
	count=$((count + 1))
done
echo "check-modules: $count modules passed"
