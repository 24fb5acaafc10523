#!/usr/bin/env bash
# fuzz.sh SECONDS: finds every fuzz target of the module and runs each for its
# share of the seconds, at least one. A failing input is kept by go test under
# the package's testdata/fuzz.
set -euo pipefail
total=$1
go=${GO:-go}

# go test -list prints the names of a package, then its "ok" line.
list=$("$go" test -list '^Fuzz' ./...) || { echo "$list"; exit 1; }
targets=$(awk '/^Fuzz/ { name[n++] = $1 } /^ok/ { for (i = 0; i < n; i++) print name[i], $2; n = 0 }' <<<"$list")
if [ -z "$targets" ]; then
	echo "fuzz: no targets"
	exit 0
fi
count=$(wc -l <<<"$targets")
share=$((total / count > 0 ? total / count : 1))
# Inputs that are new are not made smaller first: with a second for each target nothing
# else would be done.
while read -r name pkg; do
	echo "$go test -run ^\$ -fuzz ^$name\$ -fuzztime ${share}s $pkg"
	if ! out=$("$go" test -run '^$' -fuzz "^$name\$" -fuzztime "${share}s" -fuzzminimizetime 1x "$pkg" </dev/null 2>&1); then
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
echo "fuzz: $count targets, $share s each"
