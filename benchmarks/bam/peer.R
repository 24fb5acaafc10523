# mgcv's side of benchmarks/bam.sh: Rscript peer.R DATA ROWS BS K OURS
suppressMessages(library(mgcv))
a <- commandArgs(trailingOnly = TRUE)
n <- as.integer(a[2]); k <- as.integer(a[4])
d <- as.data.frame(matrix(readBin(a[1], "double", n * 11, endian = "little"), n))
names(d) <- c(paste0("x", 0:9), "z")
ours <- readLines(a[5]); head <- strsplit(ours[1], " ")[[1]]
seconds <- as.numeric(head[2]); score <- as.numeric(head[10])
values <- as.matrix(read.table(text = ours[-1]))
fo <- as.formula(paste("z ~", paste0("s(x", 0:9, ", bs='", a[3], "', k=", k, ")", collapse = " + ")))
cat(sprintf("%-28s %10s %10s %8s %12s %12s\n", "case", "ours [s]", "peer [s]", "ratio", "terms differ", "score ours - peer"))
peer <- function(label, ...) {
  t <- system.time(b <- bam(fo, data = d, ...))[3]
  p <- t(predict(b, d[1:50, ], type = "terms"))
  cat(sprintf("%-28s %10.2f %10.2f %8.1f %12.1e %12.3g\n", label, seconds, t, t / seconds, max(abs(values - p)) / max(abs(p)), score - as.numeric(b$gcv.ubre)))
}
peer(sprintf("bam discrete, %s k=%d, 2 threads", a[3], k), method = "fREML", discrete = TRUE, nthreads = 2, chunk.size = n)
# bam takes the ranges of its knots from a sample of chunk.size rows: all of them here.
if (length(a) > 5) peer(sprintf("bam, %s k=%d", a[3], k), method = "fREML", chunk.size = n)
