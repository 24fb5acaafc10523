#!/usr/bin/env bash
# Wheels of the Python package with the program inside, for every platform, and a source
# distribution with the Go sources of the program: dist/pho_go-*. GO is the compiler, PYTHON an
# interpreter with hatchling. The program is static; the helper beside it, which loads ONNX Runtime, needs
# glibc on Linux, so wheels for musl come without. With TWICE=1 all is built again elsewhere, and the bytes are
# compared; PLATFORMS="linux/amd64" builds these wheels alone.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
python=${PYTHON:-python3}
only=${PLATFORMS:-}
"$python" -c 'import hatchling' 2>/dev/null || {
    echo "wheels: $python has no hatchling: pip install hatchling, or set PYTHON"
    exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GOWORK=off GOFLAGS= CGO_ENABLED=0 GOAMD64=v1 GOARM64=v8.0
# The time of every file in the archives.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 1580601600)
export SOURCE_DATE_EPOCH

# project DIR: python/ as a project that stands on its own.
project() {
    mkdir -p "$1"
    cp -R python/src python/tests python/pyproject.toml python/build_hook.py python/README.md LICENSE "$1"
    find "$1" -name __pycache__ -prune -exec rm -rf {} +
}

# wheel OUT OS ARCH TAG
wheel() {
    local at=$work/$2-$3-$4 name=pho
    [ "$2" != windows ] || name=pho.exe
    rm -rf "$at"
    project "$at/python"
    local helper=$at/${name/pho/pho-ort}
    GOOS=$2 GOARCH=$3 "$go" build -trimpath -ldflags='-s -w' -o "$at/$name" ./cmd/pho
    if [[ $4 == *musllinux* ]]; then helper=; else
        GOOS=$2 GOARCH=$3 "$go" build -C adapters/onnx/ort -trimpath -ldflags='-s -w' -o "$helper" ./cmd/pho-ort
    fi
    (cd tools && "$go" run ./release -root .. -licences "$2/$3") >"$at/python/THIRD_PARTY_LICENSES.txt"
    (cd "$at/python" && PHO_WHEEL_BINARY="$at/$name" PHO_WHEEL_HELPER="$helper" PHO_WHEEL_TAG=$4 "$python" -m hatchling build -t wheel -d "$1" >/dev/null)
}

# sources: the files that the program is compiled from, on any platform.
sources() {
    local os
    for os in linux darwin windows; do
        GOOS=$os "$go" list -deps -f '{{if .Module}}{{if .Module.Main}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}
{{end}}{{range .IgnoredGoFiles}}{{$d}}/{{.}}
{{end}}{{range .SFiles}}{{$d}}/{{.}}
{{end}}{{range .HFiles}}{{$d}}/{{.}}
{{end}}{{range .IgnoredOtherFiles}}{{$d}}/{{.}}
{{end}}{{range .EmbedFiles}}{{$d}}/{{.}}
{{end}}{{end}}{{end}}' ./cmd/pho
    done | sed "s#^$PWD/##" | grep -v -e '_test\.go$' -e '^$' | sort -u
    printf '%s\n' go.mod go.sum
}

# sdist OUT
sdist() {
    local at=$work/sdist
    rm -rf "$at"
    project "$at"
    sources | while read -r file; do
        mkdir -p "$at/go/$(dirname "$file")"
        cp "$file" "$at/go/$file"
    done
    (cd "$at" && "$python" -m hatchling build -t sdist -d "$1" >/dev/null)
}

# build OUT
build() {
    mkdir -p "$1"
    rm -f "$1"/pho_go-*
    local os arch tag
    while read -r os arch tag; do
        [ -z "$only" ] || [[ " $only " == *" $os/$arch "* ]] || continue
        wheel "$1" "$os" "$arch" "$tag"
    done <<'PLATFORMS'
linux amd64 manylinux_2_17_x86_64.manylinux2014_x86_64
linux amd64 musllinux_1_1_x86_64
linux arm64 manylinux_2_17_aarch64.manylinux2014_aarch64
linux arm64 musllinux_1_1_aarch64
darwin amd64 macosx_12_0_x86_64
darwin arm64 macosx_12_0_arm64
windows amd64 win_amd64
windows arm64 win_arm64
PLATFORMS
    sdist "$1"
}

build "$PWD/dist"
"$python" python/check_wheels.py ${only:+--some} dist
if [ -n "${TWICE:-}" ]; then
    (umask 027 && build "$work/again/dist")
    for file in dist/pho_go-*; do
        cmp "$file" "$work/again/$file" || { echo "wheels: a second build gave other bytes"; exit 1; }
    done
    echo "a second build gave the same bytes"
fi
