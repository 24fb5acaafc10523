# mgcv's side of benchmarks/bam.sh: Rscript peer.R OURS DATA ROWS BS K ROUNDS exact|discrete
# calls OURS (benchmarks/bam) and bam in turn, and prints a row for benchmarks/table.
suppressMessages(library(mgcv))
a <- commandArgs(trailingOnly = TRUE)
n <- as.integer(a[3]); k <- as.integer(a[5]); rounds <- as.integer(a[6]); discrete <- a[7] == "discrete"
d <- as.data.frame(matrix(readBin(a[2], "double", n * 11, endian = "little"), n))
names(d) <- c(paste0("x", 0:9), "z")
fo <- as.formula(paste("z ~", paste0("s(x", 0:9, ", bs='", a[4], "', k=", k, ")", collapse = " + ")))
# bam takes the ranges of its knots from a sample of chunk.size rows: all of them here.
# Thin plate splines of many points are made from some of them (2000, or with
# discretisation at most 1000 rounded ones), and which ones changes the fit: both sides
# get the same.
given <- if (a[4] == "tp") 500 else 0
knots <- if (given > 0) lapply(d[1:10], function(x) x[1:given])
peer <- function() if (discrete) bam(fo, data = d, method = "fREML", discrete = TRUE, nthreads = 2, chunk.size = n, knots = knots) else
  bam(fo, data = d, method = "fREML", chunk.size = n, knots = knots)
call <- function(...) system2(a[1], c("-data", a[2], "-rows", n, "-bs", a[4], "-k", k, "-knots", given, ...), stdout = TRUE)
ours <- theirs <- c()
for (i in seq_len(rounds)) {
  out <- call("-rounds", 3)
  head <- strsplit(grep("^seconds", out, value = TRUE), " ")
  ours <- c(ours, sapply(head, function(h) as.numeric(h[2])))
  theirs <- c(theirs, system.time(b <- peer())[3])
}
# Scores of both smoothing parameters by one criterion, ours: bam's leaves constants out.
score <- function(lines) as.numeric(strsplit(lines[1], " ")[[1]][10])
at <- call("-sp", paste(signif(b$sp, 17), collapse = ","))
values <- as.matrix(read.table(text = grep("^seconds", out, value = TRUE, invert = TRUE)))
p <- t(predict(b, d[1:50, ], type = "terms", discrete = FALSE))
# With discretisation terms sum to 0 over the grid, not over the rows: shapes are compared.
centred <- function(m) m - rowMeans(m)
values <- centred(values); p <- centred(p)
seconds <- function(t) sprintf("%.3f s (%.3f to %.3f)", median(t), min(t), max(t))
cat("row", sprintf("bam%s, %s k=%d%s, %d rows", if (discrete) " discrete" else "", a[4], k, if (given > 0) sprintf(" on %d given knots", given) else "", n),
  seconds(ours), seconds(theirs),
  sprintf("%.1f (%.1f to %.1f)", median(theirs) / median(ours), min(theirs) / max(ours), max(theirs) / min(ours)),
  sprintf("%.1e (REML score less that at bam's smoothing parameters: %.2g)", max(abs(values - p)) / max(abs(p)), score(out) - score(at)),
  sep = "\t")
cat("\n")
