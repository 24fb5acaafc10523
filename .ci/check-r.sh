#!/usr/bin/env bash
# The tests of r/read_pho.R with bin/pho; skipped, and said so, without R or jsonlite.
set -euo pipefail
cd "$(dirname "$0")/.."
rscript=${RSCRIPT:-Rscript}
if ! command -v "$rscript" >/dev/null; then
    echo "check-r: skipped: $rscript is not installed (Debian: r-base-core r-cran-jsonlite r-cran-mgcv)"
    exit
fi
if ! "$rscript" -e 'q(status = !requireNamespace("jsonlite", quietly = TRUE))' >/dev/null 2>&1; then
    echo "check-r: skipped: R has no package jsonlite (Debian: r-cran-jsonlite)"
    exit
fi
PHO=bin/pho "$rscript" r/tests/test_read_pho.R
