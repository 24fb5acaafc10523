#!/usr/bin/env bash
# report.sh: the pages that pho writes in headless Chromium (report/browsertest). axe-core
# comes from npm where that is, pinned here; without it its rules are not tested.
set -euo pipefail
go=${GO:-go}
export GOWORK=off
axe=axe-core@4.14.1
cd "$(dirname "$0")/.."
if [ -z "${PHO_AXE:-}" ]; then
	folder=$PWD/bin/$axe
	PHO_AXE=$folder/node_modules/axe-core/axe.min.js
	if [ ! -f "$PHO_AXE" ] && command -v npm >/dev/null; then
		npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$folder" "$axe" || true
	fi
	[ -f "$PHO_AXE" ] || { echo "check-report: SKIPPED the rules of axe-core: npm did not bring it; PHO_AXE names axe.min.js"; PHO_AXE=; }
	export PHO_AXE
fi
if [ -n "${SCREENSHOTS:-}" ]; then
	mkdir -p "$SCREENSHOTS"
	PHO_SCREENSHOTS=$(cd "$SCREENSHOTS" && pwd)
	export PHO_SCREENSHOTS
fi
cd report/browsertest
# What the tests open is not among the files that go's cache of tests knows: -count=1.
"$go" test -count=1 -timeout 20m -v ./... | grep -Ev '^ *(=== |--- PASS)' | sed -E 's/^( *)--- SKIP: /\1check-report: SKIPPED /'
