# Additive models of real data by mgcv's bam, exact and with discretisation, and the rows
# they were fitted to.
#
#   Rscript real.R DATA OUT [NAME ...]     the fits
#   Rscript real.R DATA - [NAME ...]       the seconds of each way to call bam: NAME,
#                                          exact or discrete, seconds and way, between tabs
#
# DATA holds the data sets, OUT gets NAME.csv, the rows with the columns of the
# model, and NAME.json and NAME_discrete.json, the fits: at the smoothing parameters that
# mgcv chose with its default settings. With NAMEs only those. benchmarks/mgcv (Go) reads
# them.
suppressPackageStartupMessages({library(mgcv); library(jsonlite); library(parallel)})
args <- commandArgs(trailingOnly = TRUE)
if (length(args) < 2) stop("usage: Rscript real.R DATA OUT [NAME ...]")
read <- function(name) read.csv(file.path(args[1], paste0(name, ".csv.gz")))
every <- function(d, k) d[seq(1, nrow(d), by = k), , drop = FALSE]
text <- function(codes, prefix) sprintf("%s%03d", prefix, as.integer(codes)) # so that levels sort alike

compare <- function(name, d, ours, formula = ours, knots = NULL) {
  if (length(args) > 2 && !name %in% args[-(1:2)]) return(invisible())
  f <- as.formula(formula)
  d <- d[all.vars(f)]
  timing <- args[2] == "-"
  if (!timing) write.csv(d, file.path(args[2], paste0(name, ".csv")), row.names = FALSE, quote = FALSE)
  for (v in names(d)) if (is.character(d[[v]])) d[[v]] <- factor(d[[v]])
  if (timing) return(time(name, d, f, knots))
  # With more rows than a chunk bam chooses knots from a random sample of them: a chunk
  # of all rows is for the comparison, the default for the seconds.
  for (discrete in c(FALSE, TRUE)) {
    run <- function(sp = NULL) suppressWarnings(bam(f, data = d, knots = knots, method = "fREML", sp = sp, chunk.size = nrow(d), discrete = discrete))
    chosen <- run()
    fit(name, d, ours, formula, discrete, chosen, run(as.numeric(chosen$sp)))
  }
}

# time prints the best seconds of each way, of three calls where they are short.
time <- function(name, d, f, knots) {
  ways <- c("discrete, nthreads=1", "discrete, nthreads=2", "QR", "use.chol", "QR, 2 processes", "use.chol, 2 processes")
  # Threads of OpenBLAS next to two processes would be too many.
  if (Sys.getenv("OPENBLAS_NUM_THREADS") != "1") ways <- grep("processes", ways, invert = TRUE, value = TRUE)
  for (way in ways) {
    discrete <- grepl("discrete", way)
    processes <- if (grepl("processes", way)) makeForkCluster(2)
    call <- function() suppressWarnings(if (discrete)
      bam(f, data = d, knots = knots, method = "fREML", discrete = TRUE, nthreads = as.integer(sub(".*nthreads=", "", way))) else
      bam(f, data = d, knots = knots, method = "fREML", use.chol = grepl("use.chol", way), cluster = processes))
    seconds <- c()
    while (length(seconds) < 3 && sum(seconds) < 2) seconds <- c(seconds, system.time(call())[3])
    if (!is.null(processes)) stopCluster(processes)
    cat(sprintf("%s\t%s\t%.3f\t%s\n", name, if (discrete) "discrete" else "exact", min(seconds), way))
  }
}

# fit writes what bam found at its smoothing parameters, b.
fit <- function(name, d, ours, formula, discrete, chosen, b) {
  sp <- as.numeric(chosen$sp)
  at <- round(seq(1, nrow(d), length.out = 500))
  X <- predict(b, d[at, ], type = "lpmatrix", discrete = FALSE)
  means <- 0 # in parts: the whole model matrix is large
  for (i in split(seq_len(nrow(d)), (seq_len(nrow(d)) - 1) %/% 20000))
    means <- means + colSums(predict(b, d[i, ], type = "lpmatrix", discrete = FALSE)) / nrow(d)
  term <- function(label, cols, s = NULL) {
    x <- sweep(X[, cols, drop = FALSE], 2, means[cols])
    at <- if (length(s$S) > 0) s$first.sp:s$last.sp
    list(name = gsub(" ", "", label), edf = sum(b$edf[cols]), values = as.numeric(x %*% coef(b)[cols]),
         se = sqrt(rowSums((x %*% b$Vp[cols, cols]) * x)), sp = I(sp[at]), s_scale = I(as.numeric(s$S.scale)))
  }
  labels <- attr(b$pterms, "term.labels")
  terms <- c(lapply(seq_along(labels), function(i) term(labels[i], which(b$assign == i))),
             lapply(b$smooth, function(s) term(s$label, s$first.para:s$last.para, s)))
  kind <- if (discrete) "discrete" else "exact"
  out <- list(name = name, formula = ours, mgcv = formula, call = if (discrete) "bam discrete" else "bam", kind = kind, version = as.character(packageVersion("mgcv")),
    rows = nrow(d), score = as.numeric(b$gcv.ubre), chosen_score = as.numeric(chosen$gcv.ubre),
    scale = b$sig2, edf = sum(b$edf), at = at - 1, terms = terms)
  writeLines(toJSON(out, digits = I(15), auto_unbox = TRUE, null = "null", na = "null"), file.path(args[2], paste0(name, if (discrete) "_discrete", ".json")))
}

bike <- read("bike_hour")
bike$log_cnt <- round(log(bike$cnt), 6)
bike$weekday <- text(bike$weekday, "d"); bike$weathersit <- text(bike$weathersit, "w")
compare("bike", bike,
        'log_cnt ~ weekday + weathersit + s(hr, by = weekday, bs = "cc", k = 12, period = c(0, 24)) + s(day_index, k = 20) + s(temp)',
        'log_cnt ~ weekday + weathersit + s(hr, by = weekday, bs = "cc", k = 12) + s(day_index, k = 20) + s(temp)', list(hr = c(0, 24)))

covid <- read("covid_us_county")
compare("covid", every(covid, 10), 'log_prevalence_7d ~ te(longitude, latitude, k = 8) + s(day, k = 20)')
compare("covid_full", covid, 'log_prevalence_7d ~ te(longitude, latitude, k = 8) + s(day, k = 20)')

flights <- read("flights_nyc_2013_2017")
flights$yearday <- as.POSIXlt(sprintf("%d-%02d-%02d", flights$year, flights$month, flights$day), tz = "UTC")$yday + 1
flights$carrier <- text(flights$carrier, "c"); flights$origin <- text(flights$origin, "o"); flights$dest <- text(flights$dest, "t")
flights$weekday <- text(flights$day_of_week, "d")
model <- 'arr_delay ~ carrier + origin + weekday + s(sched_dep_min, bs = "cc", k = 20%s) + s(yearday, bs = "cc", k = 20%s) + s(distance, bs = "cr") + s(dest, bs = "re")'
ours <- sprintf(model, ", period = c(0, 1440)", ", period = c(0.5, 366.5)"); theirs <- sprintf(model, "", "")
cycles <- list(sched_dep_min = c(0, 1440), yearday = c(0.5, 366.5))
compare("flights", every(flights, 40), ours, theirs, cycles)
compare("flights_full", flights, ours, theirs, cycles)
