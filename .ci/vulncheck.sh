#!/usr/bin/env bash
# vulncheck.sh: whether the pure Go modules call anything with a known vulnerability, by
# the database of VULNDB (https://vuln.go.dev; file:///... is a copy of it). Where that
# cannot be reached nothing is known, and the check is skipped, said so.
set -euo pipefail
go=${GO:-go}
export GOWORK=off
db=${VULNDB:-https://vuln.go.dev}
cd "$(git -C "$(dirname "$0")" rev-parse --show-toplevel)"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$go" build -modfile=tools/go.mod -o "$dir/govulncheck" golang.org/x/vuln/cmd/govulncheck
for module in . benchmarks examples/paper; do
	if (cd "$module" && "$dir/govulncheck" -db "$db" ./...) >"$dir/log" 2>&1; then
		continue
	fi
	if grep -q '^govulncheck: fetching vulnerabilities' "$dir/log"; then
		echo "vulncheck: SKIPPED: the database $db cannot be reached: $(sed -n 's/^govulncheck: //p' "$dir/log" | head -n 1)"
		exit 0
	fi
	cat "$dir/log"
	echo "vulncheck: FAILED in the module $module"
	exit 1
done
echo "vulncheck: nothing with a known vulnerability is called"
