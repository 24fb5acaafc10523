# mgcv's side of benchmarks/flights.sh:
#
#   Rscript peer.R probe DATA ROWS [THREADS]
#                        seconds, a tab, and threads for bam with one and with two, or
#                        the given ones
#   Rscript peer.R DATA ROWS VALUES THREADS
#
# DATA is what flights -binary wrote, VALUES the values of our terms at the first
# rows. Prints seconds, peak MiB and the largest difference of term values, relative
# to the largest value: each term about its mean over these rows.
suppressMessages(library(mgcv))
a <- commandArgs(trailingOnly = TRUE)
probe <- a[1] == "probe"
if (probe) a <- a[-1]
n <- as.integer(a[2])
columns <- strsplit(readLines(paste0(a[1], ".names")), " ")
d <- lapply(columns, function(x) integer(n))
file <- file(a[1], "rb")
for (first in seq(1, n, by = 50000)) {
  m <- min(50000, n - first + 1)
  for (j in seq_along(columns)) d[[j]][first:(first + m - 1)] <- readBin(file, "integer", m, size = 4, endian = "little")
}
close(file)
names(d) <- sapply(columns, `[`, 1)
for (j in seq_along(columns)) {
  if (length(columns[[j]]) > 1) d[[j]] <- structure(d[[j]], levels = columns[[j]][-1], class = "factor")
  else d[[j]] <- as.numeric(d[[j]])
}
used <- c("arr_delay", "carrier", "origin", "dest", "sched_dep_min", "yearday", "distance", "sched_arr_min", "route")
d <- as.data.frame(d[used])
for (name in c("carrier", "origin", "dest", "route")) d[[name]] <- droplevels(d[[name]])
invisible(gc())
# Knots are given: bam takes ranges from a sample of the rows.
knots <- list(sched_dep_min = c(0, 1440), yearday = c(0.5, 366.5), distance = range(d$distance), sched_arr_min = range(d$sched_arr_min))
fit <- function(threads) bam(arr_delay ~ carrier + origin + dest + s(sched_dep_min, bs = "cc", k = 20) + s(yearday, bs = "cc", k = 20) +
  s(distance, bs = "ps", k = 10) + s(sched_arr_min, bs = "ps", k = 20) + s(route, bs = "re"),
  data = d, knots = knots, method = "fREML", discrete = TRUE, nthreads = threads)
if (probe) {
  for (threads in if (length(a) > 2) as.integer(a[3]) else 1:2) cat(sprintf("%.3f\t%d\n", system.time(fit(threads))[3], threads))
  quit()
}
seconds <- system.time(b <- fit(as.integer(a[4])))[3]
peak <- as.numeric(gsub("[^0-9]", "", grep("VmHWM", readLines("/proc/self/status"), value = TRUE))) / 1024
ours <- t(as.matrix(read.table(a[3], skip = 1)))
theirs <- predict(b, d[seq_len(nrow(ours)), ], type = "terms")
each <- apply(abs(scale(ours, scale = FALSE) - scale(theirs, scale = FALSE)), 2, max)
names(each) <- colnames(theirs)
message(paste(capture.output(print(signif(each, 2))), collapse = "\n"))
differ <- max(each) / max(abs(scale(theirs, scale = FALSE)))
cat(sprintf("rows %d seconds %.2f peak %.0f columns %d edf %.4f differ %.2e\n", n, seconds, peak, length(coef(b)), sum(b$edf), differ))
