# Additive models of real data by mgcv, and the rows they were fitted to.
#
#   Rscript real.R DATA OUT [NAME ...]
#
# DATA holds the data sets, OUT gets NAME.csv, the rows with the columns of the
# model, and NAME.json, the fit: at the smoothing parameters that mgcv chose with its
# default settings. With NAMEs only those. Nothing is random. benchmarks/mgcv (Go) reads both.
suppressPackageStartupMessages({library(mgcv); library(jsonlite)})
args <- commandArgs(trailingOnly = TRUE)
if (length(args) < 2) stop("usage: Rscript real.R DATA OUT [NAME ...]")
read <- function(name) read.csv(file.path(args[1], paste0(name, ".csv.gz")))
every <- function(d, k) d[seq(1, nrow(d), by = k), , drop = FALSE]
text <- function(codes, prefix) sprintf("%s%03d", prefix, as.integer(codes)) # so that levels sort alike

compare <- function(name, d, ours, formula = ours, knots = NULL, bam = FALSE) {
  if (length(args) > 2 && !name %in% args[-(1:2)]) return(invisible())
  f <- as.formula(formula)
  d <- d[all.vars(f)]
  write.csv(d, file.path(args[2], paste0(name, ".csv")), row.names = FALSE, quote = FALSE)
  for (v in names(d)) if (is.character(d[[v]])) d[[v]] <- factor(d[[v]])
  # With more rows than a chunk bam chooses knots from a random sample of them: a chunk
  # of all rows is for the comparison, the default for the seconds.
  run <- function(sp = NULL, chunk = nrow(d)) if (bam) mgcv::bam(f, data = d, knots = knots, method = "fREML", sp = sp, chunk.size = chunk)
                                              else gam(f, data = d, knots = knots, method = "REML", sp = sp)
  start <- proc.time()[3]
  chosen <- suppressWarnings(run(chunk = 10000))
  seconds <- proc.time()[3] - start
  if (bam) chosen <- suppressWarnings(run())
  sp <- as.numeric(chosen$sp)
  b <- suppressWarnings(run(sp))
  at <- round(seq(1, nrow(d), length.out = 500))
  X <- predict(b, d[at, ], type = "lpmatrix")
  means <- if (bam) NULL else colMeans(predict(b, type = "lpmatrix"))
  if (bam) { # in parts: the whole model matrix is large
    means <- 0
    for (i in split(seq_len(nrow(d)), (seq_len(nrow(d)) - 1) %/% 20000))
      means <- means + colSums(predict(b, d[i, ], type = "lpmatrix")) / nrow(d)
  }
  term <- function(label, cols, s = NULL) {
    x <- sweep(X[, cols, drop = FALSE], 2, means[cols])
    at <- if (length(s$S) > 0) s$first.sp:s$last.sp
    list(name = gsub(" ", "", label), edf = sum(b$edf[cols]), values = as.numeric(x %*% coef(b)[cols]),
         se = sqrt(rowSums((x %*% b$Vp[cols, cols]) * x)), sp = I(sp[at]), s_scale = I(as.numeric(s$S.scale)))
  }
  labels <- attr(b$pterms, "term.labels")
  terms <- c(lapply(seq_along(labels), function(i) term(labels[i], which(b$assign == i))),
             lapply(b$smooth, function(s) term(s$label, s$first.para:s$last.para, s)))
  out <- list(name = name, formula = ours, mgcv = formula, call = if (bam) "bam, fREML" else "gam, REML", version = as.character(packageVersion("mgcv")),
    rows = nrow(d), seconds = as.numeric(seconds), score = as.numeric(b$gcv.ubre), chosen_score = as.numeric(chosen$gcv.ubre),
    scale = b$sig2, edf = sum(b$edf), at = at - 1, terms = terms)
  writeLines(toJSON(out, digits = I(15), auto_unbox = TRUE, null = "null", na = "null"), file.path(args[2], paste0(name, ".json")))
  message(sprintf("%s: %d rows, %.1f s", name, nrow(d), seconds))
}

bike <- read("bike_hour")
bike$log_cnt <- round(log(bike$cnt), 6)
bike$weekday <- text(bike$weekday, "d"); bike$weathersit <- text(bike$weathersit, "w")
compare("bike", bike,
        'log_cnt ~ weekday + weathersit + s(hr, by = weekday, bs = "cc", k = 12, period = c(0, 24)) + s(day_index, k = 20) + s(temp)',
        'log_cnt ~ weekday + weathersit + s(hr, by = weekday, bs = "cc", k = 12) + s(day_index, k = 20) + s(temp)', list(hr = c(0, 24)))

covid <- read("covid_us_county")
compare("covid", every(covid, 10), 'log_prevalence_7d ~ te(longitude, latitude, k = 8) + s(day, k = 20)')
compare("covid_full", covid, 'log_prevalence_7d ~ te(longitude, latitude, k = 8) + s(day, k = 20)', bam = TRUE)

flights <- read("flights_nyc_2013_2017")
flights$yearday <- as.POSIXlt(sprintf("%d-%02d-%02d", flights$year, flights$month, flights$day), tz = "UTC")$yday + 1
flights$carrier <- text(flights$carrier, "c"); flights$origin <- text(flights$origin, "o"); flights$dest <- text(flights$dest, "t")
flights$weekday <- text(flights$day_of_week, "d")
model <- 'arr_delay ~ carrier + origin + weekday + s(sched_dep_min, bs = "cc", k = 20%s) + s(yearday, bs = "cc", k = 20%s) + s(distance, bs = "cr") + s(dest, bs = "re")'
ours <- sprintf(model, ", period = c(0, 1440)", ", period = c(0.5, 366.5)"); theirs <- sprintf(model, "", "")
cycles <- list(sched_dep_min = c(0, 1440), yearday = c(0.5, 366.5))
compare("flights", every(flights, 40), ours, theirs, cycles)
compare("flights_full", flights, ours, theirs, cycles, bam = TRUE)
