#!/usr/bin/env bash
# fuzz.sh SECONDS [LEAST]: runs the fuzz targets of the module for SECONDS in all, each
# for an equal share of at least LEAST seconds (10). If the time does not last for all
# of them, a part has its turn: those whose names, hashed with the commit, come first.
# So every commit takes other targets, and one commit always the same. A failing input
# is kept by go test under the package's testdata/fuzz.
set -euo pipefail
total=$1
least=${2:-10}
go=${GO:-go}

# By the files: go test -list would link the tests of every package to say the same.
others=$(git ls-files '*/go.mod' | xargs -n 1 dirname | paste -sd '|') # modules of their own
targets=$(git grep --untracked -oE '^func Fuzz[A-Za-z0-9_]+' -- '*_test.go' | grep -vE "^($others)/" |
	sed -E 's#^(.*):func (.*)#\2 ./\1#; s#/[^/]*$##' || true)
if [ -z "$targets" ]; then
	echo "fuzz: no targets"
	exit 0
fi
count=$(wc -l <<<"$targets")
turns=$((total / least))
if [ "$turns" -lt 1 ]; then turns=1; fi
if [ "$turns" -lt "$count" ]; then
	commit=$(git rev-parse HEAD 2>/dev/null || echo none)
	targets=$(while read -r name pkg; do
		echo "$(printf '%s %s %s' "$commit" "$name" "$pkg" | sha256sum | cut -c1-16) $name $pkg"
	done <<<"$targets" | sort | head -n "$turns" | cut -d' ' -f2-)
else
	turns=$count
fi
share=$((total / turns > 0 ? total / turns : 1))
# In a short share, inputs that are new are not made smaller first: nothing else would
# be done.
minimize=1x
if [ "$share" -ge 60 ]; then minimize=10s; fi
while read -r name pkg; do
	echo "$go test -run ^\$ -fuzz ^$name\$ -fuzztime ${share}s $pkg"
	if ! out=$("$go" test -vet=off -run '^$' -fuzz "^$name\$" -fuzztime "${share}s" -fuzzminimizetime "$minimize" "$pkg" </dev/null 2>&1); then
		# On a busy machine a worker can miss the end of its time; that is no finding.
		if grep -q 'context deadline exceeded' <<<"$out" && ! grep -qE 'Failing input|panic|fuzzing process' <<<"$out"; then
			echo "  time ran out while an input was running"
			continue
		fi
		echo "$out"
		exit 1
	fi
	grep 'execs:' <<<"$out" | tail -n 1 || true
done <<<"$targets"
echo "fuzz: $turns of $count targets, $share s each"
