#!/usr/bin/env bash
# modules.sh: verifies, vets, builds and tests every module of the repository but the
# main one, each by its own go.mod.
set -euo pipefail
go=${GO:-go}
export GOWORK=off
root=$(git rev-parse --show-toplevel)
count=0 skipped=
for mod in $(git -C "$root" ls-files '*/go.mod'); do
	dir=${mod%/go.mod}
	echo "== $dir"
	cd "$root/$dir"
	if grep -q yalue/onnxruntime_go go.mod && { [ "$("$go" env CGO_ENABLED)" != 1 ] || ! command -v "$("$go" env CC)" >/dev/null; }; then
		echo "check-modules: SKIPPED $dir: it needs cgo and a C compiler (CC)"
		skipped=" but $dir"
		continue
	fi
	"$go" mod verify >/dev/null
	"$go" vet ./...
	"$go" build -o /dev/null ./...
	if [ "$dir" = report/browsertest ]; then # its tests open files that go's cache of tests does not know
		"$go" test -count=1 ./...
		[ -n "${PHO_CHROMIUM:-}" ] || command -v chromium chromium-browser google-chrome google-chrome-stable chrome >/dev/null ||
			echo "check-modules: SKIPPED the tests of $dir: no Chromium; PHO_CHROMIUM names one"
	else
		"$go" test ./...
	fi
	if [ "$dir" = adapters/onnx/ort ] && [ -z "${ORT_DYLIB_PATH:-}" ]; then
		echo "check-modules: SKIPPED where no ONNX Runtime is found: the tests of $dir; ORT_DYLIB_PATH names its library"
	fi
	count=$((count + 1))
done
echo "check-modules: $count modules passed$skipped"
