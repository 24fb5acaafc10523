# Every target needs Go alone unless its comment says more. `make check` is what
# continuous integration runs (.ci/run).
#
# Modules stand on their own: a go.work of some checkout must not decide what is
# built. GOFLAGS is the caller's.
export GOWORK := off

GO     ?= go
PYTHON ?= /usr/bin/python3
RSCRIPT ?= Rscript

# Packages that start goroutines or are promised to be safe for concurrent use.
CONCURRENT = ./data/... ./moments/... ./decompose/... ./adapters/onnx/...

# Seconds that the fuzz targets share.
FUZZTIME ?= 20

.PHONY: build test race portable lint bench bench-gate bench-compare fuzz golden examples data cover generate readme check

# bin/pho, and everything else compiled.
build:
	$(GO) build ./...
	$(GO) build -o bin/ ./cmd/...

test:
	$(GO) test ./...

# The race detector needs a C compiler.
race:
	@if [ "$$($(GO) env CGO_ENABLED)" = 1 ] && command -v "$$($(GO) env CC)" >/dev/null; then \
		echo "$(GO) test -race -short $(CONCURRENT)"; \
		$(GO) test -race -short $(CONCURRENT); \
	else \
		echo "race: SKIPPED: the race detector needs cgo and a C compiler (CC)"; \
	fi

# The kernels without assembly, and everything compiled for another processor.
portable:
	$(GO) test -short -tags purego ./internal/kernel ./design
	GOOS=linux GOARCH=arm64 CGO_ENABLED=0 $(GO) build ./...

lint:
	@bad=$$(gofmt -l .); if [ -n "$$bad" ]; then echo "lint: not gofmt-ed (run gofmt -w):"; echo "$$bad"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool -modfile=tools/go.mod staticcheck ./...
	@GO='$(GO)' bash .ci/imports.sh

# BENCH and PKG narrow it: make bench PKG=./moments BENCH=Dense
BENCH ?= .
PKG   ?= ./...
bench:
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem $(PKG)

# The working tree against the commit BASE; fails when something is 15 % slower.
BASE ?= HEAD
bench-gate:
	GO='$(GO)' bash .ci/bench-gate.sh '$(BASE)' '$(BENCH)' '$(PKG)'

# Next to the peers, each in one run with ours: OpenBLAS, ONNX Runtime, mgcv,
# PyTorch; the tables of docs/benchmarks.md are written anew. A peer that is not
# there is named, and what the page has of that script stays. ONLY="bam blas" runs
# these scripts alone; what they print is in bin/bench. PYTHON and RSCRIPT say where
# the peers are.
ONLY ?=
bench-compare:
	@GO='$(GO)' PYTHON='$(PYTHON)' RSCRIPT='$(RSCRIPT)' bash .ci/bench-compare.sh $(ONLY)

fuzz:
	@GO='$(GO)' bash .ci/fuzz.sh '$(FUZZTIME)'

# Runs the generators of reference values. They need R with mgcv, and Python
# with torch and onnx; the tests need neither.
golden:
	@RSCRIPT='$(RSCRIPT)' PYTHON='$(PYTHON)' bash .ci/golden.sh

# The Example functions, then the programs under examples/: those of the paper
# with their quick settings; data needs the web and is left to its tests.
examples:
	$(GO) test -run '^Example' ./...
	@for p in $$($(GO) list -f '{{if eq .Name "main"}}{{.ImportPath}}{{end}}' ./examples/... 2>/dev/null); do \
		case $$p in \
		*/examples/paper/data) continue ;; \
		*/examples/paper/*) quick=-quick ;; \
		*) quick= ;; \
		esac; \
		echo "$(GO) run $$p $$quick"; $(GO) run $$p $$quick || exit 1; done

# Downloads the benchmark's data sets of examples/paper to PHO_DATA (../shared/data)
# and draws the authors' folds; files that are there are left alone.
data:
	$(GO) run ./examples/paper/data

cover:
	$(GO) test -coverprofile=cover.out ./...
	$(GO) tool cover -func=cover.out | tail -n 1

# Rewrites generated code; what else it needs is said where go:generate stands.
generate:
	$(GO) generate ./...

# The marked commands of README.md in a fresh clone of HEAD.
readme:
	@bash .ci/readme.sh

check:
	@start=$$(date +%s); \
	for t in lint test portable race fuzz readme; do \
		echo "== $$t"; $(MAKE) --no-print-directory $$t || { echo "check: $$t FAILED"; exit 1; }; \
	done; \
	echo "check: lint, test, portable, race, fuzz, readme passed in $$(( $$(date +%s) - start )) s"
