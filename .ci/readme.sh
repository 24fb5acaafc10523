#!/usr/bin/env bash
# readme.sh: runs the commands of README.md in a fresh clone of HEAD, and compiles its
# Go. A command is a line of a fenced sh block that stands right below a line
# <!-- check -->, and so do the go blocks: statements that know ctx, context, fmt and pho.
set -euo pipefail
root=$(git rev-parse --show-toplevel)
if ! git -C "$root" cat-file -e HEAD:README.md 2>/dev/null; then
	echo "readme: HEAD has no README.md"
	exit 1
fi
if [ -n "$(git -C "$root" status --porcelain)" ]; then
	echo "readme: note: what is not committed is not in the clone"
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
git clone -q "$root" "$dir/clone"
cd "$dir/clone"
awk '/^```/ { if (inside) inside = 0; else if (marked && /^```sh *$/) inside = 1; marked = 0; next }
     inside && NF { print; next }
     { marked = /^<!-- check -->$/ }' README.md >"$dir/commands"
if [ ! -s "$dir/commands" ]; then
	echo "readme: no sh block of README.md is marked <!-- check -->"
	exit 1
fi
count=0
while IFS= read -r command <&3; do
	echo "\$ $command"
	bash -euo pipefail -c "$command" </dev/null || { echo "readme: FAILED: $command"; exit 1; }
	count=$((count + 1))
done 3<"$dir/commands"
mkdir "$dir/clone/readme"
{
	printf 'package main\n\nimport (\n"context"\n"fmt"\n"github.com/pho-go/pho"\n)\n\nfunc main() {\nctx := context.Background()\n'
	awk '/^```/ { if (inside) inside = 0; else if (marked && /^```go *$/) inside = 1; marked = 0; next }
	     inside { print; next }
	     { marked = /^<!-- check -->$/ }' README.md
	printf '_ = err\n}\n'
} >readme/main.go
"${GO:-go}" vet ./readme || { echo "readme: FAILED: the Go of README.md does not compile"; exit 1; }
echo "readme: $count commands passed in a fresh clone, and the Go compiles"
