# Which minimum of REML: additive models drawn at random on data sets of R's own packages, by mgcv and
# by pho, each with its own smoothing parameters.
#
#   Rscript benchmarks/minima.R PHO SEED FITS     (PHO: the program; needs mgcv, jsonlite)
#
# Prints each fit in which pho's choice has a worse REML than mgcv's, and how many are worse, better and equal
# (to 1e-6 relative). Both are measured by pho's REML: mgcv's leaves out directions of a penalty below
# 5e-11 of its largest, as that of cr has them on skewed columns. mgcv runs with tolerances tight enough that it goes on to its own optimum.
suppressPackageStartupMessages({library(mgcv); library(jsonlite)})
given <- commandArgs(TRUE)
pho <- given[1]; set.seed(as.integer(given[2])); fits <- as.integer(given[3])
control <- gam.control(epsilon = 1e-14, newton = list(conv.tol = 1e-11, maxNstep = 5, maxSstep = 2, maxHalf = 50, use.svd = FALSE))

# sets are the data frames with three numeric columns of 12 values or more, complete rows, 1,500 at most.
packages <- Filter(function(p) requireNamespace(p, quietly = TRUE),
                   c("datasets", "MASS", "boot", "nlme", "survival", "cluster", "rpart", "lattice"))
sets <- list()
for (package in packages) for (name in unique(sub(" .*", "", data(package = package)$results[, "Item"]))) {
  there <- new.env()
  suppressWarnings(data(list = name, package = package, envir = there))
  if (!exists(name, there, inherits = package == "datasets")) next
  d <- get(name, there)
  if (!is.data.frame(d)) next
  d <- as.data.frame(d)
  number <- names(d)[sapply(d, function(v) is.numeric(v) && !inherits(v, "Surv") && length(unique(na.omit(v))) >= 12)]
  factor <- names(d)[sapply(d, function(v) (is.factor(v) || is.character(v)) && length(unique(v)) %in% 3:20)]
  number <- grep("^[A-Za-z.][A-Za-z0-9._]*$", number, value = TRUE)
  if (length(number) < 3) next
  d <- na.omit(d[, c(number, factor)])
  if (nrow(d) < 40) next
  sets[[paste(package, name)]] <- list(rows = head(d, 1500), number = number, factor = factor)
}

# term is one of a number: a smooth, or a random effect with it.
term <- function(d, x, factors) {
  if (length(factors) > 0 && runif(1) < 0.25)
    return(sprintf(sample(c('s(%2$s, %1$s, bs="re")', 's(%1$s, bs="re")'), 1), sample(factors, 1), x))
  bs <- sample(c("tp", "cr", "ps"), 1)
  k <- min(sample(c(6, 10, 15, 20), 1), length(unique(d[[x]])) - 1)
  sprintf('s(%s, bs="%s", k=%d)', x, bs, k)
}

# score is pho's REML of a formula for the rows at hand.
dir <- tempfile("minima"); dir.create(dir)
score <- function(formula) {
  status <- system2(pho, c("decompose", "--predictions y_ --link identity --terms fitted --bands none --interactions none --contributions none",
    "--data", file.path(dir, "rows.csv"), "--formula", shQuote(formula), "--out", file.path(dir, "out")), stdout = FALSE, stderr = FALSE)
  if (status != 0) stop("pho refuses ", formula)
  read_json(file.path(dir, "out", "decomposition.json"))$predictors[[1]]$score
}

said <- c(worse = 0, better = 0, equal = 0)
while (sum(said) < fits) {
  name <- sample(names(sets), 1); s <- sets[[name]]; d <- s$rows
  columns <- sample(s$number)
  for (f in s$factor) d[[f]] <- factor(paste0("l", as.integer(factor(d[[f]]))))
  d$y_ <- d[[columns[1]]]
  if (all(d$y_ > 0) && runif(1) < 0.4) d$y_ <- log(d$y_)
  d$y_ <- d$y_ / sd(d$y_)
  x <- columns[-1][seq_len(min(sample(4, 1), length(columns) - 1))]
  formula <- paste("~", paste(unique(sapply(x, function(v) term(d, v, s$factor))), collapse = " + "))
  theirs <- try(suppressWarnings(gam(as.formula(paste("y_", formula)), data = d, method = "REML", control = control)), silent = TRUE)
  if (inherits(theirs, "try-error") || theirs$sig2 < 1e-10) next
  options(digits = 17)
  write.csv(d, file.path(dir, "rows.csv"), row.names = FALSE)
  ours <- score(formula)
  known <- strsplit(formula, ") + ", fixed = TRUE)[[1]]
  known <- paste0(sub(")$", "", known), sprintf(", sp=%.17g)", theirs$sp))
  at <- score(paste(known, collapse = " + "))
  near <- 1e-6 * (1 + abs(at))
  how <- if (ours > at + near) "worse" else if (ours < at - near) "better" else "equal"
  said[how] <- said[how] + 1
  if (how == "worse") cat(sprintf("%s: %s: %.8g, at mgcv's smoothing parameters %.8g\n", name, formula, ours, at))
}
unlink(dir, recursive = TRUE)
cat(sprintf("%d fits on %d data sets: %s\n", fits, length(sets), paste(said, names(said), collapse = ", ")))
