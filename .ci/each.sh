#!/usr/bin/env bash
# each.sh COMMAND ...: runs a command in the root of every module that is pure Go: the
# main one, then the programs in modules of their own, which see its internal packages.
# MODULES="benchmarks" names others. What needs a C compiler or is a tool is left to
# modules.sh.
set -euo pipefail
export GOWORK=off
cd "$(dirname "$0")/.."
for module in ${MODULES:-. benchmarks examples/paper}; do
	(cd "$module" && "$@") || { echo "in the module $module: $*" >&2; exit 1; }
done
