#!/usr/bin/env bash
# race.sh [TURNS]: the race detector on every package that starts goroutines, in its own
# files or in its tests, and on those that are promised to be safe for concurrent
# use. With TURNS it runs the tests whose names say that something runs at the same time, is
# stopped or is killed, those of files that start goroutines themselves, and one in TURNS of the
# others: those whose names, hashed with the commit, have their turn. So every commit takes other
# tests, and one commit always the same.
# Needs cgo and a C compiler, and says so where they are missing.
set -euo pipefail
turns=${1:-1}
go=${GO:-go}
export GOWORK=off
if [ "$("$go" env CGO_ENABLED)" != 1 ] || ! command -v "$("$go" env CC)" >/dev/null; then
	echo "race: SKIPPED: the race detector needs cgo and a C compiler (CC)"
	exit 0
fi
# Safe for concurrent use by their comments, or sharing out work, whether or not a file says `go`.
promised="basis data decompose decompose/internal/moments importance internal/base/linalg nam adapters/onnx adapters/native"
starts='^[[:space:]]*go (func|[A-Za-z_.]+\()|\.Go\(func'
started=$(git ls-files '*.go' | xargs grep -lE "$starts|t\.Parallel\(\)" | xargs -n 1 dirname)
some=.
if [ "$turns" -gt 1 ]; then
	commit=$(git rev-parse HEAD 2>/dev/null || echo none)
	some='Worker|Concurren|Parallel|Cancel|Stop|Kill|Processors'
	tests() { xargs grep -hoE '^func (Test|Example)[A-Za-z0-9_]+' | cut -d' ' -f2 | sort -u; }
	for name in $(git ls-files '*_test.go' | xargs grep -lE "$starts" | tests); do some+="|^$name\$"; done
	for name in $(git ls-files '*_test.go' | tests); do
		if [ $((0x$(printf '%s %s' "$commit" "$name" | sha256sum | cut -c1-8) % turns)) = 0 ]; then some+="|^$name\$"; fi
	done
fi
# race MODULE: those of the packages on stdin, by the module's own go.mod.
race() {
	local packages
	packages=$(sort -u | sed "s#^$1/##; s#^#./#")
	echo "cd $1 && $go test -race -vet=off -short" $packages
	(cd "$1" && "$go" test -race -vet=off -short -run "$some" $packages)
}
# What is below another go.mod is not of the main module.
others=$(git ls-files '*/go.mod' | xargs -n 1 dirname | paste -sd '|')
printf '%s\n' $promised $started | grep -vE "^($others|internal/base/kernel/gen)(/|\$)" | race .
printf '%s\n' $started | grep '^examples/paper/' | race examples/paper
