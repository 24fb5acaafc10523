# Every target needs Go alone unless its comment says more. `make check` is what
# continuous integration runs (.ci/run).
#
# Modules stand on their own: a go.work of some checkout must not decide what is
# built. GOFLAGS is the caller's.
export GOWORK := off

GO     ?= go
PYTHON ?= /usr/bin/python3
RSCRIPT ?= Rscript

# Seconds that the fuzz targets share: of `make fuzz`, and of its part in `make check`,
# where they do not last for all targets and a part has its turn.
FUZZTIME ?= 3600
CHECKFUZZTIME ?= 25

# The share of tests under the race detector beside those of what runs at the same time: all of
# them in `make race`, one in 36 in `make check`, others with every commit.
RACETURNS ?= 1
CHECKRACETURNS ?= 36

.PHONY: build test test-long test-whole race portable lint vulncheck check-arm64 bench gate bench-gate bytes bench-compare paper-benchmark truth fuzz wheels check-wheels check-python check-estimators check-spark check-servers check-r check-tensors check-boosters docs check-docs gallery golden zoo backend-tests examples data cover generate release check-modules check-report check

# Runs a command in the main module and in those of benchmarks/ and examples/paper.
each := @bash .ci/each.sh

# bin/pho, and everything else compiled.
build:
	$(each) $(GO) build ./...
	$(GO) build -o bin/ ./cmd/...

# The tests but for simulations and others that take long: 6 minutes of one processor at most, nothing being
# compiled yet. Not vetted here, nor by race: lint does it, with more.
test:
	$(GO) test -vet=off -short ./...

# All tests, of benchmarks/ and examples/paper, too.
test-long:
	$(each) $(GO) test -vet=off ./...

# The tests, of which those that draw at random or simulate do it longer and in more cases: half an hour.
test-whole:
	PHO_LONG=1 $(GO) test -vet=off -timeout 1h ./...

# Packages that start goroutines; the race detector needs a C compiler.
race:
	@GO='$(GO)' bash .ci/race.sh '$(RACETURNS)'

# The kernels, and the operators on them, without assembly; the kernels of another processor: vetted,
# and tested where there is an emulator of it. No other package knows of processors, which is looked at, too.
portable:
	$(GO) test -short -tags purego ./internal/base/kernel ./adapters/onnx/internal/operator ./design
	GOOS=linux GOARCH=arm64 CGO_ENABLED=0 $(GO) vet ./internal/base/kernel/...
	@GO='$(GO)' bash .ci/arm64.sh short

# Everything compiled for arm64, pho linked; kernels, and what rests on them, tested: there, or in
# QEMU's emulator of a processor (Debian: qemu-user-static), where it takes 15 minutes. It tells
# nothing of speed.
check-arm64:
	$(each) env GOOS=linux GOARCH=arm64 CGO_ENABLED=0 $(GO) list -export -f '{{with .Export}}{{end}}' ./...
	GOOS=linux GOARCH=arm64 CGO_ENABLED=0 $(GO) build -o /dev/null ./cmd/...
	@GO='$(GO)' bash .ci/arm64.sh

lint:
	@bad=$$(gofmt -l .); if [ -n "$$bad" ]; then echo "lint: not gofmt-ed (run gofmt -w):"; echo "$$bad"; exit 1; fi
	$(each) $(GO) vet ./...
	$(each) $(GO) tool -modfile='$(CURDIR)/tools/go.mod' staticcheck ./...
	@GO='$(GO)' bash .ci/imports.sh

# Known vulnerabilities in what is called; skipped where the database cannot be reached.
vulncheck:
	@GO='$(GO)' bash .ci/vulncheck.sh

# BENCH and PKG narrow it: make bench PKG=./decompose/internal/moments BENCH=Dense
BENCH ?= .
PKG   ?= ./...
bench:
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem $(PKG)

# The working tree against the commit BASE; fails when something is 15 % slower.
BASE ?= HEAD
bench-gate:
	GO='$(GO)' bash .ci/bench-gate.sh '$(BASE)' '$(BENCH)' '$(PKG)'

# The most used cases, and large ones, against our own variants: without assembly, with one worker, ...
gate:
	@GO='$(GO)' bash .ci/gate.sh

# What the working tree writes against what the commit BASE writes, byte by byte: for
# changes that must not change an answer.
bytes:
	GO='$(GO)' bash .ci/bytes.sh '$(BASE)'

# Next to the peers, each in one run with ours: OpenBLAS, ONNX Runtime, OpenVINO, mgcv,
# PyTorch, DuckDB, Polars, pyarrow, in a clone of HEAD; kept in benchmarks/results/MACHINE.tsv, from
# which the tables of docs/benchmarks.md are written anew. A peer that is not there is named, and what is kept of
# that script stays. ONLY="bam blas" runs these scripts alone; what they print is in bin/bench. PYTHON and RSCRIPT
# say where the peers are.
ONLY ?=
bench-compare:
	@GO='$(GO)' PYTHON='$(PYTHON)' RSCRIPT='$(RSCRIPT)' MACHINE='$(MACHINE)' bash .ci/bench-compare.sh $(ONLY)

# pho with no options next to networks whose function is known, and next to PDP, ALE, SHAP, EBM, effector and
# mgcv: docs/truth.md anew, of HEAD. Takes an hour or two; call it again where it was interrupted. QUICK=1: a few minutes,
# into bin/truth-quick; ONLY=pho, NETWORK and METHODS (regular expressions): a part. Needs Python 3.11 and the
# package index once, for an environment in ENVS, and RSCRIPT with mgcv and jsonlite.
truth:
	@GO='$(GO)' PYTHON='$(PYTHON)' RSCRIPT='$(RSCRIPT)' QUICK='$(QUICK)' ONLY='$(ONLY)' NETWORK='$(NETWORK)' METHODS='$(METHODS)' bash .ci/truth.sh '$(envs)/truth'

# A sitting of at most FOR of the benchmark of examples/paper, which takes hours; call it
# again until it is done. It needs the data sets (make data).
FOR ?= 2h
paper-benchmark:
	@GO='$(GO)' bash .ci/paper-benchmark.sh '$(FOR)'

fuzz:
	@GO='$(GO)' bash .ci/fuzz.sh '$(FUZZTIME)'

# Runs the generators of reference values. They need R with mgcv, and Python
# with torch and onnx; the tests need neither.
golden:
	@RSCRIPT='$(RSCRIPT)' PYTHON='$(PYTHON)' bash .ci/golden.sh

# Writes the networks of testdata/zoo anew, in virtual environments in ENVS that it makes
# from the package index; ONLY="keras_zoo jax_zoo" these scripts alone.
zoo:
	@test -n '$(ENVS)' || { echo 'make zoo ENVS=DIR: a directory for virtual environments'; exit 1; }
	PYTHON='$(PYTHON)' bash testdata/zoo/make.sh '$(ENVS)' $(ONLY)

# The backend tests of the onnx package, laid out in the directory ONNX by PYTHON with
# onnx unless they are there; UPDATE=1 writes testdata/zoo/backend.txt anew.
backend-tests:
	@test -n '$(ONNX)' || { echo 'make backend-tests ONNX=DIR: a directory for the tests'; exit 1; }
	@test -f '$(ONNX)/cases.json' || '$(PYTHON)' testdata/zoo/backend.py '$(ONNX)'
	PHO_BACKEND_TESTS='$(abspath $(ONNX))' $(GO) test ./adapters/onnx -run '^TestBackend$$' -v -count=1 $(if $(UPDATE),-update-zoo)

# The Example functions, then the programs under examples/: those of the paper
# with their quick settings; data needs the web and is left to its tests.
examples:
	$(GO) test -run '^Example' ./...
	@for p in $$($(GO) list -f '{{if eq .Name "main"}}{{.ImportPath}}{{end}}' ./examples/...); do \
		echo "$(GO) run $$p"; $(GO) run $$p || exit 1; done
	@cd examples/paper && for p in $$($(GO) list -f '{{if eq .Name "main"}}{{.ImportPath}}{{end}}' ./...); do \
		case $$p in */data) continue ;; esac; \
		echo "$(GO) run $$p -quick"; $(GO) run $$p -quick || exit 1; done

# Downloads the benchmark's data sets of examples/paper to PHO_DATA (../shared/data)
# and draws the authors' folds; files that are there are left alone.
data: export PHO_DATA := $(abspath $(or $(PHO_DATA),../shared/data))
data:
	$(GO) run -C examples/paper ./data

# Of the main module.
cover:
	$(GO) test -coverprofile=cover.out ./...
	$(GO) tool cover -func=cover.out | tail -n 1

# Rewrites generated code; what else it needs is said where go:generate stands.
generate:
	$(GO) generate ./...

# Archives for every platform with licences and checksums in dist/, of a clean checkout;
# TWICE=1 builds them once more elsewhere and compares the bytes.
release:
	cd tools && $(GO) run ./release -root .. -out ../dist $(if $(TWICE),-twice)

# Vets, builds and tests the modules that are not the main one, each by its own go.mod:
# benchmarks and examples/paper, which make check has covered, then the tools, and the
# benchmark's peer that needs a C compiler.
check-modules:
	@GO='$(GO)' bash .ci/modules.sh

# The marked blocks of README.md and of the pages in docs/ are run, and links followed: those of
# shell and Go, where RSCRIPT has mgcv those of R, and with PYTHON=... those of Python;
# UPDATE=1 writes what they print into the pages, PAGE=docs/start.md is one page alone. The
# README's first commands run in a clone of HEAD.
given = $(if $(filter command line environment,$(origin $(1))),$($(1)))
check-docs:
	@bash .ci/readme.sh
	@cd tools && $(GO) run ./checkdocs -root .. -python '$(call given,PYTHON)' -r '$(RSCRIPT)' $(if $(PAGE),-page '$(PAGE)') $(if $(UPDATE),-update)

# The site from docs/ in site/: open site/index.html. Needs Python 3.11 with what
# docs/requirements.txt names, or the package index once.
docs:
	@cd tools && $(GO) run ./checkdocs -root .. -links
	@PYTHON='$(PYTHON)' bash .ci/docs.sh '$(CURDIR)/site'

# The pictures of docs/gallery.md; needs Chromium.
CHROMIUM ?= chromium
gallery:
	cd tools && $(GO) run ./gallery -root .. -chromium '$(CHROMIUM)'

# The pages that pho writes, in headless Chromium (PHO_CHROMIUM, or what PATH has), with
# axe-core from npm where that is; SCREENSHOTS=DIR keeps pictures of all pages to look at.
SCREENSHOTS ?=
check-report:
	@GO='$(GO)' SCREENSHOTS='$(SCREENSHOTS)' bash .ci/report.sh

check:
	@start=$$(date +%s) passed=; \
	for t in lint vulncheck test-long portable race gate fuzz check-docs; do \
		echo "== $$t"; began=$$(date +%s); \
		$(MAKE) --no-print-directory $$t FUZZTIME=$(CHECKFUZZTIME) RACETURNS=$(CHECKRACETURNS) || { echo "check: $$t FAILED after $$(( $$(date +%s) - began )) s; passed:$${passed:- nothing}"; exit 1; }; \
		passed="$${passed:+$$passed,} $$t ($$(( $$(date +%s) - began )) s)"; \
	done; \
	echo "check: passed in $$(( $$(date +%s) - start )) s:$$passed"

# Wheels of the Python package with the command inside, for eight platforms, and a source
# distribution: dist/pho_go-*. PYTHON needs hatchling; TWICE=1 builds them twice and compares.
wheels:
	@GO='$(GO)' PYTHON='$(PYTHON)' bash .ci/wheels.sh

# What `make wheels` left in dist/: by the packagers' checkers, installed without an index in fresh
# environments, and tested there. PYTHONS are further interpreters for a short test (an older
# one, one linked with musl). Needs the package index for checkers and peers, which are
# kept in ENVS, by default a folder of the user's cache.
PYTHONS ?=
envs := $(or $(ENVS),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/pho)
check-wheels:
	@PYTHON='$(PYTHON)' PYTHONS='$(PYTHONS)' bash .ci/check-wheels.sh '$(envs)'

# The Python package with the command of this tree: ruff, mypy, pytest, the README's
# snippets, the notebook, in an environment of pinned peers that is made in ENVS from the
# package index; TORCH=no leaves PyTorch out, which is large.
check-python: build
	@GO='$(GO)' PYTHON='$(PYTHON)' bash .ci/check-python.sh '$(envs)/python'

# Estimators of many libraries, each judged by its own predictions, in an environment of pinned versions
# that is made in ENVS from the package index.
check-estimators: build
	@PYTHON='$(PYTHON)' bash .ci/check-estimators.sh '$(envs)/estimators'

# pho.spark on a cluster of processes, in an environment of pinned versions that is made in ENVS
# from the package index. Needs Java 17 (Debian: openjdk-17-jre-headless) and Linux.
check-spark: build
	@PYTHON='$(PYTHON)' bash .ci/check-spark.sh '$(envs)/spark'

# Models behind MLServer, MLflow and pho serve on loopback, decomposed and judged by their own predictions, in two
# environments of pinned versions that are made in ENVS from the package index.
check-servers: build
	@PYTHON='$(PYTHON)' bash .ci/check-servers.sh '$(envs)/servers'

# Networks of pictures, sequences and tokens on our own engine next to ONNX Runtime: benchmarks/tensors.sh.
check-tensors:
	@GO='$(GO)' PYTHON='$(PYTHON)' bash benchmarks/tensors.sh

# Boosters made anew by their libraries, as pho reads them and as ONNX Runtime computes what pho writes of them, in an
# environment of pinned versions that is made in ENVS from the package index.
check-boosters:
	@PYTHON='$(PYTHON)' GO='$(GO)' bash .ci/check-boosters.sh '$(envs)/boosters'

# The R package with the command of this tree: R CMD check without its PDF. RSCRIPT with jsonlite, testthat, knitr and
# rmarkdown, and pandoc; mgcv and other models are compared with where they are installed.
check-r: build
	@RSCRIPT='$(RSCRIPT)' bash .ci/check-r.sh
