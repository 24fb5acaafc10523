#!/usr/bin/env bash
# The R package r/pho with bin/pho: R CMD check without errors, warnings or a vignette that did not run; skipped, and said so,
# without what it needs.
set -euo pipefail
cd "$(dirname "$0")/.."
rscript=${RSCRIPT:-Rscript}
debian="Debian: r-base-dev r-cran-jsonlite r-cran-testthat r-cran-knitr r-cran-rmarkdown r-cran-mgcv pandoc"
if ! command -v "$rscript" >/dev/null || ! command -v pandoc >/dev/null; then
    echo "check-r: skipped: $rscript or pandoc is not installed ($debian)"
    exit
fi
for p in jsonlite testthat knitr rmarkdown; do
    if ! "$rscript" -e "q(status = !requireNamespace('$p', quietly = TRUE))" >/dev/null 2>&1; then
        echo "check-r: skipped: R has no package $p ($debian)"
        exit
    fi
done
PHO_BINARY=$PWD/bin/pho
# As at CRAN: packages of Enhances, whose objects are taken where they are there, may be absent.
export PHO_BINARY _R_CHECK_FORCE_SUGGESTS_=false _R_CHECK_SYSTEM_CLOCK_=false _R_CHECK_PACKAGE_DEPENDS_IGNORE_MISSING_ENHANCES_=true
r=$("$rscript" -e 'cat(file.path(R.home("bin"), "R"))')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
source=$PWD/r/pho
PHO_ROOT=$PWD # whose testdata/formats has results of earlier versions
export PHO_ROOT
awk '/^```r$/ { on = 1; next } /^```/ { on = 0 } on' docs/r.md >"$work/page.R"
cd "$work"
"$r" CMD build "$source" >build.log 2>&1 || { cat build.log; exit 1; }
# --no-manual: the manual in PDF needs LaTeX.
"$r" CMD check --no-manual pho_*.tar.gz >check.log 2>&1 || { cat check.log; cat pho.Rcheck/tests/*.fail 2>/dev/null; exit 1; }
if grep -q 'WARNING' check.log; then
    cat check.log
    exit 1
fi
if grep -q 'nothing below was run' pho.Rcheck/pho/doc/pho.html; then
    echo "check-r: the vignette was not run"
    exit 1
fi
# The program of docs/r.md; nnet is among R's recommended packages.
if "$rscript" -e "q(status = !requireNamespace('nnet', quietly = TRUE))" >/dev/null 2>&1; then
    R_LIBS=$work/pho.Rcheck "$rscript" page.R >page.log 2>&1 || { cat page.log; exit 1; }
else
    echo "check-r: docs/r.md was not run: R has no package nnet"
fi
# What was left out, and the numbers.
sed -n '/Skipped tests/,$p' pho.Rcheck/tests/testthat.Rout | grep -v '^>' || true
grep -E '^\[ FAIL|^Status' pho.Rcheck/tests/testthat.Rout check.log -h | tail -2
