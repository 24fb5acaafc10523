# mgcv's side of benchmarks/bam.sh. CASE is ten:BASIS:K, factor, by, levels, fs, slopes or plane:
#
#   Rscript peer.R probe CASE DATA ROWS exact|discrete [WAY]
#     prints seconds of bam and how it was called, between tabs, for each way to call it
#     or the given one
#   Rscript peer.R CASE DATA ROWS exact|discrete OURS ROUNDS WAY SETTING SMALL SMALLROWS
#     calls OURS (benchmarks/bam) and bam in that way in turn, and prints a row for
#     benchmarks/table; SETTING is what else was chosen, for people. SMALL is data of few
#     rows: with factors, terms are compared there with those of exact bam at equal
#     smoothing parameters, for discretisation rounds.
suppressMessages({library(mgcv); library(parallel)})
a <- commandArgs(trailingOnly = TRUE)
probe <- a[1] == "probe"
if (probe) a <- a[-1]
case <- strsplit(a[1], ":")[[1]]
file <- a[2]; n <- as.integer(a[3]); discrete <- a[4] == "discrete"
# Thin plate splines of many points are made from some of them (2000, or with
# discretisation at most 1000 rounded ones), and which ones changes the fit: both sides
# get the same. bam takes the ranges of other knots from a sample of 10,000 rows unless
# they are given.
given <- if (case[1] == "ten" && case[2] == "tp" || case[1] %in% c("factor", "plane")) 500 else 0
columns <- list(ten = c(paste0("x", 0:9), "z"), factor = c("g", "x1", "x2", "x3", "z"),
                by = c("f", "x", "t", "g", "z"), levels = c("f", "x", "t", "g", "z"), fs = c("x", "g", "z"),
                slopes = c("x", "t", "g", "z"), plane = c("f", "x1", "x2", "x3", "x4", "z"))[[case[1]]]
data <- function(file, rows) {
  d <- as.data.frame(matrix(readBin(file, "double", rows * length(columns), endian = "little"), rows))
  names(d) <- columns
  for (name in intersect(columns, c("f", "g"))) d[[name]] <- factor(d[[name]])
  d
}
fo <- switch(case[1],
  ten = as.formula(paste("z ~", paste0("s(x", 0:9, ", bs='", case[2], "', k=", case[3], ")", collapse = " + "))),
  factor = z ~ g + te(x1, x2, bs = "ps", k = 8) + s(x3, bs = "tp", k = 20),
  by = , levels = z ~ f + s(x, by = f, bs = "ps", k = 20) + s(t, bs = "cc", k = 20) + s(g, bs = "re"),
  slopes = z ~ s(t, bs = "ps", k = 20) + s(g, bs = "re") + s(g, x, bs = "re"),
  plane = z ~ s(x1, x2, bs = "tp", k = 30) + te(x3, x4, by = f, bs = "ps", k = 6),
  fs = z ~ s(x, g, bs = "fs", xt = "ps", k = 10))
title <- switch(case[1], ten = sprintf("%s k=%s%s", case[2], case[3], if (given > 0) sprintf(" on %d given knots", given) else ""),
  factor = "factor(500) + te(8, 8) + tp(20)", by = "by x 4 + cc + re(2000)", fs = "fs, 200 groups",
  levels = "by x 20 + cc + re(500)", slopes = "ps + random intercepts and slopes of 1000", plane = "tp(30) of two columns + te(6, 6) by x 6")
knots <- function(d) switch(case[1],
  ten = if (given > 0) lapply(d[1:10], function(x) x[1:given]) else lapply(d[1:10], range),
  factor = list(x1 = range(d$x1), x2 = range(d$x2), x3 = d$x3[1:given]),
  by = , levels = list(x = range(d$x), t = seq(0, 1, length = 20)),
  slopes = list(t = range(d$t)),
  plane = list(x1 = d$x1[1:given], x2 = d$x2[1:given], x3 = range(d$x3), x4 = range(d$x4)),
  fs = list(x = range(d$x)))
d <- data(file, n)
ways <- if (discrete) c("nthreads=1", "nthreads=2") else c("QR", "use.chol", "QR, 2 processes", "use.chol, 2 processes")
peer <- function(way) {
  if (discrete) return(bam(fo, data = d, method = "fREML", discrete = TRUE, nthreads = as.integer(sub("nthreads=", "", way)), knots = knots(d)))
  processes <- if (grepl("processes", way)) makeForkCluster(2)
  on.exit(if (!is.null(processes)) stopCluster(processes))
  bam(fo, data = d, method = "fREML", use.chol = grepl("use.chol", way), cluster = processes, knots = knots(d))
}
if (probe) {
  # Threads of OpenBLAS next to two processes would be too many.
  if (Sys.getenv("OPENBLAS_NUM_THREADS") != "1") ways <- grep("processes", ways, invert = TRUE, value = TRUE)
  if (length(a) > 4) ways <- a[5]
  for (way in ways) cat(sprintf("%.3f\t%s\n", system.time(peer(way))[3], way))
  quit()
}
rounds <- as.integer(a[6]); way <- a[7]; small <- a[9]; few <- as.integer(a[10])
call <- function(file, rows, ..., knots = given) system2(a[5], c("-case", case[1], "-data", file, "-rows", rows,
  if (case[1] == "ten") c("-bs", case[2], "-k", case[3]), "-knots", knots, ...), stdout = TRUE)
word <- function(lines, name, start = "seconds") { # the number after it
  w <- strsplit(grep(paste0("^", start), lines, value = TRUE), " ")
  sapply(w, function(v) as.numeric(v[match(name, v) + 1]))
}
numbers <- function(lines, start) as.matrix(read.table(text = sub(start, "", grep(paste0("^", start), lines, value = TRUE))))
ours <- theirs <- c()
for (i in seq_len(rounds)) {
  out <- call(file, n, "-rounds", 3)
  ours <- c(ours, word(out, "seconds"))
  theirs <- c(theirs, system.time(b <- peer(way))[3])
}
terms <- function(b, d) t(predict(b, d[1:50, ], type = "terms", discrete = FALSE))
# With discretisation terms sum to 0 over the grid, not over the rows: shapes are compared.
centred <- function(m) m - rowMeans(m)
apart <- function(ours, theirs) max(abs(centred(ours) - centred(theirs))) / max(abs(centred(theirs)))
if (case[1] == "ten") {
  # Scores of both smoothing parameters by one criterion, ours: bam's leaves constants out.
  at <- call(file, n, "-sp", paste(signif(b$sp, 17), collapse = ","))
  answer <- sprintf("%.1e (REML score less that at bam's smoothing parameters: %.2g)", apart(numbers(out, "term"), terms(b, d)),
    word(out, "score")[1] - word(at, "score"))
} else {
  d <- data(small, few)
  sp <- theirsp <- as.numeric(numbers(call(small, few, knots = 0), "sp"))
  if (case[1] %in% c("by", "levels")) {
    n.by <- nlevels(d$f)
    sp <- sp[c(1, n.by + 1:2)]
    theirsp <- sp[c(rep(1, n.by), 2, 3)]
  }
  if (case[1] == "plane") { sp <- sp[1:3]; theirsp <- sp[c(1, rep(2:3, nlevels(d$f)))] }
  # The penalties of fs on what others leave free are of directions that both choose freely.
  if (case[1] == "fs") sp <- theirsp <- sp[c(1, 2, 2)]
  at <- knots(d)
  at[if (case[1] == "plane") c("x1", "x2") else "x3"] <- NULL # all points
  out <- call(small, few, "-sp", paste(signif(sp, 17), collapse = ","), knots = 0)
  own <- numbers(out, "term")
  # The scale of its smoothing parameters depends on the basis of what is left free.
  if (case[1] == "fs") theirsp <- as.numeric(numbers(out, "multipliers")) * bam(fo, data = d, knots = at, fit = FALSE)$smooth[[1]]$S.scale
  exact <- bam(fo, data = d, method = "fREML", use.chol = TRUE, knots = at, sp = theirsp)
  answer <- sprintf("%.1e (exact bam, %d rows, equal smoothing parameters)", apart(own, terms(exact, d)), few)
}
# What the default bands add to the last pass, next to one pass of the moments of the same rows, from
# fits after the first, which finds no memory.
if (case[1] != "ten") {
  out <- call(file, n, "-rounds", 6, "-robust")
  bands <- word(out, "bands", "last pass")[-1]
  moments <- word(out, "moments")[-1]
}
seconds <- function(t) sprintf("%.3f s (%.3f to %.3f)", median(t), min(t), max(t))
cat("row", sprintf("bam%s, %s, %d rows", if (discrete) " discrete" else "", title, n),
  seconds(ours), sprintf("%s: %s; %s", seconds(theirs), way, a[8]),
  sprintf("%.1f (%.1f to %.1f)", median(theirs) / median(ours), min(theirs) / max(ours), max(theirs) / min(ours)),
  answer, sep = "\t")
cat("\n")
if (case[1] != "ten") {
  cat("row", sprintf("default bands, %s, %d rows: next to one pass of the moments", title, n), seconds(bands),
    sprintf("%s: moments", seconds(moments)),
    sprintf("%.2f (%.2f to %.2f)", median(bands) / median(moments), min(bands) / max(moments), max(bands) / min(moments)), "-", sep = "\t")
  cat("\n")
}
