# mgcv's side of benchmarks/bam.sh:
#
#   Rscript peer.R probe DATA ROWS BS K exact|discrete [WAY]
#     prints seconds of bam and how it was called, between tabs, for each way to call it
#     or the given one
#   Rscript peer.R DATA ROWS BS K exact|discrete OURS ROUNDS WAY SETTING
#     calls OURS (benchmarks/bam) and bam in that way in turn, and prints a row for
#     benchmarks/table; SETTING is what else was chosen, for people.
suppressMessages({library(mgcv); library(parallel)})
a <- commandArgs(trailingOnly = TRUE)
probe <- a[1] == "probe"
if (probe) a <- a[-1]
n <- as.integer(a[2]); k <- as.integer(a[4]); discrete <- a[5] == "discrete"
d <- as.data.frame(matrix(readBin(a[1], "double", n * 11, endian = "little"), n))
names(d) <- c(paste0("x", 0:9), "z")
fo <- as.formula(paste("z ~", paste0("s(x", 0:9, ", bs='", a[3], "', k=", k, ")", collapse = " + ")))
# bam takes the ranges of its knots from a sample of 10,000 rows unless they are given.
# Thin plate splines of many points are made from some of them (2000, or with
# discretisation at most 1000 rounded ones), and which ones changes the fit: both sides
# get the same.
given <- if (a[3] == "tp") 500 else 0
knots <- if (given > 0) lapply(d[1:10], function(x) x[1:given]) else lapply(d[1:10], range)
ways <- if (discrete) c("nthreads=1", "nthreads=2") else c("QR", "use.chol", "QR, 2 processes", "use.chol, 2 processes")
peer <- function(way) {
  if (discrete) return(bam(fo, data = d, method = "fREML", discrete = TRUE, nthreads = as.integer(sub("nthreads=", "", way)), knots = knots))
  processes <- if (grepl("processes", way)) makeForkCluster(2)
  on.exit(if (!is.null(processes)) stopCluster(processes))
  bam(fo, data = d, method = "fREML", use.chol = grepl("use.chol", way), cluster = processes, knots = knots)
}
if (probe) {
  # Threads of OpenBLAS next to two processes would be too many.
  if (Sys.getenv("OPENBLAS_NUM_THREADS") != "1") ways <- grep("processes", ways, invert = TRUE, value = TRUE)
  if (length(a) > 5) ways <- a[6]
  for (way in ways) cat(sprintf("%.3f\t%s\n", system.time(peer(way))[3], way))
  quit()
}
rounds <- as.integer(a[7]); way <- a[8]
call <- function(...) system2(a[6], c("-data", a[1], "-rows", n, "-bs", a[3], "-k", k, "-knots", given, ...), stdout = TRUE)
ours <- theirs <- c()
for (i in seq_len(rounds)) {
  out <- call("-rounds", 3)
  head <- strsplit(grep("^seconds", out, value = TRUE), " ")
  ours <- c(ours, sapply(head, function(h) as.numeric(h[2])))
  theirs <- c(theirs, system.time(b <- peer(way))[3])
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
cat("row", sprintf("bam%s, %s k=%d%s, %d rows", if (discrete) " discrete" else "", a[3], k, if (given > 0) sprintf(" on %d given knots", given) else "", n),
  seconds(ours), sprintf("%s: %s; %s", seconds(theirs), way, a[9]),
  sprintf("%.1f (%.1f to %.1f)", median(theirs) / median(ours), min(theirs) / max(ours), max(theirs) / min(ours)),
  sprintf("%.1e (REML score less that at bam's smoothing parameters: %.2g)", max(abs(values - p)) / max(abs(p)), score(out) - score(at)),
  sep = "\t")
cat("\n")
