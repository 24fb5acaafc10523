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

# go test -list prints the names of a package, then its "ok" line.
list=$("$go" test -list '^Fuzz' ./...) || { echo "$list"; exit 1; }
targets=$(awk '/^Fuzz/ { name[n++] = $1 } /^ok/ { for (i = 0; i < n; i++) print name[i], $2; n = 0 }' <<<"$list")
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
	if ! out=$("$go" test -run '^$' -fuzz "^$name\$" -fuzztime "${share}s" -fuzzminimizetime "$minimize" "$pkg" </dev/null 2>&1); then
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
